#include "ui/gl/shader.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include "ui/embedded.hpp"

namespace lensd::ui {
namespace {

std::string source_of(const std::string& file) {
  if (const char* folder = std::getenv("LENSD_SHADER_DIR")) {
    std::ifstream in(std::string(folder) + "/" + file, std::ios::binary);
    if (!in)
      throw Error(ExitCode::runtime_failure, file, "cannot be read", "LENSD_SHADER_DIR names its folder");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  const auto bytes = embedded(file);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

GLuint compile(GLenum stage, const std::string& file) {
  const std::string source = source_of(file);
  const char* text = source.c_str();
  const GLuint shader = glCreateShader(stage);
  glShaderSource(shader, 1, &text, nullptr);
  glCompileShader(shader);
  GLint good = 0, length = 0;
  glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
  if (good) return shader;
  glGetShaderiv(shader, GL_INFO_LOG_LENGTH, &length);
  std::string log(static_cast<size_t>(length) + 1, '\0');
  glGetShaderInfoLog(shader, length + 1, nullptr, log.data());
  glDeleteShader(shader);
  throw Error(ExitCode::runtime_failure, file, std::string("does not compile: ") + log.c_str());
}

}  // namespace

Program::Program(const std::string& vertex_file, const std::string& fragment_file) {
  const GLuint vertex = compile(GL_VERTEX_SHADER, vertex_file);
  GLuint fragment = 0;
  try {
    fragment = compile(GL_FRAGMENT_SHADER, fragment_file);
  } catch (...) {
    glDeleteShader(vertex);
    throw;
  }
  id_ = glCreateProgram();
  glAttachShader(id_, vertex);
  glAttachShader(id_, fragment);
  glLinkProgram(id_);
  glDeleteShader(vertex);
  glDeleteShader(fragment);
  GLint good = 0;
  glGetProgramiv(id_, GL_LINK_STATUS, &good);
  if (good) return;
  char log[1024] = {};
  glGetProgramInfoLog(id_, sizeof log, nullptr, log);
  glDeleteProgram(id_);
  throw Error(ExitCode::runtime_failure, fragment_file, std::string("does not link: ") + log);
}

Program::~Program() {
  glDeleteProgram(id_);
}

}  // namespace lensd::ui

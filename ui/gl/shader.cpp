#include "ui/gl/shader.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>

#include "ui/embedded.hpp"

namespace lensd::ui {
namespace {

std::string source_of(const std::string& file) {
  if (const char* folder = std::getenv("LENSD_SHADER_DIR")) {
    std::ifstream in(std::string(folder) + "/" + file, std::ios::binary);
    if (!in)
      throw Error(ExitCode::runtime_failure, file, "cannot be read", "check the folder in LENSD_SHADER_DIR");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  const auto bytes = embedded(file);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Shader {
  Shader(GLenum stage, const std::string& file) : id(glCreateShader(stage)) {
    const std::string source = source_of(file);
    const char* text = source.c_str();
    glShaderSource(id, 1, &text, nullptr);
    glCompileShader(id);
    GLint good = 0;
    glGetShaderiv(id, GL_COMPILE_STATUS, &good);
    if (good) return;
    char log[4096] = {};
    glGetShaderInfoLog(id, sizeof log, nullptr, log);
    glDeleteShader(id);
    throw Error(ExitCode::runtime_failure, file, std::string("does not compile: ") + log);
  }
  ~Shader() { glDeleteShader(id); }
  Shader(const Shader&) = delete;
  Shader& operator=(const Shader&) = delete;

  const GLuint id;
};

}  // namespace

Program::Program(const std::string& vertex_file, const std::string& fragment_file, const std::string& part) {
  const Shader vertex(GL_VERTEX_SHADER, vertex_file), fragment(GL_FRAGMENT_SHADER, fragment_file);
  id_ = glCreateProgram();
  glAttachShader(id_, vertex.id);
  glAttachShader(id_, fragment.id);
  std::optional<Shader> more;
  if (!part.empty()) glAttachShader(id_, more.emplace(GL_FRAGMENT_SHADER, part).id);
  glLinkProgram(id_);
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

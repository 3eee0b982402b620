// GLSL programs, embedded in the binary. For development they are read from the folder LENSD_SHADER_DIR.
#pragma once

#include "ui/gl/gl.hpp"

namespace lensd::ui {

/// A linked program. Call from the thread of its GL context only.
class Program {
 public:
  /// Compiles and links two files of shaders/. Throws Error(runtime_failure) with the driver's log.
  Program(const std::string& vertex_file, const std::string& fragment_file);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  GLuint id() const noexcept { return id_; }
  GLint uniform(const char* name) const { return glGetUniformLocation(id_, name); }

 private:
  GLuint id_ = 0;
};

}  // namespace lensd::ui

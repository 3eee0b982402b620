// GLSL programs. Their sources are embedded in the binary. For development, the environment variable
// LENSD_SHADER_DIR names a folder to read them from.
#pragma once

#include "ui/gl/gl.hpp"

namespace lensd::ui {

/// A linked program. Call from the thread of its GL context only.
class Program {
 public:
  /// Compiles and links files of shaders/. `part`: file with functions for the fragment shader; empty: none.
  /// Throws Error(runtime_failure) if a file cannot be read, or with the driver's log if compiling or linking
  /// fails.
  Program(const std::string& vertex_file, const std::string& fragment_file, const std::string& part = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  GLuint id() const noexcept { return id_; }
  GLint uniform(const char* name) const { return glGetUniformLocation(id_, name); }

 private:
  GLuint id_ = 0;
};

}  // namespace lensd::ui

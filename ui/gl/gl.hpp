// Move-only handles of GL objects, and error checks. Included in ui/gl only.
//
// Use a handle only on the thread of its GL context. The context must outlive the handle.
#pragma once

#include <GL/glew.h>

#include <string>
#include <utility>

#include "core/base/error.hpp"

namespace lensd::ui::gl {

/// Owns a GL object. `make` and `destroy` are GL's functions for that kind of object.
template <auto& make, auto& destroy>
class Handle {
 public:
  Handle() { make(1, &id_); }
  ~Handle() {
    if (id_) destroy(1, &id_);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, 0)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  GLuint id() const noexcept { return id_; }

 private:
  GLuint id_ = 0;
};

using Texture = Handle<glGenTextures, glDeleteTextures>;
using Buffer = Handle<glGenBuffers, glDeleteBuffers>;
using VertexArray = Handle<glGenVertexArrays, glDeleteVertexArrays>;
using Sampler = Handle<glGenSamplers, glDeleteSamplers>;
using Query = Handle<glGenQueries, glDeleteQueries>;

/// Throws Error(runtime_failure) if a GL error is pending. Use for set-up only.
inline void check(const char* doing) {
  const GLenum error = glGetError();
  if (error == GL_NO_ERROR) return;
  while (glGetError() != GL_NO_ERROR) {
  }
  throw Error(ExitCode::runtime_failure, "display",
              std::string(doing) + ": GL error " + std::to_string(error));
}

}  // namespace lensd::ui::gl

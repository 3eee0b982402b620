// GL objects as move-only handles, and errors with the place of the call. Included by ui/*.cpp only.
//
// A handle belongs to the thread that has the context; the context must outlive it.
#pragma once

#include <GL/glew.h>

#include <string>
#include <utility>

#include "core/base/error.hpp"

namespace lensd::ui::gl {

/// `Api` makes and deletes one name.
template <class Api>
class Handle {
 public:
  Handle() { Api::make(&id_); }
  ~Handle() {
    if (id_) Api::destroy(&id_);
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

struct TextureApi {
  static void make(GLuint* id) { glGenTextures(1, id); }
  static void destroy(GLuint* id) { glDeleteTextures(1, id); }
};
struct BufferApi {
  static void make(GLuint* id) { glGenBuffers(1, id); }
  static void destroy(GLuint* id) { glDeleteBuffers(1, id); }
};
struct VertexArrayApi {
  static void make(GLuint* id) { glGenVertexArrays(1, id); }
  static void destroy(GLuint* id) { glDeleteVertexArrays(1, id); }
};
struct SamplerApi {
  static void make(GLuint* id) { glGenSamplers(1, id); }
  static void destroy(GLuint* id) { glDeleteSamplers(1, id); }
};
struct QueryApi {
  static void make(GLuint* id) { glGenQueries(1, id); }
  static void destroy(GLuint* id) { glDeleteQueries(1, id); }
};

using Texture = Handle<TextureApi>;
using Buffer = Handle<BufferApi>;
using VertexArray = Handle<VertexArrayApi>;
using Sampler = Handle<SamplerApi>;
using Query = Handle<QueryApi>;

/// For set-up: throws Error(runtime_failure) when GL has an error pending.
inline void check(const char* doing) {
  const GLenum error = glGetError();
  if (error == GL_NO_ERROR) return;
  while (glGetError() != GL_NO_ERROR) {
  }
  throw Error(ExitCode::runtime_failure, "display",
              std::string(doing) + ": GL error " + std::to_string(error));
}

}  // namespace lensd::ui::gl

// A library for LD_PRELOAD: calls that access files below $LENSD_DEAD_FOLDER never return, like those on a
// network folder whose server is gone. If $LENSD_DEAD_WHEN is set, only while a file of this name exists;
// then writes to open files of the folder do not return either.

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

void block_if_dead(const char* path) {
  static const char* const folder = std::getenv("LENSD_DEAD_FOLDER");
  static const char* const when = std::getenv("LENSD_DEAD_WHEN");
  if (!folder || std::strncmp(path, folder, std::strlen(folder)) != 0) return;
  if (when && syscall(SYS_access, when, F_OK) != 0) return;
  for (;;) pause();
}

void block_if_dead(int file) {
  static const bool enabled = std::getenv("LENSD_DEAD_WHEN") != nullptr;
  if (!enabled) return;
  char name[64], path[4096];
  std::snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  const ssize_t size = readlink(name, path, sizeof path - 1);
  if (size <= 0) return;
  path[size] = '\0';
  block_if_dead(path);
}

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

mode_t mode_of(int flags, va_list more) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? static_cast<mode_t>(va_arg(more, unsigned)) : 0;
}

}  // namespace

extern "C" {

int stat(const char* path, struct stat* status) noexcept {
  block_if_dead(path);
  return real<int(const char*, struct stat*)>("stat")(path, status);
}

int lstat(const char* path, struct stat* status) noexcept {
  block_if_dead(path);
  return real<int(const char*, struct stat*)>("lstat")(path, status);
}

int access(const char* path, int mode) noexcept {
  block_if_dead(path);
  return real<int(const char*, int)>("access")(path, mode);
}

DIR* opendir(const char* path) {
  block_if_dead(path);
  return real<DIR*(const char*)>("opendir")(path);
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  block_if_dead(path);
  return real<int(const char*, int, ...)>("open")(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  block_if_dead(path);
  return real<int(int, const char*, int, ...)>("openat")(folder, path, flags, mode);
}

ssize_t write(int file, const void* bytes, size_t size) {
  block_if_dead(file);
  return real<ssize_t(int, const void*, size_t)>("write")(file, bytes, size);
}

int fdatasync(int file) {
  block_if_dead(file);
  return real<int(int)>("fdatasync")(file);
}

int fsync(int file) {
  block_if_dead(file);
  return real<int(int)>("fsync")(file);
}

}  // extern "C"

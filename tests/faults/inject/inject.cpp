// A library for LD_PRELOAD that makes the Nth call of one function fail, as if a resource were exhausted.
//
//   LENSD_INJECT=write:3     the third call fails; write:3+ makes all from the third on fail
//   LENSD_INJECT_COUNTS=FILE the calls of every function, as 64-bit integers in the order of functions.inc,
//                            followed by the number of injected failures
//   LENSD_INJECT_TRACE=1     a backtrace of each failed call on standard error
//   LENSD_INJECT_CLOCK=FILE  the wall clock is ahead by the seconds in the file's first 64-bit integer
//
// Calls are counted from the start of main() on, in all threads and libraries; FFmpeg's only if the program
// calls them. read() and write() are counted only for regular files, because the calls that wake threads
// never fail.

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace {

using Word = long;
using Real = Word (*)(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word);

enum Index {
#define INJECTED(name, failure, error) k_##name,
#define INJECTED_MEMORY INJECTED
#define INJECTED_FFMPEG INJECTED
#include "functions.inc"
#undef INJECTED
#undef INJECTED_MEMORY
#undef INJECTED_FFMPEG
  kFunctions
};

constexpr const char* kNames[] = {
#define INJECTED(name, failure, error) #name,
#define INJECTED_MEMORY INJECTED
#define INJECTED_FFMPEG INJECTED
#include "functions.inc"
#undef INJECTED
#undef INJECTED_MEMORY
#undef INJECTED_FFMPEG
};

bool g_armed = false, g_trace = false;
uintptr_t g_program_begin = 0, g_program_end = 0;
int g_function = -1;
int64_t g_first = 0;
bool g_all_later = false;
int64_t g_own[kFunctions + 1] = {};
int64_t* g_counts = g_own;
const volatile int64_t* g_clock = nullptr;

int64_t* map_file(const char* path, size_t bytes, bool write) {
  const int fd = static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, write ? O_RDWR : O_RDONLY));
  if (fd < 0) abort();
  void* const address = mmap64(nullptr, bytes, write ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  if (address == MAP_FAILED) abort();
  return static_cast<int64_t*>(address);
}

void find_program() {
  const auto first = [](dl_phdr_info* info, size_t, void*) {
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto& part = info->dlpi_phdr[i];
      if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
      g_program_begin = info->dlpi_addr + part.p_vaddr;
      g_program_end = g_program_begin + part.p_memsz;
    }
    return 1;  // the first object is the program
  };
  dl_iterate_phdr(first, nullptr);
}

void arm() {
  find_program();
  g_trace = getenv("LENSD_INJECT_TRACE") != nullptr;
  if (const char* path = getenv("LENSD_INJECT_COUNTS")) g_counts = map_file(path, sizeof g_own, true);
  if (const char* path = getenv("LENSD_INJECT_CLOCK")) g_clock = map_file(path, sizeof(int64_t), false);
  if (const char* what = getenv("LENSD_INJECT")) {
    const char* const colon = strchr(what, ':');
    if (!colon) abort();
    for (int i = 0; i < kFunctions; ++i)
      if (strlen(kNames[i]) == static_cast<size_t>(colon - what) &&
          strncmp(kNames[i], what, colon - what) == 0)
        g_function = i;
    if (g_function < 0) abort();
    g_first = atoll(colon + 1);
    g_all_later = what[strlen(what) - 1] == '+';
  }
  g_armed = true;
}

/// Counts a call; returns true if it must fail.
bool fails(int function) {
  if (!g_armed) return false;
  const int64_t number = __atomic_add_fetch(&g_counts[function], 1, __ATOMIC_RELAXED);
  if (function != g_function || (g_all_later ? number < g_first : number != g_first)) return false;
  __atomic_add_fetch(&g_counts[kFunctions], 1, __ATOMIC_RELAXED);
  if (g_trace) {
    g_armed = false;
    void* calls[40];
    backtrace_symbols_fd(calls, backtrace(calls, 40), STDERR_FILENO);
    g_armed = true;
  }
  return true;
}

/// Returns true if the address is in the program, not in a library.
bool from_program(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  return at >= g_program_begin && at < g_program_end;
}

bool regular_file(Word fd) {
  const int before = errno;
  struct stat64 info;
  const bool regular = fstat64(static_cast<int>(fd), &info) == 0 && S_ISREG(info.st_mode);
  errno = before;
  return regular;
}

Real find(const char* name) {
  return reinterpret_cast<Real>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// Arguments are passed on as machine words, because no listed function takes floating-point numbers or
// structs.
#define INJECTED_IF(condition, name, failure, error)                                                     \
  extern "C" __attribute__((visibility("default")))                                                      \
  Word injected_##name(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word) __asm__(#name);       \
  Word injected_##name(Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h, Word i, Word j) { \
    static const Real real = find(#name);                                                                \
    if (g_armed && (condition) && fails(k_##name)) {                                                     \
      errno = error;                                                                                     \
      return static_cast<Word>(failure);                                                                 \
    }                                                                                                    \
    return real(a, b, c, d, e, f, g, h, i, j);                                                           \
  }
#define INJECTED(name, failure, error) \
  INJECTED_IF((k_##name != k_read && k_##name != k_write) || regular_file(a), name, failure, error)
#define INJECTED_FFMPEG(name, failure, error) \
  INJECTED_IF(from_program(__builtin_return_address(0)), name, failure, error)
#define INJECTED_MEMORY(name, failure, error)
#include "functions.inc"

// dlsym() allocates memory, so the replaced allocation functions call glibc's internal ones instead.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

__attribute__((visibility("default"))) void* malloc(size_t bytes) {
  if (!fails(k_malloc)) return __libc_malloc(bytes);
  errno = ENOMEM;
  return nullptr;
}
__attribute__((visibility("default"))) void* calloc(size_t count, size_t bytes) {
  if (!fails(k_calloc)) return __libc_calloc(count, bytes);
  errno = ENOMEM;
  return nullptr;
}
__attribute__((visibility("default"))) void* realloc(void* old, size_t bytes) {
  if (!fails(k_realloc)) return __libc_realloc(old, bytes);
  errno = ENOMEM;
  return nullptr;
}
__attribute__((visibility("default"))) int posix_memalign(void** out, size_t alignment, size_t bytes) {
  *out = fails(k_posix_memalign) ? nullptr : __libc_memalign(alignment, bytes);
  return *out || bytes == 0 ? 0 : ENOMEM;
}
__attribute__((visibility("default"))) void* aligned_alloc(size_t alignment, size_t bytes) {
  return fails(k_aligned_alloc) ? nullptr : __libc_memalign(alignment, bytes);
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, timespec* out) noexcept {
  static const auto real = reinterpret_cast<int (*)(clockid_t, timespec*)>(dlsym(RTLD_NEXT, "clock_gettime"));
  const int result = real(clock, out);
  if (result == 0 && clock == CLOCK_REALTIME && g_clock) out->tv_sec += *g_clock;
  return result;
}
__attribute__((visibility("default"))) int gettimeofday(timeval* out, void* zone) noexcept {
  static const auto real = reinterpret_cast<int (*)(timeval*, void*)>(dlsym(RTLD_NEXT, "gettimeofday"));
  const int result = real(out, zone);
  if (result == 0 && g_clock) out->tv_sec += *g_clock;
  return result;
}
__attribute__((visibility("default"))) time_t time(time_t* out) noexcept {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}

__attribute__((visibility("default"))) int __libc_start_main(int (*main)(int, char**, char**), int argc,
                                                             char** argv, void (*init)(), void (*fini)(),
                                                             void (*end)(), void* stack) {
  using Start = int (*)(int (*)(int, char**, char**), int, char**, void (*)(), void (*)(), void (*)(), void*);
  static int (*program)(int, char**, char**);
  program = main;
  const auto armed_main = [](int count, char** words, char** environment) {
    arm();
    return program(count, words, environment);
  };
  return reinterpret_cast<Start>(dlsym(RTLD_NEXT, "__libc_start_main"))(armed_main, argc, argv, init, fini,
                                                                        end, stack);
}
}

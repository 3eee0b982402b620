#include "app/viewer/display/picture_clipboard.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>

#include "core/base/error.hpp"
#include "core/base/folders.hpp"
#include "core/media/recorder.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kMaxWait = 5s;

struct Tool {
  const char* const* arguments;
  const char* package;
};
constexpr const char* kWlCopy[] = {"wl-copy", "--type", "image/png", nullptr};
constexpr const char* kXclip[] = {"xclip", "-selection", "clipboard", "-t", "image/png", "-i", nullptr};

Tool clipboard_tool() {
  const char* wayland = std::getenv("WAYLAND_DISPLAY");
  return wayland && *wayland ? Tool{kWlCopy, "wl-clipboard"} : Tool{kXclip, "xclip"};
}

/// Temporary folder for one file. Only this user can access it. The destructor removes it with its contents.
class PrivateFolder {
 public:
  PrivateFolder() {
    const std::string runtime = folder_in("XDG_RUNTIME_DIR");
    std::string name = (runtime.empty() ? "/tmp" : runtime) + "/lensd-copy.XXXXXX";
    if (!mkdtemp(name.data()))
      throw Error(ExitCode::runtime_failure, name,
                  fmt::format("cannot be created: {}", std::strerror(errno)));
    path_ = name;
  }
  ~PrivateFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

/// Waits for a child process and kills it after kMaxWait. Returns its exit code, or nullopt if a signal ended
/// it.
std::optional<int> exit_code(pid_t child) {
  int status = 0;
  for (std::chrono::milliseconds left = kMaxWait; left > 0s; left -= 10ms) {
    if (waitpid(child, &status, WNOHANG) == child)
      return WIFEXITED(status) ? std::optional(WEXITSTATUS(status)) : std::nullopt;
    std::this_thread::sleep_for(10ms);
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return std::nullopt;
}

/// Runs the tool with the file as its standard input. Throws Error(unavailable) if it is not installed,
/// Error(runtime_failure) if it fails.
void run(const Tool& tool, const std::string& file) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, file.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, tool.arguments[0], &actions, nullptr,
                                  const_cast<char* const*>(tool.arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  const std::optional<int> code = failed ? std::nullopt : exit_code(child);
  if (failed == ENOENT || code == 127)
    throw Error(ExitCode::unavailable, tool.arguments[0], "is not installed",
                fmt::format("install the package {}", tool.package));
  if (code != 0)
    throw Error(ExitCode::runtime_failure, tool.arguments[0],
                failed ? std::strerror(failed)
                : code ? fmt::format("failed with exit code {}", *code)
                       : std::string("was killed or did not end within 5 s"));
}

}  // namespace

Notice copy_picture(const Image& image, PixelAspect aspect) {
  try {
    const PrivateFolder folder;
    const std::string file = folder.file("picture.png");
    const ConstImageRef ref{image.pixels.data(), static_cast<std::ptrdiff_t>(image.format.row_bytes()),
                            image.format};
    write_image(file, ref, aspect);
    run(clipboard_tool(), file);
    return {false, fmt::format("Copied the picture, {}×{}", image.width(), image.height())};
  } catch (const std::exception& e) {
    return {true, std::string("cannot copy the picture: ") + e.what()};
  }
}

}  // namespace lensd

#include "core/base/folders.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "core/base/contains.hpp"
#include "core/base/text/text.hpp"
#include "core/base/unique_fd.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;

std::string home_folder(const char* variable, const char* below_home) {
  if (const std::string given = folder_in(variable); !given.empty()) return given + "/lensd";
  const std::string home = folder_in("HOME");
  return home.empty() ? "" : home + below_home + "/lensd";
}

}  // namespace

std::string folder_in(const char* variable) {
  const char* value = std::getenv(variable);
  return value && value[0] == '/' ? value : "";
}

std::string config_folder() {
  return home_folder("XDG_CONFIG_HOME", "/.config");
}

std::string state_folder() {
  return home_folder("XDG_STATE_HOME", "/.local/state");
}

std::string run_state_folder() {
  if (const std::string folders = folder_in("STATE_DIRECTORY"); !folders.empty())
    return folders.substr(0, folders.find(':'));
  return state_folder();
}

std::string private_tmp_folder() {
  return fmt::format("/tmp/lensd-{}", geteuid());
}

bool make_private_folder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0) return true;
  if (errno != EEXIST) return false;
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info = {};
  const bool ours = fd && fstat(fd.get(), &info) == 0 && info.st_uid == geteuid();
  if (ours && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0) return true;
  errno = EPERM;
  return false;
}

std::vector<std::string> example_folders() {
  std::error_code error;
  std::vector<fs::path> candidates;
  if (const fs::path program = fs::read_symlink("/proc/self/exe", error); !error) {
    const fs::path folder = program.parent_path();
    candidates.push_back(folder.parent_path() / "share" / "lensd");
    candidates.push_back(folder.parent_path() / "config");  // build/lensd in a source tree
  }
  std::string data = "/usr/local/share:/usr/share";
  if (const char* given = std::getenv("XDG_DATA_DIRS"); given && *given) data = given;
  for (const std::string& folder : split(data, ":"))
    if (folder.front() == '/') candidates.push_back(fs::path(folder) / "lensd");
  std::vector<std::string> found;
  for (const fs::path& candidate : candidates) {
    // Another program may own a folder of this name. lensd's folder contains graphs/.
    if (!fs::is_directory(candidate / "graphs", error)) continue;
    const std::string real = fs::canonical(candidate, error).string();
    if (!real.empty() && !contains(found, real)) found.push_back(real);
  }
  return found;
}

}  // namespace lensd

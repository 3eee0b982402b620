#include "core/media/camera/camera_user.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <mutex>

#include "core/base/clock.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kUserIntervalNs = 2'000'000'000;

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

bool has_open(const fs::path& process, const fs::path& device) {
  std::error_code problem, ignored;
  // The iteration fails if the process ends during it.
  for (fs::directory_iterator i(process / "fd", problem), end; !problem && i != end; i.increment(problem))
    if (fs::read_symlink(i->path(), ignored) == device) return true;
  return false;
}

}  // namespace

std::string find_camera_user(const std::string& path, const std::string& proc) {
  std::error_code problem;
  const fs::path device = fs::canonical(path, problem);
  if (problem) return {};
  const std::string own = std::to_string(getpid());
  for (fs::directory_iterator i(proc, problem), end; !problem && i != end; i.increment(problem)) {
    const std::string number = i->path().filename().string();
    if (!is_number(number) || number == own || !has_open(i->path(), device)) continue;
    std::string name;
    std::getline(std::ifstream(i->path() / "comm"), name);
    return fmt::format(" ({}, process {})", name, number);
  }
  return {};
}

std::string camera_user(const std::string& path) {
  static std::mutex mutex;
  static std::string known_path, known_user;
  static int64_t known_ns = 0;
  const std::lock_guard lock(mutex);
  if (path == known_path && now_ns() - known_ns < kUserIntervalNs) return known_user;
  known_user = find_camera_user(path);
  known_path = path, known_ns = now_ns();
  return known_user;
}

}  // namespace lensd

#include "app/state_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>

#include "core/base/clock.hpp"
#include "core/base/log.hpp"
#include "core/base/whole_file.hpp"

namespace lensd {
namespace {

constexpr int64_t kLockNs = 100'000'000;

}  // namespace

std::optional<toml::table> read_state_file(const std::string& path, size_t most_bytes) {
  const std::optional<std::string> text = read_whole_file(path, most_bytes);
  if (!text) return std::nullopt;
  toml::parse_result parsed = parse_toml(*text, path);
  if (parsed) return std::move(parsed).table();
  keep_damaged(path, fmt::format("cannot use {}: {}", path, parsed.error().description()));
  return std::nullopt;
}

void keep_damaged(const std::string& path, const std::string& problem) {
  const std::string kept = path + ".broken";
  std::error_code error;
  std::filesystem::copy_file(path, kept, std::filesystem::copy_options::overwrite_existing, error);
  log::warn("{}{}", problem, error ? "" : fmt::format(" (a copy is in {})", kept));
}

StateLock::StateLock(const std::string& path) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  fd_ = UniqueFd(open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!fd_) return;
  const int64_t end_ns = now_ns() + kLockNs;
  while (flock(fd_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK && now_ns() < end_ns)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace lensd

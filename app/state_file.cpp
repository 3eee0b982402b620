#include "app/state_file.hpp"

#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/lock_file.hpp"
#include "core/base/log.hpp"
#include "core/base/whole_file.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kLockNs = 100'000'000;
/// Maximum size of a damaged file that is copied. The copy of a larger one might fill the disk.
constexpr size_t kMaxStateBytes = 16 << 20;

/// Returns nullopt if the file is missing, cannot be read or is larger than kMaxStateBytes.
std::optional<std::string> text_of(const std::string& path) {
  try {
    return read_whole_file(path, kMaxStateBytes, FileKind::regular);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<toml::table> read_state_file(const std::string& path, size_t most_bytes) {
  std::error_code error;
  if (const auto bytes = fs::file_size(path, error); !error && bytes > most_bytes) {
    keep_damaged(path, fmt::format("cannot use {}: larger than {} bytes", path, most_bytes));
    return std::nullopt;
  }
  const std::optional<std::string> text = read_whole_file(path, most_bytes);
  if (!text) return std::nullopt;
  toml::parse_result parsed = parse_toml(*text, path);
  if (parsed) return std::move(parsed).table();
  keep_damaged(path, fmt::format("cannot use {}: {}", path, parsed.error().description()));
  return std::nullopt;
}

void keep_damaged(const std::string& path, const std::string& problem) {
  const std::string kept = path + ".broken";
  const std::optional<std::string> text = text_of(path);
  if (!text) return log::warn("{}", problem);
  if (text == text_of(kept)) return log::info("{} (a copy is in {})", problem, kept);
  std::error_code error;
  fs::copy_file(path, kept, fs::copy_options::overwrite_existing, error);
  log::warn("{}{}", problem, error ? "" : fmt::format(" (a copy is in {})", kept));
}

StateLock::StateLock(const std::string& path) {
  std::error_code ignored;
  fs::create_directories(fs::path(path).parent_path(), ignored);
  fd_ = open_lock_file(path + ".lock");
  if (!fd_) return;
  const int64_t end_ns = now_ns() + kLockNs;
  while (flock(fd_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK && now_ns() < end_ns)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace lensd

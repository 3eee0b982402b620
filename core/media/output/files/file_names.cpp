#include "core/media/output/files/file_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <utility>

#include "core/base/error.hpp"
#include "core/media/output/files/folders.hpp"

namespace lensd {
namespace {

/// Returns true if the path is a strftime template such as "/tmp/rec-%H%M%S.mkv": it has a '%' that is not
/// the last character.
bool is_name_template(const std::string& path) {
  const size_t at = path.find('%');
  return at != std::string::npos && at + 1 < path.size();
}

std::string with_suffix(const std::string& path, const std::string& suffix) {
  const std::filesystem::path file(path);
  return (file.parent_path() / (file.stem().string() + suffix + file.extension().string())).string();
}

/// Throws Error(usage) if the part of the path that changes with time has a control character. A line break
/// would split lines of journals, logs and scripts.
void check_characters(const std::string& path) {
  const std::string name = path_below(fixed_folder(path), path);
  const auto is_control = [](char c) { return static_cast<uint8_t>(c) < ' ' || c == '\x7f'; };
  if (std::ranges::any_of(name, is_control))
    throw Error(ExitCode::usage, "recording", "the file name has a control character", "choose another name");
}

}  // namespace

void check_name_template(const std::string& name) {
  check_characters(name);
  const auto refuse = [&](const std::string& why) {
    throw Error(ExitCode::usage, name, why, "for example: rec-%Y%m%d-%H%M%S.mkv");
  };
  if (std::filesystem::path(name).stem().empty()) refuse("this is not a file name");
  for (const auto& folder : std::filesystem::path(path_below(fixed_folder(name), name)))
    if (folder == "..") refuse("'..' cannot follow a folder with a date or time");
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '%') continue;
    constexpr std::string_view kKnown = "aAbBCdeFgGhHIjklmMpPrRsSTuUVwWyYzZ%";
    const std::string_view conversion = std::string_view(name).substr(i, 2);
    ++i;
    if (conversion.size() < 2 || kKnown.find(conversion[1]) == std::string_view::npos)
      refuse(fmt::format("'{}' is not a date or time conversion for file names", conversion));
  }
}

std::string fixed_folder(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::filesystem::path fixed = folder;
  if (is_name_template(path)) {
    fixed.clear();
    for (const auto& name : folder) {
      if (name.string().find('%') != std::string::npos) break;
      fixed /= name;
    }
  }
  return fixed.empty() ? "." : fixed.string();
}

FileNames::FileNames(std::string path, bool numbered, bool resumed)
    : path_(std::move(path)), numbered_(numbered), files_(resumed ? 1 : 0) {
  check_characters(path_);
}

void FileNames::begin(std::time_t when) {
  ++files_;
  attempt_ = 0;
  base_ = path_;
  if (!is_name_template(path_)) return;
  std::tm local = {};
  localtime_r(&when, &local);
  char text[4096];
  const size_t length = std::strftime(text, sizeof text, path_.c_str(), &local);
  if (length > 0) base_.assign(text, length);
  check_characters(base_);
}

std::string FileNames::next() {
  ++attempt_;
  const bool by_time = is_name_template(path_);
  exact_ = !by_time && !numbered_ && files_ == 1 && attempt_ == 1;
  if (exact_) return base_;
  if (by_time) return attempt_ == 1 ? base_ : with_suffix(base_, fmt::format("-{}", attempt_));
  if (!numbered_) return with_suffix(base_, fmt::format("-{}", files_ + attempt_ - 1));
  return with_suffix(base_, fmt::format("-{:03}", ++number_));
}

}  // namespace lensd

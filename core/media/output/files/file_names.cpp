#include "core/media/output/files/file_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/url_secrets.hpp"
#include "core/media/output/files/folders.hpp"
#include "core/media/url.hpp"

namespace lensd {
namespace {

/// Returns true if a supported strftime conversion begins at `at`. Others can expand to a slash or a line
/// break, or belong to names such as "100%.mkv" and "a%20b.mkv".
bool is_conversion(std::string_view path, size_t at) {
  constexpr std::string_view kKnown = "aAbBCdeFgGhHIjklmMpPrRsSTuUVwWyYzZ%";
  return path[at] == '%' && at + 1 < path.size() && kKnown.find(path[at + 1]) != std::string_view::npos;
}

/// Returns true if the path is a strftime template such as "/tmp/rec-%H%M%S.mkv".
bool is_name_template(std::string_view path) {
  for (size_t i = 0; i < path.size(); ++i)
    if (is_conversion(path, i)) return true;
  return false;
}

/// Returns the format for strftime: the path with every other '%' doubled.
std::string time_format(const std::string& path) {
  std::string format;
  for (size_t i = 0; i < path.size(); ++i) {
    format += path[i];
    if (path[i] == '%') format += is_conversion(path, i) ? path[++i] : '%';
  }
  return format;
}

/// Returns path-NUMBER. If `padded` is true, the number has at least three digits.
std::string numbered_name(const std::string& path, int number, bool padded) {
  const std::filesystem::path file(path);
  const std::string digits = padded ? fmt::format("{:03}", number) : fmt::format("{}", number);
  return (file.parent_path() /
          fmt::format("{}-{}{}", file.stem().string(), digits, file.extension().string()))
      .string();
}

/// Returns the highest number of the names path-NUMBER in the folder of `path`; 0 if there is none. Numbers
/// with more than kMaxDigits digits are dates, not numbers of files.
int highest_number(const std::string& path) {
  constexpr size_t kMaxDigits = 7;
  const std::filesystem::path file(path);
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  const std::string begin = file.stem().string() + "-", end = file.extension().string();
  int highest = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), last; !error && entry != last;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(begin) || !name.ends_with(end) || name.size() <= begin.size() + end.size())
      continue;
    const std::string digits = name.substr(begin.size(), name.size() - begin.size() - end.size());
    const bool number = digits.size() <= kMaxDigits &&
                        std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
    if (number) highest = std::max(highest, std::stoi(digits));
  }
  return highest;
}

/// Throws Error(usage) if the part of the path that changes with time has a control character. A line break
/// would split lines of journals, logs and scripts.
void check_characters(const std::string& path) {
  if (has_control_character(path_below(fixed_folder(path), path)))
    throw Error(ExitCode::usage, "recording", "the file name has a control character", "choose another name");
}

[[noreturn]] void refuse_name(const std::string& name, const std::string& why,
                              const char* hint = "for example: rec-%Y%m%d-%H%M%S.mkv") {
  throw Error(ExitCode::usage, url_without_secrets(name), why, hint);
}

}  // namespace

void check_name(const std::string& name) {
  check_characters(name);
  if (name.starts_with("file:")) refuse_name(name, "the path of a recording has no 'file:'");
  if (!scheme_of(name).empty())
    refuse_name(name, "this is an address, not a file", "-o and [output] url send to an address");
  if (std::filesystem::path(name).stem().empty()) refuse_name(name, "this is not a file name");
  for (const auto& folder : std::filesystem::path(path_below(fixed_folder(name), name)))
    if (folder == "..") refuse_name(name, "'..' cannot follow a folder with a date or time");
}

void check_name_template(const std::string& name) {
  check_name(name);
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '%') continue;
    if (!is_conversion(name, i))
      refuse_name(name,
                  fmt::format("'{}' is not a date or time conversion for file names",
                              std::string_view(name).substr(i, 2)),
                  "write %% for a percent sign, or a name such as rec-%Y%m%d-%H%M%S.mkv");
    ++i;
  }
}

std::string fixed_folder(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::filesystem::path fixed = folder;
  if (is_name_template(path)) {
    fixed.clear();
    for (const auto& name : folder) {
      if (is_name_template(name.string())) break;
      fixed /= name;
    }
  }
  return fixed.empty() ? "." : fixed.string();
}

FileNames::FileNames(std::string path, bool numbered, bool resumed, std::string beneath)
    : path_(std::move(path)),
      beneath_(std::move(beneath)),
      numbered_(numbered && !is_name_template(path_)),
      number_(numbered_ ? 0 : 1),
      plain_(!numbered_ && !resumed) {
  check_characters(path_);
}

void FileNames::begin(std::time_t when) {
  attempt_ = 0;
  if (!is_name_template(path_)) {
    base_ = path_;
    return;
  }
  std::tm local = {};
  localtime_r(&when, &local);
  char text[4096];
  const size_t length = std::strftime(text, sizeof text, time_format(path_).c_str(), &local);
  const std::string name = length > 0 ? std::string(text, length) : path_;
  if (name == base_) return;
  check_characters(name);
  base_ = name;
  number_ = 1, plain_ = true;
}

std::string FileNames::next() {
  ++attempt_;
  exact_ = plain_ && !is_name_template(path_);
  if (std::exchange(plain_, false)) return base_;
  if (attempt_ == 2) skip_used();
  return numbered_name(base_, ++number_, numbered_);
}

void FileNames::continue_numbers() {
  if (numbered_) skip_used();
}

void FileNames::skip_used() {
  const std::string& name = base_.empty() ? path_ : base_;
  number_ = std::max(number_, highest_number((std::filesystem::path(beneath_) / name).string()));
}

}  // namespace lensd

#include "core/media/media_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/base/contains.hpp"
#include "core/base/text/text.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 42> kVideos = {
    "mp4",  "mkv", "mov",  "avi", "webm", "m4v",  "ts",  "mts",  "m2ts", "m2t", "mpg",
    "mpeg", "wmv", "flv",  "ogv", "ogg",  "3gp",  "mxf", "vob",  "y4m",  "obu", "h264",
    "h265", "264", "hevc", "265", "mjpg", "nut",  "ivf", "asf",  "divx", "dv",  "f4v",
    "m1v",  "m2v", "mpv",  "qt",  "rm",   "rmvb", "gif", "apng", "mjpeg"};
constexpr std::array<std::string_view, 24> kImages = {
    "png", "jpg", "jpeg", "jfif", "jpe", "bmp", "tif", "tiff", "webp", "ppm", "pgm",  "pnm",
    "pbm", "pam", "pfm",  "exr",  "dpx", "jp2", "jxl", "qoi",  "sgi",  "pcx", "avif", "tga"};
/// Minimum number of images of a sequence; fewer are listed as single files. The first number is at most
/// kLastStart, because Input finds no other sequences.
constexpr size_t kFewestImages = 4;
constexpr int64_t kLastStart = 9999;

std::string ending(const std::string& name) {
  const size_t dot = name.rfind('.');
  return dot == std::string::npos || dot == 0 ? "" : lower_case(name.substr(dot + 1));
}

/// Returns a sort key in which runs of digits compare as numbers: "clip2" before "clip10". Before each run,
/// the key contains the run's length, encoded in digits, so that a run still sorts like a digit among other
/// characters.
std::string natural_key(const std::string& name) {
  std::string key;
  for (size_t i = 0; i < name.size();) {
    const size_t end = std::min(name.size(), name.find_first_not_of("0123456789", i));
    if (end == i) {
      key += name[i++];
      continue;
    }
    const size_t begin = std::min(end, name.find_first_not_of('0', i));
    key.append((end - begin) / 9, '9') += static_cast<char>('0' + (end - begin) % 9);
    key.append(name, begin, end - begin);
    i = end;
  }
  return key;
}

/// Sorts the entries. Computes each key once, because folders may have many entries.
void sort_entries(std::vector<FolderEntry>& entries) {
  std::vector<std::pair<std::tuple<int, std::string, std::string>, size_t>> order;
  for (size_t n = 0; n < entries.size(); ++n) {
    const FolderEntry::Kind kind = entries[n].kind;
    const int rank = kind == FolderEntry::Kind::folder ? 0 : kind == FolderEntry::Kind::other ? 2 : 1;
    order.emplace_back(std::tuple(rank, natural_key(lower_case(entries[n].name)), entries[n].name), n);
  }
  std::ranges::sort(order);
  std::vector<FolderEntry> sorted;
  for (const auto& [key, n] : order) sorted.push_back(std::move(entries[n]));
  entries = std::move(sorted);
}

/// A group of images whose names differ only in the last number.
struct Numbered {
  std::vector<int64_t> numbers;
  std::vector<size_t> entries;
  size_t narrowest = 100, widest = 0;
  bool padded = false;
};

/// Replaces each group of consecutively numbered images with one entry.
void gather_sequences(std::vector<FolderEntry>& entries, const std::string& folder) {
  if (folder.find('%') != std::string::npos) return;
  std::map<std::pair<std::string, std::string>, Numbered> groups;
  for (size_t n = 0; n < entries.size(); ++n) {
    const std::string& name = entries[n].name;
    if (entries[n].kind != FolderEntry::Kind::file || !contains(kImages, ending(name)) ||
        name.find('%') != std::string::npos)
      continue;
    const size_t dot = name.rfind('.');
    size_t begin = dot;
    while (begin > 0 && std::isdigit(static_cast<unsigned char>(name[begin - 1]))) --begin;
    const size_t width = dot - begin;
    if (width == 0 || width > 9) continue;
    Numbered& group = groups[{name.substr(0, begin), name.substr(dot)}];
    group.numbers.push_back(std::stoll(name.substr(begin, width)));
    group.entries.push_back(n);
    group.narrowest = std::min(group.narrowest, width), group.widest = std::max(group.widest, width);
    group.padded = group.padded || (width > 1 && name[begin] == '0');
  }
  std::vector<bool> gone(entries.size());
  std::vector<FolderEntry> sequences;
  for (auto& [names, group] : groups) {
    if (group.numbers.size() < kFewestImages) continue;
    if (group.padded && group.narrowest != group.widest) continue;
    const auto [first, last] = std::ranges::minmax_element(group.numbers);
    if (*first > kLastStart || *last - *first + 1 != static_cast<int64_t>(group.numbers.size())) continue;
    for (const size_t n : group.entries) gone[n] = true;
    const std::string number = group.padded ? fmt::format("%0{}d", group.widest) : "%d";
    sequences.push_back({FolderEntry::Kind::sequence, names.first + number + names.second, 0,
                         static_cast<int>(group.numbers.size())});
  }
  std::vector<FolderEntry> kept;
  for (size_t n = 0; n < entries.size(); ++n)
    if (!gone[n]) kept.push_back(std::move(entries[n]));
  kept.insert(kept.end(), sequences.begin(), sequences.end());
  entries = std::move(kept);
}

}  // namespace

bool named_like_media(const std::string& name) {
  const std::string end = ending(name);
  return contains(kVideos, end) || contains(kImages, end);
}

std::string plain_path(const std::string& path) {
  std::error_code error;
  const fs::path given = fs::absolute(path, error), normal = given.lexically_normal();
  if (std::find(given.begin(), given.end(), fs::path("..")) == given.end()) return normal.string();
  if (fs::equivalent(given, normal, error)) return normal.string();
  const fs::path real = fs::canonical(given, error);
  return (error ? normal : real).string();
}

FolderList list_media_folder(const std::string& folder, const std::string& part, size_t most,
                             FileSizes sizes) {
  FolderList list;
  list.asked = folder, list.part = part;
  std::error_code error;
  fs::path path = plain_path(folder.empty() ? "." : folder);
  if (!path.has_filename() && path.has_parent_path()) path = path.parent_path();  // "/a/" → "/a"
  list.folder = path.string();
  fs::directory_iterator entries(path, error);
  if (error) {
    list.problem = error == std::errc::permission_denied           ? "no permission to read this folder"
                   : error == std::errc::no_such_file_or_directory ? "there is no such folder"
                   : error == std::errc::not_a_directory           ? "this is not a folder"
                                                                   : error.message();
    return list;
  }
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    FolderEntry entry;
    entry.name = entries->path().filename().string();
    if (entry.name.starts_with('.')) continue;
    std::error_code ignored;
    const fs::file_status status = entries->status(ignored);
    if (fs::is_directory(status))
      entry.kind = FolderEntry::Kind::folder;
    else if (fs::is_regular_file(status))
      entry.kind = named_like_media(entry.name) ? FolderEntry::Kind::file : FolderEntry::Kind::other;
    else
      continue;
    list.entries.push_back(std::move(entry));
  }
  gather_sequences(list.entries, list.folder);
  if (const std::string low = lower_case(part); !low.empty())
    std::erase_if(list.entries, [&](const FolderEntry& entry) {
      return lower_case(entry.name).find(low) == std::string::npos;
    });
  sort_entries(list.entries);
  list.cut = error || list.entries.size() > most;
  if (list.entries.size() > most) list.entries.resize(most);
  if (sizes == FileSizes::omit) return list;
  for (FolderEntry& entry : list.entries) {
    if (entry.kind != FolderEntry::Kind::file && entry.kind != FolderEntry::Kind::other) continue;
    const auto bytes = fs::file_size(path / entry.name, error);
    entry.bytes = error ? 0 : static_cast<int64_t>(bytes);
  }
  return list;
}

}  // namespace lensd

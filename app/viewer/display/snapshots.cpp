#include "app/viewer/display/snapshots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <utility>

#include "app/viewer/display/picture_clipboard.hpp"
#include "core/base/contains.hpp"
#include "core/base/error.hpp"
#include "core/base/folders.hpp"
#include "core/base/text/text.hpp"
#include "core/media/recorder.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;

/// Maximum size of a part of an expanded path. File systems allow 255 bytes; a number such as "-12" may
/// follow.
constexpr size_t kMaxPartBytes = 240;

/// Returns the time without colons, which Windows, FAT disks and `rsync` targets do not accept in file names.
std::string clock(int64_t ns, bool milliseconds) {
  const int64_t ms = ns / 1'000'000, s = ms / 1000;
  std::string text = fmt::format("{:02}-{:02}-{:02}", s / 3600, s / 60 % 60, s % 60);
  if (milliseconds) text += fmt::format(".{:03}", ms % 1000);
  return text;
}

/// Returns the source's name for a file name: without the extension, and with '-' instead of ':'. Also
/// replaces the '%' of "%n", which unused_path() would replace with a number.
std::string file_name_of(const std::string& source) {
  std::string name = fs::path(source).stem().string();
  std::ranges::replace(name, ':', '-');
  for (size_t at = 0; (at = name.find("%n", at)) != std::string::npos;) name[at] = '-';
  return name;
}

std::string local_time(char sign) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[128];
  const char format[] = {'%', sign, '\0'};
  const size_t length = std::strftime(text, sizeof text, format, &parts);
  return {text, length};
}

/// Expands the % sequences of a template; `name` replaces %F.
std::string expanded(const std::string& text, const std::string& name, int64_t pts_ns, int64_t frame) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%' || i + 1 == text.size()) {
      result += text[i];
      continue;
    }
    const char sign = text[++i];
    if (sign == 't' && i + 1 == text.size()) break;
    result += sign == 'F'   ? name
              : sign == 'p' ? clock(pts_ns, false)
              : sign == 'P' ? clock(pts_ns, true)
              : sign == 'f' ? fmt::format("{:06}", frame)
              : sign == 't' ? local_time(text[++i])
              : sign == '%' ? std::string("%")
                            : std::string{'%', sign};  // keeps %n and unknown sequences
  }
  return result;
}

/// Returns the size of the longest part between slashes, in bytes.
size_t longest_part(const std::string& path) {
  size_t longest = 0;
  for (const std::string& part : split(path, "/")) longest = std::max(longest, part.size());
  return longest;
}

bool is_folder(const std::string& path) {
  std::error_code error;  // such as a missing permission or a lost mount
  return fs::is_directory(path, error);
}

/// Returns the folder in line `NAME="$HOME/Pictures"` of user-dirs.dirs, else `fallback` in the home folder,
/// else the home folder. Skips folders that do not exist. Without an absolute HOME, uses the working folder.
std::string user_folder(const char* name, const char* fallback) {
  const std::string home = folder_in("HOME"), config = folder_in("XDG_CONFIG_HOME");
  const std::string root = home.empty() ? "." : home;
  std::ifstream file((config.empty() ? root + "/.config" : config) + "/user-dirs.dirs");
  const std::string start = std::string(name) + "=\"";
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, start.size(), start) != 0) continue;
    std::string value = line.substr(start.size(), line.find('"', start.size()) - start.size());
    if (value.compare(0, 5, "$HOME") == 0) value = root + value.substr(5);
    if (is_folder(value)) return value;
  }
  const std::string usual = root + "/" + fallback;
  return is_folder(usual) ? usual : root;
}

/// Writes an image. Returns false if a file of this name exists.
bool write_new_image(const std::string& path, ConstImageRef image, PixelAspect aspect) {
  std::error_code error;
  try {
    write_image(path, image, aspect, Existing::keep);
    return true;
  } catch (const Error& refused) {
    // Rethrow for a dangling link: unused_path() would return its name again, because exists() follows links.
    if (refused.code() != ExitCode::usage || !fs::exists(path, error)) throw;
    return false;
  }
}

Notice write_image(const Image& image, PixelAspect aspect, const std::string& path) {
  try {
    if (const fs::path folder = fs::path(path).parent_path(); !folder.empty()) fs::create_directories(folder);
    const ConstImageRef ref{image.pixels.data(), static_cast<std::ptrdiff_t>(image.format.row_bytes()),
                            image.format};
    std::string free = path;
    while (!write_new_image(free, ref, aspect)) free = unused_path(path, {});
    return {false, "snapshot " + free};
  } catch (const Error& e) {
    return {true, std::string("cannot write a snapshot: ") + e.what()};
  } catch (const std::exception& e) {
    return {true, fmt::format("cannot write a snapshot: {}: {}", path, e.what())};
  }
}

}  // namespace

std::string expand_template(const std::string& text, const std::string& source, int64_t pts_ns,
                            int64_t frame) {
  std::string name = file_name_of(source);
  for (;;) {
    std::string result = expanded(text, name, pts_ns, frame);
    const size_t longest = longest_part(result);
    if (longest <= kMaxPartBytes || name.empty()) return result;
    const size_t excess = std::min(longest - kMaxPartBytes, name.size());
    name = first_bytes(name, name.size() - excess);
  }
}

std::string unused_path(const std::string& path, const std::vector<std::string>& taken) {
  const size_t sign = path.find("%n");
  for (int n = 1; n < 1'000'000; ++n) {
    std::string name = path;
    if (sign != std::string::npos) {
      name.replace(sign, 2, fmt::format("{:04}", n));
    } else if (n > 1) {
      const fs::path p(path);
      name =
          (p.parent_path() / fmt::format("{}-{}{}", p.stem().string(), n, p.extension().string())).string();
    }
    std::error_code error;  // the caller reports it when it writes the file
    if (!fs::exists(name, error) && !contains(taken, name)) return name;
  }
  return path;
}

std::string pictures_folder() {
  return user_folder("XDG_PICTURES_DIR", "Pictures");
}
std::string videos_folder() {
  return user_folder("XDG_VIDEOS_DIR", "Videos");
}

void Snapshots::take(Image image, PixelAspect aspect, std::string path) {
  auto task = [image = std::move(image), aspect, path] { return write_image(image, aspect, path); };
  running_.push_back({std::move(path), std::async(std::launch::async, std::move(task))});
}

void Snapshots::copy(Image image, PixelAspect aspect) {
  auto task = [image = std::move(image), aspect] { return copy_picture(image, aspect); };
  running_.push_back({{}, std::async(std::launch::async, std::move(task))});
}

std::vector<Notice> Snapshots::poll() {
  std::vector<Notice> finished;
  while (!running_.empty() &&
         running_.front().notice.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
    finished.push_back(running_.front().notice.get());
    running_.pop_front();
  }
  return finished;
}

std::vector<std::string> Snapshots::unfinished() const {
  std::vector<std::string> paths;
  for (const Task& task : running_)
    if (!task.path.empty()) paths.push_back(task.path);
  return paths;
}

}  // namespace lensd

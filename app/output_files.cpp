#include "app/output_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "app/cli.hpp"
#include "core/base/error.hpp"
#include "core/base/file_mark.hpp"
#include "core/base/unique_fd.hpp"
#include "core/media/hls_playlist.hpp"
#include "core/media/still.hpp"
#include "core/media/url.hpp"

namespace lensd {
namespace {

using FileId = std::pair<dev_t, ino_t>;

/// Returns the file's id. Returns nullopt unless it is a regular file or a block device, because no other
/// file can lose data.
std::optional<FileId> id_of(const struct stat& status) {
  if (!S_ISREG(status.st_mode) && !S_ISBLK(status.st_mode)) return std::nullopt;
  return FileId(status.st_dev, status.st_ino);
}

/// Returns the id of the file at `path`. Follows links. Returns nullopt if there is no file that can lose
/// data.
std::optional<FileId> file_id(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 ? id_of(status) : std::nullopt;
}

std::string unescaped(std::string text) {
  for (size_t at = 0; (at = text.find("%%", at)) != std::string::npos; ++at) text.erase(at, 1);
  return text;
}

struct NumberedFile {
  int64_t number;
  std::string path;
};

/// A pattern such as folder/img_%04d.png, in parts.
struct SequencePattern {
  explicit SequencePattern(const std::string& pattern) {
    size_t percent = pattern.find('%');
    while (pattern.compare(percent, 2, "%%") == 0) percent = pattern.find('%', percent + 2);
    const size_t name = pattern.rfind('/', percent) + 1;  // 0 without a slash
    const size_t number_end = pattern.find('d', percent) + 1;
    const size_t name_end = std::min(pattern.find('/', number_end), pattern.size());
    folder = unescaped(pattern.substr(0, name));
    before = unescaped(pattern.substr(name, percent - name));
    after = unescaped(pattern.substr(number_end, name_end - number_end));
    rest = unescaped(pattern.substr(name_end));
    width = std::atoi(pattern.c_str() + percent + 1);
  }
  std::string digits(int64_t number) const { return fmt::format("{:0{}}", number, width); }
  std::string path(int64_t number) const { return folder + before + digits(number) + after + rest; }

  std::string folder, before, after, rest;
  int width = 0;
};

/// Returns the existing files of a pattern such as img_%04d.png, in any order.
std::vector<NumberedFile> files_of_sequence(const std::string& pattern) {
  const SequencePattern p(pattern);
  const std::string &folder = p.folder, &before = p.before, &after = p.after;
  std::vector<NumberedFile> files;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder.empty() ? "." : folder, ignored)) {
    const std::string found = entry.path().filename().string();
    if (found.size() <= before.size() + after.size() || !found.starts_with(before) || !found.ends_with(after))
      continue;
    const std::string digits = found.substr(before.size(), found.size() - before.size() - after.size());
    const int64_t number = std::atoll(digits.c_str());
    if (p.digits(number) == digits) files.push_back({number, p.path(number)});
  }
  return files;
}

std::set<FileId> source_files(const std::string& source) {
  std::set<FileId> ids;
  const auto add = [&ids](const std::optional<FileId>& id) {
    if (id) ids.insert(*id);
  };
  const UrlKind kind = classify(source);
  if (struct stat status = {}; kind == UrlKind::standard_input && fstat(0, &status) == 0) add(id_of(status));
  if (kind == UrlKind::path) add(file_id(source));
  if (kind == UrlKind::sequence)
    for (const NumberedFile& file : files_of_sequence(source)) add(file_id(file.path));
  return ids;
}

/// Returns the files that an option with the value `path` may write: `path` itself and, for a playlist, its
/// existing segments. For an image sequence, its existing files from number 1 to `frames` (0: no limit).
std::vector<std::string> written_files(const std::string& path, int frames) {
  std::vector<std::string> paths;
  if (is_playlist(path)) {
    std::string pattern;
    for (const char c : segment_begin(path)) pattern.append(c == '%' ? 2 : 1, c);
    for (const NumberedFile& file : files_of_sequence(pattern + "%d" + kSegmentEnding))
      paths.push_back(file.path);
  } else if (still_type(path) && is_sequence_pattern(path)) {
    for (const NumberedFile& file : files_of_sequence(path))
      if (file.number >= 1 && (frames == 0 || file.number <= frames)) paths.push_back(file.path);
    return paths;
  }
  paths.push_back(path);
  return paths;
}

void refuse(const std::string& path, const std::string& writer, const std::set<FileId>& source) {
  if (const auto id = file_id(path); id && source.contains(*id))
    throw Error(ExitCode::usage, path, fmt::format("{} would overwrite the source", writer),
                "choose another name");
}

/// Returns true if --record writes exactly the named file: no template, no split and no limit on kept files.
bool records_exactly(const CommandLine& line) {
  const RecordSettings& r = line.recording;
  return line.record.find('%') == std::string::npos && r.split_seconds <= 0 && r.split_megabytes <= 0 &&
         r.keep_minutes <= 0 && r.keep_gigabytes <= 0;
}

struct Output {
  const char* option;
  std::string path;
  bool replaces = true;  ///< an existing file loses its content
  bool at_quit = false;  ///< written when the viewer or the daemon ends
};

std::vector<Output> outputs_of(const CommandLine& line) {
  return {{"--output", line.output},
          {"--record", line.record, records_exactly(line)},
          {"--timings", line.timings, true, true},
          {"--trace", line.trace, true, true},
          {"--framehash", line.framehash},
          {"--tracks", line.tracks},
          {"--output", line.config.output_url},
          {"--log-file", line.config.log_file, false}};
}

/// Returns a text that is the same for two names of one file; empty for addresses, pipes, devices and null:,
/// which several outputs may share.
std::string identity(const std::string& path) {
  const UrlKind kind = classify(path);
  if (path.empty() || path == "null:" || (kind != UrlKind::path && kind != UrlKind::sequence)) return {};
  if (is_special_file(path) || opened_by_shell(path)) return {};
  if (const auto id = file_id(path)) return fmt::format("{} {}", id->first, id->second);
  std::error_code error;
  const std::string full = std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  return error ? path : full;
}

/// Throws Error(usage) if two options name the same file.
void refuse_shared_files(const std::vector<Output>& outputs) {
  std::map<std::string, const char*> options;
  for (const Output& output : outputs) {
    const std::string file = identity(output.path);
    if (file.empty()) continue;
    if (const auto [first, added] = options.emplace(file, output.option); !added)
      throw Error(ExitCode::usage, output.path,
                  fmt::format("{} and {} name the same file", first->second, output.option),
                  "choose another name for one of them");
  }
}

bool file_exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && !opened_by_shell(path);
}

/// `path`: one of written_files().
[[noreturn]] void refuse_existing(const Output& output, const std::string& path) {
  const bool segment = is_playlist(output.path) && path != output.path;
  throw Error(ExitCode::usage, segment ? output.path : path,
              segment ? fmt::format("its segment {} exists already", path) : "the file exists already",
              fmt::format("choose another name for {}, or add --overwrite", output.option));
}

UniqueFd open_file(const std::string& path) {
  return UniqueFd(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

/// Returns true if mark_result() has marked the file for the option.
bool is_marked(const std::string& path, const char* option) {
  const UniqueFd fd = open_file(path);
  struct stat info = {};
  return fd && fstat(fd.get(), &info) == 0 && info.st_nlink == 1 && file_mark(fd.get()) == option + 2;
}

/// Refuses existing files of a playlist, unless an earlier run may have written them: then the output
/// continues the playlist.
void check_playlist(const Output& output) {
  if (!is_playlist(output.path) || continues_playlist(output.path)) return;
  for (const std::string& path : written_files(output.path, 0))
    if (file_exists(path)) refuse_existing(output, path);
}

/// Refuses existing files of an output, except those that an earlier run of the daemon has marked.
void refuse_existing_files(const Output& output, const CommandLine& line) {
  for (const std::string& path : written_files(output.path, line.frames))
    if (file_exists(path) && !(line.mode == RunMode::serve && is_marked(path, output.option)))
      refuse_existing(output, path);
}

}  // namespace

bool opened_by_shell(const std::string& path) {
  return path.starts_with("/dev/std") || path.starts_with("/dev/fd/") || path.starts_with("/proc/");
}

std::string first_gap(const std::string& source) {
  if (classify(source) != UrlKind::sequence) return "";
  std::vector<NumberedFile> files = files_of_sequence(source);
  std::ranges::sort(files, {}, &NumberedFile::number);
  const auto gap = std::ranges::adjacent_find(
      files, [](const NumberedFile& a, const NumberedFile& b) { return b.number > a.number + 1; });
  return gap == files.end() ? "" : SequencePattern(source).path(gap->number + 1);
}

void refuse_source_file(const std::string& path, const std::string& writer, const std::string& source) {
  refuse(path, writer, source_files(source));
}

void check_output_files(const CommandLine& line, const std::vector<std::string>& sources) {
  refuse_shared_files(outputs_of(line));
  std::vector<std::pair<std::string, const char*>> existing;
  for (const Output& output : outputs_of(line))
    for (std::string& path : written_files(output.path, line.frames))
      if (file_id(path)) existing.emplace_back(std::move(path), output.option);
  if (existing.empty()) return;  // most runs; listing the sources of a large folder is slow
  std::set<FileId> protected_files;
  for (const std::string& source : sources) protected_files.merge(source_files(source));
  for (const auto& [path, option] : existing) refuse(path, option, protected_files);
}

Existing existing_rule(const CommandLine& line, const char* option, const std::string& path) {
  const bool own = line.mode == RunMode::serve && is_marked(path, option);
  return line.overwrite || own || opened_by_shell(path) ? Existing::replace : Existing::keep;
}

void check_result_files(const CommandLine& line) {
  if (line.overwrite) return;
  for (const Output& output : outputs_of(line))
    if (output.at_quit) refuse_existing_files(output, line);
}

void check_existing_files(const CommandLine& line) {
  const bool batch = line.mode == RunMode::batch;
  if (line.overwrite || (!batch && line.mode != RunMode::serve && line.mode != RunMode::viewer)) return;
  for (const Output& output : outputs_of(line)) {
    if (!batch) check_playlist(output);
    if (batch ? output.replaces : output.at_quit) refuse_existing_files(output, line);
  }
}

void mark_result(const std::string& path, const char* option) {
  if (file_exists(path)) mark_file(open_file(path).get(), option + 2);
}

}  // namespace lensd

#include "core/media/output/files/ring_journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/lock_file.hpp"
#include "core/base/log.hpp"
#include "core/base/whole_file.hpp"
#include "core/media/output/files/folders.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;

/// Start of the first line; the owner follows.
constexpr std::string_view kHeader = "lensd ring 2 ";
constexpr int64_t kMaxJournalBytes = 64 << 20;
/// Maximum number of journals of one name in a folder.
constexpr int kMaxJournals = 64;

/// Returns the FNV-1a hash, which detects lines that are incomplete or joined after a crash.
uint32_t checksum(std::string_view text) {
  uint32_t sum = 2166136261u;
  for (const char c : text) sum = (sum ^ static_cast<uint8_t>(c)) * 16777619u;
  return sum;
}

/// Escapes blanks, control characters and '%', so that a name can neither end a line nor add a field.
std::string escaped(const std::string& name) {
  std::string text;
  for (const char c : name) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte <= ' ' || byte == 0x7f || c == '%')
      text += fmt::format("%{:02x}", byte);
    else
      text += c;
  }
  return text;
}

std::string header_of(const std::string& owner) {
  return fmt::format("{}{}\n", kHeader, escaped(owner));
}

/// Reverses escaped(). Returns an empty string if the text is invalid.
std::string unescaped(std::string_view text) {
  std::string name;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      name += text[i];
      continue;
    }
    const std::string digits(text.substr(i + 1, 2));
    if (digits.size() < 2 || !std::isxdigit(static_cast<uint8_t>(digits[0])) ||
        !std::isxdigit(static_cast<uint8_t>(digits[1])))
      return {};
    name += static_cast<char>(std::stoi(digits, nullptr, 16));
    i += 2;
  }
  return name;
}

std::string line_of(char event, const RingFile& f, const std::string& folder) {
  std::string name = path_below(folder, f.path);
  if (name.empty()) name = fs::path(f.path).filename().string();
  const std::string line = fmt::format("{} {} {} {} {} {}", event, f.identity.inode, f.identity.birth_ns,
                                       f.duration_ns, f.bytes, escaped(name));
  return fmt::format("{} {:08x}\n", line, checksum(line));
}

/// Returns true if the path cannot leave the folder that it is relative to.
bool is_inside(const std::string& path) {
  const fs::path parts(path);
  if (path.empty() || path.find('\0') != std::string::npos || parts.is_absolute()) return false;
  return parts.has_filename() && path != "." && *parts.begin() != ".." &&
         parts.lexically_normal().string() == path;
}

/// Parses a line into `file`. Returns the line's event, or 0 if the line is invalid.
char parse_line(std::string_view line, RingFile& file) {
  const size_t end = line.rfind(' ');
  if (end == std::string_view::npos) return 0;
  const std::string fields(line.substr(0, end));
  if (line.substr(end + 1) != fmt::format("{:08x}", checksum(fields))) return 0;
  std::istringstream in(fields);
  char event = 0;
  std::string name, more;
  in >> event >> file.identity.inode >> file.identity.birth_ns >> file.duration_ns >> file.bytes >> name;
  file.path = unescaped(name);
  const bool valid = in && !(in >> more) && is_inside(file.path) && file.duration_ns >= 0 && file.bytes >= 0;
  file.closed = event == 'c';
  return valid && (event == 'o' || event == 'c' || event == 'd') ? event : '\0';
}

std::optional<std::string> read_text(int fd) {
  const auto state = file_state(fd);
  if (!state || !state->regular || state->bytes > kMaxJournalBytes) return std::nullopt;
  std::string text(static_cast<size_t>(state->bytes), '\0');
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = pread(fd, text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    done += static_cast<size_t>(n);
  }
  return text;
}

/// Creates a file named `path`.N and sets `path` to its name. Returns an empty UniqueFd on failure.
UniqueFd open_beside(std::string& path) {
  for (int n = 1;; ++n) {
    const std::string name = fmt::format("{}.{}", path, n);
    UniqueFd fd(open(name.c_str(), O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd && errno == EEXIST && n < kMaxJournals) continue;
    path = name;
    return fd;
  }
}

}  // namespace

std::optional<JournalText> parse_journal(std::string_view text) {
  JournalText out;
  const size_t header_end = text.find('\n');
  if (header_end == std::string_view::npos && (kHeader.starts_with(text) || text.starts_with(kHeader))) {
    out.damaged = !text.empty();  // incomplete after a crash
    return out;
  }
  if (!text.starts_with(kHeader)) return std::nullopt;
  out.owner = unescaped(text.substr(kHeader.size(), header_end - kHeader.size()));
  out.complete_bytes = static_cast<int64_t>(text.rfind('\n') + 1);
  text.remove_prefix(header_end + 1);
  std::unordered_map<std::string, size_t> by_name;  // index of the newest file by name
  for (size_t end = 0; !text.empty(); text.remove_prefix(end), ++out.lines) {
    end = text.find('\n');
    RingFile file;
    const char event = end == std::string_view::npos ? '\0' : parse_line(text.substr(0, end), file);
    end = end == std::string_view::npos ? text.size() : end + 1;
    if (event == 0) {
      out.damaged = true;
      continue;
    }
    if (const auto at = by_name.find(file.path); at != by_name.end()) {
      out.files[at->second].path.clear();
      by_name.erase(at);
    }
    if (event == 'd') continue;
    by_name[file.path] = out.files.size();
    out.files.push_back(std::move(file));
  }
  std::erase_if(out.files, [](const RingFile& file) { return file.path.empty(); });
  return out;
}

RingJournal::RingJournal(const std::string& folder, const std::string& name, std::string owner)
    : folder_(folder), owner_(std::move(owner)) {
  for (int n = 1; n <= kMaxJournals; ++n) {
    const std::string number = n == 1 ? std::string() : fmt::format(".{}", n);
    path_ = (fs::path(folder) / fmt::format(".{}{}.ring", name, number)).string();
    if (take()) return;
  }
  throw Error(ExitCode::runtime_failure, path_, "too many recordings of this name", "choose another name");
}

/// Opens, locks and reads the journal at path_. Returns false if the next journal must be tried.
bool RingJournal::take() {
  const auto fail = [&](const char* what) {
    throw Error(ExitCode::runtime_failure, path_, fmt::format("{}: {}", what, std::strerror(errno)));
  };
  do {
    fd_ = open_lock_file(path_);
    if (const int error = errno; !fd_) {
      if (error == EPERM) log::warn("{} belongs to another user: its files are kept", path_);
      if (file_state(path_)) return false;  // another user's, or not a file
      errno = error;
      fail("cannot be written");
    }
    if (fcntl(fd_.get(), F_SETFL, O_APPEND) != 0) fail("cannot be written");
    if (!read()) return false;  // do not lock another owner's journal, because that owner may open it
    if (flock(fd_.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) fail("cannot be locked");
      log::warn("{} is used by another running recording: each keeps and deletes only its own files", path_);
      return false;
    }
  } while (!is_current());  // repeat if another recording's rewrite() replaced the file after open()
  auto parsed = read();
  if (!parsed) return false;
  // Remove an incomplete last line, so that the next one is not joined to it.
  bytes_ = parsed->complete_bytes;
  [[maybe_unused]] const int ignored = ftruncate(fd_.get(), bytes_);
  lines_ = parsed->lines;
  incomplete_ = parsed->damaged;
  files_ = std::move(parsed->files);
  return true;
}

/// Reads the journal. Returns nullopt and logs the reason if it is invalid or another owner's.
std::optional<JournalText> RingJournal::read() const {
  const auto text = read_text(fd_.get());
  auto parsed = text ? parse_journal(*text) : std::nullopt;
  if (!parsed)
    log::warn("{} is not a journal of this version: its files are kept; delete it when they are not needed",
              path_);
  else if (parsed->complete_bytes > 0 && parsed->owner != owner_)
    log::warn("{} belongs to another configuration of lensd: its files are kept", path_);
  else
    return parsed;
  return std::nullopt;
}

/// Returns false if the locked file was deleted or replaced.
bool RingJournal::is_current() const {
  const auto locked = file_state(fd_.get());
  return locked && names_file(path_, locked->identity);
}

bool RingJournal::is_lost() const {
  struct stat info = {};
  return !is_current() && fstat(fd_.get(), &info) == 0 && info.st_nlink == 0;
}

std::vector<RingFile> RingJournal::take_files() {
  for (RingFile& file : files_) file.path = (fs::path(folder_) / file.path).string();
  return std::exchange(files_, {});
}

/// Appends a line. Ignores errors: a file that is missing in the journal is kept, which is safe.
void RingJournal::append(char event, const RingFile& file) {
  const std::string line = (bytes_ == 0 ? header_of(owner_) : std::string()) + line_of(event, file, folder_);
  ++lines_;
  if (write_all(fd_.get(), line)) {
    bytes_ += static_cast<int64_t>(line.size());
    return;
  }
  incomplete_ = true;
  [[maybe_unused]] const int ignored = ftruncate(fd_.get(), bytes_);
}

void RingJournal::rewrite(const std::vector<RingFile>& files) {
  if (!is_current()) return;  // the journal was deleted or replaced
  std::string text = header_of(owner_);
  for (const RingFile& file : files) text += line_of(file.closed ? 'c' : 'o', file, folder_);
  std::string name = path_;
  UniqueFd next = open_beside(name);
  if (!next) return;
  struct stat old = {};
  if (fstat(fd_.get(), &old) == 0) {
    [[maybe_unused]] const int ignored = fchmod(next.get(), old.st_mode & 0770);
  }
  // Lock the new file before the rename, so that the journal's name is always locked. Sync it, or it could be
  // empty after a power failure.
  if (flock(next.get(), LOCK_EX | LOCK_NB) != 0 || !write_all(next.get(), text) ||
      fdatasync(next.get()) != 0 || rename(name.c_str(), path_.c_str()) != 0) {
    unlink(name.c_str());
    return;
  }
  fd_ = std::move(next);
  bytes_ = static_cast<int64_t>(text.size());
  lines_ = files.size();
  incomplete_ = false;
}

}  // namespace lensd

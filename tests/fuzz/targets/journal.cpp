// The recording ring's journal: its text, the journal in a folder, a ring that keeps the files of others.
#include <cstdint>
#include <filesystem>
#include <set>

#include "core/base/log.hpp"
#include "core/base/text/text.hpp"
#include "core/base/whole_file.hpp"
#include "core/media/output/files/file_ring.hpp"
#include "core/media/output/files/folders.hpp"
#include "tests/fuzz/common/require.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

using fuzz::require;
constexpr const char* kHeader = "lensd ring 2 \n";
constexpr const char* kOthers[] = {"a.mkv", "b.mkv", "a b.mkv"};

/// Returns a journal: the header, then each line of the text with a valid checksum. Random text would nearly
/// always fail at the checksum.
std::string signed_lines(const std::string& text) {
  std::string out = kHeader;
  for (const std::string& line : split(text, "\n")) {
    uint32_t sum = 0x811c9dc5;
    for (const char c : line) sum = (sum ^ static_cast<uint8_t>(c)) * 0x01000193;
    out += fmt::format("{} {:08x}\n", line, sum);
  }
  return out;
}

void check_parsed(const JournalText& parsed, const std::string& text) {
  require(parsed.complete_bytes >= 0 && static_cast<size_t>(parsed.complete_bytes) <= text.size(),
          "{} complete bytes of {}", parsed.complete_bytes, text.size());
  std::set<std::string> names;
  for (const RingFile& file : parsed.files) {
    const std::filesystem::path path(file.path);
    require(!path.empty() && path.is_relative() && path.lexically_normal() == path && *path.begin() != "..",
            "the name '{}'", file.path);
    require(file.path.find('\0') == std::string::npos, "a name with a zero");
    require(names.insert(file.path).second, "'{}' twice", file.path);
    require(file.duration_ns >= 0 && file.bytes >= 0, "a negative size of '{}'", file.path);
  }
}

/// Returns the paths relative to `folder`; paths of a JournalText are relative already.
std::vector<std::string> names(const std::vector<RingFile>& files, const std::string& folder = ".") {
  std::vector<std::string> out;
  for (const RingFile& f : files) out.push_back(path_below(folder, f.path));
  return out;
}

void put(const std::string& path, const std::string& text) {
  write_whole_file(path, text, Flush::none);
}

/// Checks that opening the journal returns its files, and that a file added afterwards is read back.
void check_journal(const TemporaryFolder& folder, const std::string& text,
                   const std::optional<JournalText>& parsed) {
  put(folder / ".r.mkv.ring", text);
  const RingFile added{
      .path = "added.mkv", .identity = {0, 7, 8}, .duration_ns = 9, .bytes = 10, .closed = true};
  const std::string owner = parsed ? parsed->owner : "";
  {
    RingJournal journal(folder.path().string(), "r.mkv", owner);
    const bool used = journal.path() == folder / ".r.mkv.ring";
    require(used == parsed.has_value(), "a journal is {}", used ? "not refused" : "refused");
    const auto files = journal.take_files();
    if (used)
      require(names(files, folder.path().string()) == names(parsed->files), "other files than in the text");
    if (text.size() % 2) journal.rewrite(files);
    journal.closed(added);
  }
  RingJournal again(folder.path().string(), "r.mkv", owner);
  const auto files = again.take_files();
  require(!files.empty() && names(files, folder.path().string()).back() == added.path,
          "the last line is lost");
  require(files.back().identity == added.identity && files.back().bytes == added.bytes,
          "the last line differs");
}

/// Checks that a full ring with this journal does not delete files of others.
void check_ring(const TemporaryFolder& folder, const std::string& text) {
  put(folder / ".r.mkv.ring", text);
  for (const char* name : kOthers) put(folder / name, "footage of others");
  FileRing ring(folder / "r.mkv", "", {.duration_ns = 1, .bytes = 1});
  for (const char* name : {"new1.mkv", "new2.mkv"}) {
    const std::string path = folder / name;
    put(path, "new footage");
    ring.opened(path, file_state(path)->identity);
    ring.ended(1'000'000'000);
    ring.closed(path);
    require(file_state(path).has_value(), "the newest file is deleted");
  }
  for (const char* name : kOthers) require(file_state(folder / name).has_value(), "'{}' is deleted", name);
}

void clear(const TemporaryFolder& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    std::filesystem::remove_all(entry);
}

}  // namespace
}  // namespace lensd

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lensd;
  static const TemporaryFolder folder;
  log::set_level("off");
  if (size == 0) return 0;
  std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2) text = signed_lines(text);
  const auto parsed = parse_journal(text);
  if (parsed) check_parsed(*parsed, text);
  clear(folder);
  check_journal(folder, text, parsed);
  clear(folder);
  check_ring(folder, text);
  return 0;
}

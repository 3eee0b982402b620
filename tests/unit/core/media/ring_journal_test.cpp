// The journal of a file ring: names, damage, other versions, locks, a full disk.

#include "core/media/output/files/ring_journal.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "tests/unit/core/media/recording_fixture.hpp"
#include "tests/unit/core/media/system_calls.hpp"

namespace lensd::test {
namespace {

RingFile entry(const std::string& name, uint64_t inode, bool closed = true) {
  return {.path = name,
          .identity = {.device = 0, .inode = inode, .birth_ns = static_cast<int64_t>(inode) * 1000 + 7},
          .duration_ns = 1'500'000'000,
          .bytes = 4711,
          .closed = closed};
}

class RingJournalTest : public MediaTest {
 protected:
  RingJournal open(const std::string& owner = "") const {
    return RingJournal(folder_.path().string(), "r.mkv", owner);
  }
  static std::vector<std::string> names(const std::vector<RingFile>& files) {
    std::vector<std::string> out;
    for (const RingFile& f : files) out.push_back(std::filesystem::path(f.path).filename().string());
    return out;
  }
  using Names = std::vector<std::string>;
};

TEST_F(RingJournalTest, KeepsWhatItWasTold) {
  const Names odd{"a b.mkv", "100%25.mkv", "c 1 1 1 1 victim.mkv\nx.mkv", "\x7f\t.mkv", "grün.mkv"};
  {
    RingJournal journal = open();
    uint64_t inode = 1;
    for (const std::string& name : odd) journal.closed(entry(name, inode++));
    journal.opened(entry("open.mkv", 100, false));
    journal.closed(entry("gone.mkv", 101));
    journal.deleted(entry("gone.mkv", 101));
  }
  RingJournal journal = open();
  EXPECT_FALSE(journal.incomplete());
  const std::vector<RingFile> files = journal.take_files();
  Names wanted = odd;
  wanted.push_back("open.mkv");
  EXPECT_EQ(names(files), wanted);
  EXPECT_EQ(files[0].identity, entry("", 1).identity);
  EXPECT_EQ(files[0].duration_ns, 1'500'000'000);
  EXPECT_EQ(files[0].bytes, 4711);
  EXPECT_TRUE(files[0].closed);
  EXPECT_FALSE(files.back().closed);
}

TEST_F(RingJournalTest, IncompleteLinesAreIgnored) {
  {
    RingJournal journal = open();
    for (uint64_t i = 1; i <= 5; ++i) journal.closed(entry("f" + std::to_string(i) + ".mkv", i));
  }
  const std::string path = file(".r.mkv.ring"), whole = get(".r.mkv.ring");
  const Names all = names(parse_journal(whole)->files);
  ASSERT_EQ(all.size(), 5u);
  for (size_t cut = 0; cut < whole.size(); ++cut) {
    put(".r.mkv.ring", whole.substr(0, cut));
    Names kept;
    {
      RingJournal journal = open();
      ASSERT_EQ(journal.path(), path) << cut;
      std::vector<RingFile> files = journal.take_files();
      kept = names(files);
      ASSERT_LE(kept.size(), all.size()) << cut;
      ASSERT_TRUE(std::equal(kept.begin(), kept.end(), all.begin())) << cut;
      ASSERT_TRUE(journal.incomplete() || cut == 0 || whole[cut - 1] == '\n') << cut;
      if (cut % 2 == 0) journal.rewrite(files);
      journal.closed(entry("next.mkv", 9));
    }
    kept.emplace_back("next.mkv");
    ASSERT_EQ(names(open().take_files()), kept) << cut;
  }
  // An incomplete line without a line break before the next entry; then changed bytes.
  const size_t half = whole.size() - 10, header = whole.find('\n') + 1;
  EXPECT_EQ(parse_journal(whole.substr(0, half) + whole.substr(header))->files.size(), 5u);
  for (size_t i = header; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    const auto parsed = parse_journal(changed);
    ASSERT_TRUE(parsed && parsed->damaged) << i;
    for (const RingFile& f : parsed->files)
      ASSERT_NE(std::find(all.begin(), all.end(), f.path), all.end()) << i << ": " << f.path;
  }
}

// Their checksums are right, so that only the fields can be the reason.
TEST_F(RingJournalTest, ForgedLinesAreIgnored) {
  { open().closed(entry("f.mkv", 1)); }
  std::string text = get(".r.mkv.ring");
  for (const char* fields :
       {"x 7 7 1500 10 event.mkv", "c 7 7 1500 10 ../above.mkv", "c 7 7 1500 10 /etc/absolute",
        "c 7 7 -1 10 age.mkv", "o 7 7 1500 -1 size.mkv", "c 7 7 1500 10 more.mkv fields",
        "c 7 7 1500 name.mkv", "c 8 8 1500 10 good.mkv"}) {
    uint32_t sum = 2166136261u;  // FNV-1a
    for (const char c : std::string_view(fields)) sum = (sum ^ static_cast<uint8_t>(c)) * 16777619u;
    text += fmt::format("{} {:08x}\n", fields, sum);
  }
  const auto parsed = parse_journal(text);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(names(parsed->files), (Names{"f.mkv", "good.mkv"}));
}

TEST_F(RingJournalTest, EachOwnerHasItsOwn) {
  std::optional<RingJournal> first(open());
  first->closed(entry("first.mkv", 1));
  RingJournal second = open();
  EXPECT_EQ(second.path(), file(".r.mkv.2.ring"));
  EXPECT_TRUE(second.take_files().empty());
  // `first` keeps its lock when rewrite() replaces the file.
  first->rewrite({entry("first.mkv", 1)});
  EXPECT_EQ(open().path(), file(".r.mkv.3.ring"));
  first.reset();
  RingJournal third = open();
  EXPECT_EQ(third.path(), file(".r.mkv.ring"));
  EXPECT_EQ(names(third.take_files()), Names{"first.mkv"});
}

TEST_F(RingJournalTest, IsReplacedOnlyByASyncedFile) {
  RingJournal journal = open();
  journal.closed(entry("f.mkv", 1));
  const std::string before = get(".r.mkv.ring");
  {
    const FailingSync failing(std::chrono::milliseconds(0));
    journal.rewrite({});
  }
  EXPECT_EQ(get(".r.mkv.ring"), before);
  for (const auto& found : std::filesystem::directory_iterator(folder_.path()))
    EXPECT_EQ(found.path().filename(), ".r.mkv.ring") << "no temporary file is left";
  journal.rewrite({});
  EXPECT_LT(get(".r.mkv.ring").size(), before.size());
}

TEST_F(RingJournalTest, AnotherUsersJournalIsIgnored) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  open().closed(entry("f.mkv", 1));
  constexpr uid_t kFolderOwner = 65533, kOther = 65534;
  ASSERT_EQ(chown(file(".r.mkv.ring").c_str(), kOther, kOther), 0);
  EXPECT_EQ(open().path(), file(".r.mkv.2.ring"));
  EXPECT_EQ(chown(file(".r.mkv.ring").c_str(), kFolderOwner, kFolderOwner), 0);
  EXPECT_EQ(chown(file(".").c_str(), kFolderOwner, kFolderOwner), 0);
  EXPECT_EQ(open().path(), file(".r.mkv.ring")) << "the folder's owner may delete its files anyway";
}

TEST_F(RingJournalTest, OwnersDoNotTakeOver) {
  for (const char* owner : {"/run/a b.sock", "", "/run/c.sock"}) open(owner).closed(entry("f.mkv", 1));
  EXPECT_EQ(open("").path(), file(".r.mkv.2.ring"));
  EXPECT_EQ(open("/run/c.sock").path(), file(".r.mkv.3.ring"));
  RingJournal first = open("/run/a b.sock");
  EXPECT_EQ(first.path(), file(".r.mkv.ring"));
  EXPECT_EQ(first.take_files().size(), 1u);
  first.rewrite({});
  EXPECT_EQ(open("new").path(), file(".r.mkv.4.ring"));
}

TEST_F(RingJournalTest, OtherFilesOfItsNameStay) {
  const std::string older = "o 12 0 0 a.mkv\nc 12 1000 10 a.mkv\n";
  put(".r.mkv.ring", older);
  put("target", "");
  std::filesystem::create_symlink(file("target"), file(".r.mkv.2.ring"));
  std::filesystem::create_directory(file(".r.mkv.3.ring"));
  put(".r.mkv.4.ring", "lensd ring 3 x\nsomething newer\n");
  RingJournal journal = open();
  EXPECT_EQ(journal.path(), file(".r.mkv.5.ring"));
  EXPECT_TRUE(journal.take_files().empty());
  journal.rewrite({entry("a.mkv", 1)});
  EXPECT_EQ(get(".r.mkv.ring"), older);
  EXPECT_EQ(get("target"), "");
  EXPECT_EQ(get(".r.mkv.4.ring"), "lensd ring 3 x\nsomething newer\n");
}

TEST_F(RingJournalTest, AnotherOwnersFileIsNotReplaced) {
  RingJournal first = open();
  first.closed(entry("first.mkv", 1));
  std::filesystem::remove(first.path());
  RingJournal second = open();
  ASSERT_EQ(second.path(), first.path());
  second.closed(entry("second.mkv", 2));
  first.rewrite({entry("first.mkv", 1)});
  EXPECT_EQ(names(parse_journal(get(".r.mkv.ring"))->files), Names{"second.mkv"});
}

TEST_F(RingJournalTest, AFullDiskLeavesCompleteLines) {
  std::vector<RingFile> files{entry("a.mkv", 1)};
  RingJournal journal = open();
  journal.rewrite(files);
  const std::string before = get(".r.mkv.ring");
  files.push_back(entry("b.mkv", 2));
  {
    const FullDisk full(before.size() + 10);
    journal.closed(files[1]);
    EXPECT_TRUE(journal.incomplete());
    journal.rewrite(files);
  }
  EXPECT_EQ(get(".r.mkv.ring"), before);
  EXPECT_TRUE(journal.incomplete());
  journal.rewrite(files);
  EXPECT_FALSE(journal.incomplete());
  EXPECT_EQ(names(parse_journal(get(".r.mkv.ring"))->files), (Names{"a.mkv", "b.mkv"}));
  size_t count = 0;
  for ([[maybe_unused]] const auto& f : std::filesystem::directory_iterator(folder_.path())) ++count;
  EXPECT_EQ(count, 1u) << "a temporary file is left";
}

}  // namespace
}  // namespace lensd::test

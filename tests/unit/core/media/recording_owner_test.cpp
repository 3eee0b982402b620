// A recording must not delete or replace its source or files of other recordings and programs. It deletes its
// own footage only to make room for new footage.

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/core/media/recording_fixture.hpp"

namespace lensd::test {
namespace {

class RecordingOwnerTest : public RecordingTest {
 protected:
  /// Writes `count` frames from `first` on, with times as from a live source after a pause of `pause` frames.
  static void write_late(Recording& recording, int64_t first, int64_t count, int64_t pause) {
    for (int64_t i = first; i < first + count; ++i)
      recording.write(picture(kFormat, static_cast<int>(i)).ref(), at(i + pause));
  }
  RecordTarget replacing(const std::string& name) const {
    return {file(name), {.overwrite = true, .beneath = {}}};
  }
};

TEST_F(RecordingOwnerTest, APauseDeletesNothing) {
  Recording recording(ring_of(3), 25, "");
  recording.start(target("r.mkv"));
  write(recording, 0, 110);
  write_late(recording, 110, 30, 36 * 25);
  recording.stop();
  EXPECT_GE(frames_in_all(), 75u) << "less than the last three seconds of footage are left";
  EXPECT_LE(frames_in_all(), 120u);
}

TEST_F(RecordingOwnerTest, JumpsOfTimeStampsDeleteNothing) {
  Recording recording(ring_of(4), 25, "");
  recording.start(target("r.mkv"));
  write(recording, 0, 75);
  for (int64_t jump = 1; jump <= 20; ++jump) write_late(recording, 75 + jump, 1, jump * 10 * 25);
  write_late(recording, 96, 5, 1'000'000);
  recording.stop();
  EXPECT_EQ(frames_in_all(), 100u) << "100 frames are four seconds of footage";
}

TEST_F(RecordingOwnerTest, SlowSourcesCountInFull) {
  Recording recording(ring_of(10), 25, "");
  recording.start(target("r.mkv"));
  for (int64_t i = 0; i < 60; ++i) recording.write(picture(kFormat, 0).ref(), at(i * 20));  // 0.8 s per frame
  recording.stop();
  EXPECT_GE(frames_in_all(), 12u);
  EXPECT_LE(frames_in_all(), 16u);
}

TEST_F(RecordingOwnerTest, NothingIsDeletedThroughALink) {
  const TemporaryFolder outside;
  recorded(ring_of(5), "day%Y/r-%s.mkv", 75);
  const std::vector<std::string> days = files();
  ASSERT_EQ(days.size(), 1u);
  const std::filesystem::path moved = outside.path() / "moved";
  std::filesystem::rename(days[0], moved);
  std::filesystem::create_directory_symlink(moved, days[0]);
  const auto count = [&] {
    return std::distance(std::filesystem::directory_iterator(moved), std::filesystem::directory_iterator());
  };
  const auto before = count();
  ASSERT_GE(before, 2);
  recorded(ring_of(1), "day%Y/r-%s.mkv", 125);
  EXPECT_GE(count(), before) << "files outside of the folder were deleted";
}

TEST_F(RecordingOwnerTest, StartingDeletesNothing) {
  recorded(ring_of(5), "r.mkv", 125);
  ASSERT_EQ(files().size(), 5u);
  Recording recording(ring_of(1), 25, "");
  recording.start(target("r.mkv"));
  recording.stop();
  EXPECT_EQ(files().size(), 5u) << "deleted without new footage";
  recording.start(target("r.mkv"));
  write(recording, 0, 50);
  EXPECT_GE(files().size(), 2u);
  recording.stop();
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(RecordingOwnerTest, MovedFilesNeedNoRoom) {
  Recording recording(ring_of(3), 25, "");
  recording.start(target("r.mkv"));
  write(recording, 0, 100);  // three closed files and an open one
  std::filesystem::create_directory(file("kept"));
  for (const char* name : {"r-002.mkv", "r-003.mkv"})
    std::filesystem::rename(file(name), file(std::string("kept/") + name));
  write(recording, 100, 30);
  EXPECT_TRUE(std::filesystem::exists(file("r-001.mkv"))) << "only one newer second is left in the ring";
  recording.stop();
}

TEST_F(RecordingOwnerTest, TwoRecordingsInOneFolderKeepTheirFiles) {
  Recording first(ring_of(3), 25, "");
  first.start(target("r.mkv"));
  write(first, 0, 95);
  const auto before = files();
  ASSERT_EQ(before.size(), 4u);
  for (int run = 0; run < 3; ++run) recorded(ring_of(1), "r.mkv", 60);
  for (const std::string& f : before) EXPECT_TRUE(std::filesystem::exists(f)) << f;
  EXPECT_EQ(files().size(), before.size() + 2) << "the second ring is limited, too";
  write(first, 95, 3);
  first.stop();
  size_t frames = 0;
  for (const std::string& f : before)
    if (std::filesystem::exists(f)) frames += frames_in(f);
  EXPECT_EQ(frames, 98u);
}

TEST_F(RecordingOwnerTest, AnotherDaemonDoesNotContinueARing) {
  RecordSettings first = ring_of(3), second = ring_of(1);
  first.owner = "/run/first.sock", second.owner = "/run/second.sock";
  recorded(first, "r.mkv", 75);
  const auto before = files();
  ASSERT_EQ(before.size(), 3u);
  for (int run = 0; run < 2; ++run) recorded(second, "r.mkv", 75);
  for (const std::string& f : before) EXPECT_TRUE(std::filesystem::exists(f)) << f;
  EXPECT_EQ(files().size(), 3u + 1);
}

TEST_F(RecordingOwnerTest, FootageOfKilledProcessesCounts) {
  RecordSettings settings = ring_of(15);
  settings.split_seconds = 3600;
  for (int run = 0; run < 2; ++run) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      Recording recording(settings, 25, "");
      recording.start(target("r.mkv"));
      write(recording, 0, 600);
      _exit(0);  // as if killed
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
  }
  recorded(settings, "r.mkv", 25);
  EXPECT_EQ(files(), (std::vector{file("r-002.mkv"), file("r-003.mkv")}));
}

TEST_F(RecordingOwnerTest, NamesWithControlCharactersAreRefused) {
  put("victim.mkv", "precious");
  for (const char* name : {"a\nc 1 1000 10 victim.mkv\n.mkv", "a\tb.mkv", "a\x7f.mkv"})
    EXPECT_NE(problem(target(name)).find("control character"), std::string::npos) << name;
  RecordSettings settings;
  settings.name = "a\nb.mkv";
  EXPECT_THROW(check_record_settings(settings), Error);
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(RecordingOwnerTest, ForeignEntriesDeleteNothing) {
  // A file with the journal's name but without its header lists a file that lensd did not write.
  put("victim.mkv", "precious");
  struct stat info = {};
  ASSERT_EQ(stat(file("victim.mkv").c_str(), &info), 0);
  put(".r.mkv.ring", "c " + std::to_string(info.st_ino) + " 1000 8 victim.mkv\n");
  for (int run = 0; run < 2; ++run) recorded(ring_of(1), "r.mkv", 100);
  EXPECT_EQ(get("victim.mkv"), "precious");
  EXPECT_EQ(files().size(), 1u + 1) << "the ring continues in its own journal";
}

TEST_F(RecordingOwnerTest, ChangedFilesStay) {
  recorded(ring_of(1), "r.mkv", 25);
  std::ofstream(file("r-001.mkv"), std::ios::app) << "edited";
  recorded(ring_of(1), "r.mkv", 75);
  EXPECT_TRUE(get("r-001.mkv").ends_with("edited"));
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(RecordingOwnerTest, WithoutAJournalOlderFilesStay) {
  const std::string name = std::string(246, 'x') + ".mkv";  // ".NAME.ring" would be too long for a file name
  for (int run = 0; run < 2; ++run) recorded(ring_of(1), name, 75);
  EXPECT_EQ(files().size(), 2u) << "each recording deletes its own files only";
}

TEST_F(RecordingOwnerTest, AFileInUseIsNotReplaced) {
  Recording first({}, 25, "");
  first.start(replacing("x.mkv"));
  write(first, 0, 40);
  EXPECT_NE(problem(replacing("x.mkv")).find("another recording is writing this file"), std::string::npos);
  RecorderOptions options;
  EXPECT_THROW(open_recorder(file("x.mkv"), kFormat, options), Error);
  write(first, 40, 10);
  first.stop();
  EXPECT_EQ(frames_in(file("x.mkv")), 50u);
  {
    const auto source = open_source(file("x.mkv"), {});
    EXPECT_NE(problem(replacing("x.mkv")).find("that is being read"), std::string::npos);
    EXPECT_EQ(read_all(*source).infos.size(), 50u);
  }
  EXPECT_EQ(frames_in(file("x.mkv")), 50u);
  EXPECT_EQ(problem(replacing("x.mkv")), "");
  EXPECT_EQ(frames_in(file("x.mkv")), 30u);
}

}  // namespace
}  // namespace lensd::test

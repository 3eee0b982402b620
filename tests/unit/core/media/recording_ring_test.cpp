// Ring buffers of recordings: length, size, journal, restarts. Only files of the ring are deleted.

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "core/media/output/files/file_ring.hpp"
#include "tests/unit/core/media/recording_fixture.hpp"

namespace lensd::test {
namespace {

TEST_F(RecordingTest, ARingKeepsTheLastSecondsAndNoOtherFilesAreDeleted) {
  put("r-000.mkv", "not ours");
  const RecordSettings settings = ring_of(3);
  Recording recording(settings, 25, "");
  recording.start(target("r.mkv"));
  write(recording, 0, 20);
  put("r-002.mkv", "another program's");
  write(recording, 20, 230);  // 10 files; the last 3 s are kept
  recording.stop();
  EXPECT_EQ(get("r-000.mkv"), "not ours");
  EXPECT_EQ(get("r-002.mkv"), "another program's");
  auto made = files();
  std::erase_if(made, [&](const std::string& f) { return f == file("r-000.mkv") || f == file("r-002.mkv"); });
  ASSERT_EQ(made.size(), 3u);
  size_t frames = 0;
  for (const std::string& f : made) frames += frames_in(f);
  EXPECT_EQ(frames, 75u);
  EXPECT_EQ(made.back(), file("r-011.mkv"));
}

TEST_F(RecordingTest, ARingContinuesAfterRestarts) {
  const RecordSettings settings = ring_of(3);
  put("r-000.mkv", "not ours");
  for (int run = 0; run < 4; ++run) recorded(settings, "r.mkv", 50);  // as after a restart of the program
  EXPECT_EQ(get("r-000.mkv"), "not ours");
  EXPECT_EQ(files().size(), 1u + 3) << "the last three seconds";
  // A recording with another name does not delete these files.
  recorded(settings, "o.mkv", 25);
  EXPECT_EQ(files().size(), 1u + 3 + 1);
}

TEST_F(RecordingTest, ARingDeletesFilesOfKilledProcesses) {
  const RecordSettings settings = ring_of(1);
  for (int run = 0; run < 2; ++run) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      Recording recording(settings, 25, "");
      recording.start(target("r.mkv"));
      write(recording, 0, 20);
      _exit(0);  // as if killed: the file is not completed
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
  }
  ASSERT_EQ(files().size(), 2u);
  recorded(settings, "r.mkv", 60);
  for (const std::string& f : files())
    EXPECT_GT(f, file("r-002.mkv")) << "a file of a killed process is left";
}

TEST_F(RecordingTest, TheFolderOfARingMayHaveAPercentSign) {
  const std::string folder = file("50%");
  std::filesystem::create_directories(folder + "/cam");
  for (const std::string name : {"r.mkv", "cam/r.mkv"})
    for (int run = 0; run < 2; ++run) {
      Recording recording(ring_of(2), 25, "");
      recording.start({name, {.beneath = folder}});
      write(recording, 0, 60);
      recording.stop();
    }
  EXPECT_TRUE(std::filesystem::exists(folder + "/.r.mkv.ring"));
  EXPECT_TRUE(std::filesystem::exists(folder + "/cam/.r.mkv.ring"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/r-001.mkv")) << "a file of the first run is left";
  EXPECT_TRUE(std::filesystem::exists(folder + "/r-006.mkv"));
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    EXPECT_EQ(entry.path(), folder) << "a journal in another folder";
}

TEST_F(RecordingTest, ARingHasASize) {
  RecordSettings settings;
  settings.split_seconds = 1;
  settings.keep_gigabytes = 150e3 / 1e9;
  recorded(settings, "r.mkv", 500);
  uintmax_t bytes = 0;
  for (const std::string& f : files()) bytes += std::filesystem::file_size(f);
  EXPECT_LE(bytes, 150'000u);
  EXPECT_GT(bytes, 50'000u);
  EXPECT_LT(files().size(), 20u);
}

TEST_F(RecordingTest, AnInvalidJournalDeletesNothing) {
  const RecordSettings settings = ring_of(1);
  put("a.mkv", "mine");
  put(".r.mkv.ring", "c 1 1000 10 a.mkv\nc 0 0 0 ../a.mkv\nc 99999999999999999999 -5 x\n\no\nc 5");
  recorded(settings, "r.mkv", 100);
  EXPECT_EQ(get("a.mkv"), "mine");
  EXPECT_EQ(files().size(), 1u + 1);
}

class FileRingTest : public RecordingTest {
 protected:
  void add(FileRing& ring, const std::string& name) const {
    put(name, "footage");
    ring.opened(file(name), file_state(file(name))->identity);
    ring.ended(1'000'000'000);
    ring.closed(file(name));
  }
  static constexpr FileRing::Limits kLimits{.duration_ns = 2'000'000'000};
};

TEST_F(FileRingTest, WritesADeletedJournalAgain) {
  {
    FileRing ring(file("r.mkv"), "", kLimits);
    add(ring, "r-001.mkv");
    std::filesystem::remove(file(".r.mkv.ring"));
    add(ring, "r-002.mkv");
  }
  FileRing after_restart(file("r.mkv"), "", kLimits);
  add(after_restart, "r-003.mkv");
  EXPECT_EQ(files(), (std::vector<std::string>{file("r-002.mkv"), file("r-003.mkv")}));
}

TEST_F(FileRingTest, KeepsTheFilesOfAJournalThatReplacedItsOwn) {
  FileRing ring(file("r.mkv"), "", kLimits);
  add(ring, "r-001.mkv");
  // A program replaces the journal by a copy, so that another recording can lock it and list a file.
  std::filesystem::copy_file(file(".r.mkv.ring"), file("copy"));
  std::filesystem::rename(file("copy"), file(".r.mkv.ring"));
  {
    FileRing other(file("r.mkv"), "", kLimits);
    add(other, "r-002.mkv");
  }
  add(ring, "r-003.mkv");
  EXPECT_EQ(files(), (std::vector<std::string>{file("r-002.mkv"), file("r-003.mkv")}));
  add(ring, "r-004.mkv");
  EXPECT_EQ(files(), (std::vector<std::string>{file("r-003.mkv"), file("r-004.mkv")}));
}

TEST_F(RecordingTest, ARingDoesNotDeleteAReplacedFile) {
  const RecordSettings settings = ring_of(1);
  Recording recording(settings, 25, "");
  recording.start(target("r.mkv"));
  write(recording, 0, 30);
  std::filesystem::rename(file("r-001.mkv"), file("kept.mkv"));
  put("r-001.mkv", "another");
  write(recording, 30, 100);
  recording.stop();
  EXPECT_EQ(get("r-001.mkv"), "another");
  EXPECT_EQ(frames_in(file("kept.mkv")), 25u);
}

}  // namespace
}  // namespace lensd::test

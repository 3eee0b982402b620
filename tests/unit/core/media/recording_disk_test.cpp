// Rings on disks that are full, and on file systems without lasting inode numbers.

#include "tests/unit/core/media/recording_fixture.hpp"
#include "tests/unit/core/media/system_calls.hpp"

namespace lensd::test {
namespace {

constexpr ImageFormat kBig{PixelFormat::rgba8, {160, 120}};

class RecordingDiskTest : public RecordingTest {
 protected:
  int64_t bytes_of_all() const {
    int64_t sum = 0;
    for (const std::string& f : files()) sum += static_cast<int64_t>(std::filesystem::file_size(f));
    return sum;
  }
};

TEST_F(RecordingDiskTest, AFullDiskShortensTheRingAndLosesNothing) {
  put("other.txt", "not ours");
  RecordSettings settings = ring_of(3600);
  Recording recording(settings, 25, "");
  recording.start(target("r.mkv"));
  write(recording, 0, 100, kBig);
  const std::string oldest = files()[1];
  ASSERT_EQ(oldest, file("r-001.mkv"));
  const SmallDisk disk(folder_.path(), 2 * bytes_of_all());
  write(recording, 100, 400, kBig);
  recording.stop();
  EXPECT_FALSE(std::filesystem::exists(oldest)) << "the oldest file was not deleted";
  EXPECT_EQ(get("other.txt"), "not ours");
  auto kept = files();
  std::erase(kept, file("other.txt"));
  ASSERT_GE(kept.size(), 4u) << "deletes more than necessary";
  EXPECT_EQ(kept.back(), file("r-020.mkv"));
  EXPECT_EQ(recording.report().frames, 500);
  for (const std::string& f : kept) EXPECT_EQ(frames_in(f), 25u) << f;
}

TEST_F(RecordingDiskTest, AFullDiskDoesNotDeleteTheOnlyFile) {
  RecordSettings settings = ring_of(3600);
  Recording recording(settings, 25, "");
  recording.start(target("r.mkv"));
  write(recording, 0, 45, kBig);                         // one complete file
  const SmallDisk disk(folder_.path(), bytes_of_all());  // as if another program had filled the disk
  EXPECT_THROW(write(recording, 45, 100, kBig), Error);
  EXPECT_EQ(frames_in(file("r-001.mkv")), 25u);
}

TEST_F(RecordingDiskTest, WithoutARingNothingIsDeleted) {
  RecordSettings settings;
  settings.split_seconds = 1;
  Recording recording(settings, 25, "");
  recording.start(target("r.mkv"));
  write(recording, 0, 95, kBig);  // three complete files
  const SmallDisk disk(folder_.path(), bytes_of_all());
  EXPECT_THROW(write(recording, 95, 100, kBig), Error);
  for (int i = 1; i <= 3; ++i) EXPECT_EQ(frames_in(file("r-00" + std::to_string(i) + ".mkv")), 25u);
}

TEST_F(RecordingDiskTest, ARingFollowsItsFilesWithoutLastingInodes) {
  const ChangingInodes exfat(folder_.path());
  for (int run = 0; run < 3; ++run) recorded(ring_of(3), "r.mkv", 100);
  EXPECT_EQ(files().size(), 3u) << "files of earlier runs or of this one are left";
}

TEST_F(RecordingDiskTest, AReplacedFileStaysWithoutLastingInodes) {
  const ChangingInodes exfat(folder_.path());
  recorded(ring_of(2), "r.mkv", 50);
  const std::string footage = get("r-001.mkv");
  std::filesystem::remove(file("r-001.mkv"));
  put("r-001.mkv", footage);
  recorded(ring_of(2), "r.mkv", 100);
  EXPECT_EQ(get("r-001.mkv"), footage) << "deleted, although its birth time differs";
}

TEST_F(RecordingDiskTest, WithoutInodesAndBirthTimesNothingIsDeletedByMistake) {
  const ChangingInodes sshfs(folder_.path(), false);
  recorded(ring_of(1), "r.mkv", 50);
  recorded(ring_of(1), "r.mkv", 50);
  EXPECT_EQ(files().size(), 4u);
}

}  // namespace
}  // namespace lensd::test

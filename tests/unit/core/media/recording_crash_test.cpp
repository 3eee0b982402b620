// Recordings whose process is killed at random times: the file loses at most the last second.
//
// A child process records as fast as it can and counts its frames in shared memory until SIGKILL. 20 kills
// for each container, 500 with LENSD_LONG=1.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <random>
#include <thread>

#include "core/base/error.hpp"
#include "core/media/recording.hpp"
#include "tests/unit/core/media/media_fixture.hpp"

namespace lensd::test {
namespace {

constexpr ImageFormat kCrashFormat{PixelFormat::rgba8, {160, 120}};
constexpr int64_t kFps = 25;

int kills() {
  return std::getenv("LENSD_LONG") ? 500 : 20;
}

/// A counter in memory that is shared with child processes.
class SharedCounter {
 public:
  SharedCounter()
      : value_(static_cast<std::atomic<int64_t>*>(mmap(nullptr, sizeof(std::atomic<int64_t>),
                                                       PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                                                       0))) {}
  ~SharedCounter() { munmap(value_, sizeof *value_); }
  std::atomic<int64_t>& operator*() const { return *value_; }

 private:
  std::atomic<int64_t>* value_;
};

class CrashTest : public MediaTest, public testing::WithParamInterface<const char*> {
 protected:
  /// Records until the process is killed. `recorded`: the number of frames written.
  [[noreturn]] void record_for_ever(const std::string& path, std::atomic<int64_t>& recorded) const {
    try {
      std::vector<Image> pictures;
      for (int i = 0; i < 8; ++i) pictures.push_back(picture(kCrashFormat, i));
      RecordSettings settings;
      Recording recording(settings, kFps, "");
      recording.start({path, {}});
      for (int64_t i = 0;; ++i) {
        recording.write(pictures[static_cast<size_t>(i % 8)].ref(), at(i, kFps));
        recorded.store(i + 1, std::memory_order_release);
      }
    } catch (...) {
      _exit(1);
    }
  }
};

TEST_P(CrashTest, LosesAtMostTheLastSecond) {
  std::mt19937 random(20240229);
  std::uniform_int_distribution<int> wait_us(0, 150'000);
  const std::string path = file(std::string("killed") + GetParam());
  int64_t worst = 0, begun = 0;
  for (int i = 0; i < kills(); ++i) {
    const SharedCounter recorded;
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) record_for_ever(path, *recorded);
    // Half of the kills come during the first frames, while the header and the first part are written.
    const int64_t least = i % 2 ? 100 : 1;
    int status = 0;
    while ((*recorded).load() < least && waitpid(child, &status, WNOHANG) == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::microseconds(wait_us(random)));
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child exited early";
    const int64_t frames = (*recorded).load();
    size_t played = 0;
    try {
      auto source = open_source(path, {});
      played = read_all(*source).infos.size();
    } catch (const Error& error) {
      // In the first second there may be no file yet, or only its header.
      ASSERT_LE(frames, kFps) << error.what();
    }
    const int64_t lost = frames - static_cast<int64_t>(played);
    ASSERT_LE(lost, kFps) << "kill " << i << ": " << played << " of " << frames << " frames play";
    worst = std::max(worst, lost), begun += frames;
    std::filesystem::remove(path);
  }
  std::printf("%d kills of %s: at most %lld frames of %lld a second lost, %lld frames on average\n", kills(),
              GetParam(), static_cast<long long>(worst), static_cast<long long>(kFps),
              static_cast<long long>(begun / kills()));
}

INSTANTIATE_TEST_SUITE_P(Containers, CrashTest, testing::Values(".mkv", ".mp4"));

}  // namespace
}  // namespace lensd::test

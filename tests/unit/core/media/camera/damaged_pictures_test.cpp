// Damaged pictures of cameras: neither delivered nor silent, through the whole source.
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/image/view.hpp"
#include "core/media/camera/camera_monitor.hpp"
#include "core/media/input/ffmpeg_source.hpp"
#include "core/media/still.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/core/media/camera/fake_capture.hpp"

namespace lensd {
namespace {

using Bytes = std::vector<uint8_t>;

/// Returns a JPEG of the fake camera's size with enough texture for a scan of several kilobytes.
Bytes make_jpeg() {
  constexpr int kWidth = 64, kHeight = 48;
  Bytes pixels(size_t{4} * kWidth * kHeight);
  uint32_t noise = 1;
  for (uint8_t& value : pixels) value = static_cast<uint8_t>((noise = noise * 1664525 + 1013904223) >> 24);
  StillEncoder encoder(StillEncoder::Type::jpeg);
  const auto bytes = encoder.encode({pixels.data(), 4 * kWidth, {PixelFormat::rgba8, {kWidth, kHeight}}});
  return {bytes.begin(), bytes.end()};
}

class DamagedPictures : public testing::Test {
 protected:
  DamagedPictures() {
    options.live.camera_monitor = monitor;
    options.live.camera_device = [state = state](const std::string&) {
      return std::make_unique<FakeCapture>(state);
    };
    options.live.silence_ns = 100'000'000;
  }
  std::unique_ptr<FfmpegSource> open() { return std::make_unique<FfmpegSource>("/dev/video99", options); }
  static int pictures(FfmpegSource& source, int wanted) {
    int count = 0;
    for (Picture picture; count < wanted && source.next(picture) == FrameOutcome::ok;) ++count;
    return count;
  }
  static std::string problem(const auto& action) {
    try {
      action();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::bad_source);
      return e.problem();
    }
    return {};
  }

  std::shared_ptr<FakeCaptureState> state = std::make_shared<FakeCaptureState>();
  std::shared_ptr<CameraMonitor> monitor = std::make_shared<CameraMonitor>();
  SourceOptions options;
};

TEST_F(DamagedPictures, JpegsAreDroppedAndCounted) {
  state->formats = {V4L2_PIX_FMT_MJPEG};
  const Bytes whole = make_jpeg();
  ASSERT_GT(whole.size(), 2000u);
  Bytes cut = whole, padded = whole, scrambled = whole, empty = whole;
  cut.resize(whole.size() / 2);
  padded.resize(whole.size() + 300);  // within the buffer's size
  // No Huffman code consists of ones only. A zero follows every 0xFF of coded samples.
  for (size_t i = whole.size() / 2; i + 200 < whole.size(); i += 2) scrambled[i] = 0xFF, scrambled[i + 1] = 0;
  std::fill(empty.begin(), empty.end() - 2, uint8_t{0});
  for (const Bytes& bytes : {whole, cut, padded, scrambled, empty, whole}) state->push(1, bytes);
  const auto source = open();
  EXPECT_EQ(pictures(*source, 3), 3);
  EXPECT_EQ(monitor->broken, 3u);
  EXPECT_EQ(problem([&] { pictures(*source, 1); }), "no data for 0.1 s");
}

TEST_F(DamagedPictures, JpegsWithoutEndMarkerAreShownIfTheCameraWritesNone) {
  state->formats = {V4L2_PIX_FMT_MJPEG};
  Bytes open_end = make_jpeg();
  open_end.resize(open_end.size() - 2);
  state->push(3, open_end);
  EXPECT_EQ(pictures(*open(), 3), 3);
  EXPECT_EQ(monitor->broken, 0u);
}

TEST_F(DamagedPictures, TheReasonHasTheirNumber) {
  state->push(1);
  state->push(12, {}, V4L2_BUF_FLAG_ERROR);
  const auto source = open();
  EXPECT_EQ(pictures(*source, 1), 1);
  const std::string reason = problem([&] { pictures(*source, 1); });
  EXPECT_EQ(reason.substr(0, reason.find(" in ")), "the camera delivers only damaged pictures (12");
}

TEST_F(DamagedPictures, AStallHasTheirNumberToo) {
  options.live.stall_ns = 100'000'000, options.live.silence_ns = 60'000'000'000;
  state->push(2);
  const auto source = open_source("/dev/video99", options);
  state->push(5, {}, V4L2_BUF_FLAG_ERROR);
  EXPECT_TRUE(eventually([&] { return source->live_status().state == LiveState::stalled; }));
  EXPECT_TRUE(eventually([&] { return source->live_status().reason == "only damaged pictures (5)"; }))
      << source->live_status().reason;
  EXPECT_EQ(source->live_status().camera_broken, 5u);
}

TEST_F(DamagedPictures, ACameraThatDeliversNoOthersIsNotOpened) {
  state->push(5, {1, 2, 3});
  const std::string reason = problem([&] { open(); });
  EXPECT_EQ(reason.substr(0, reason.find(" in ")), "the camera delivers only damaged pictures (5");
}

TEST_F(DamagedPictures, UndecodableJpegsAreDamaged) {
  state->formats = {V4L2_PIX_FMT_MJPEG};
  state->push(1, make_jpeg());
  const auto source = open();
  EXPECT_EQ(pictures(*source, 1), 1);
  state->push(4, Bytes(1000, 0x55));
  const std::string reason = problem([&] { pictures(*source, 1); });
  EXPECT_EQ(reason.substr(0, reason.find(" in ")), "the camera delivers only damaged pictures (4");
}

}  // namespace
}  // namespace lensd

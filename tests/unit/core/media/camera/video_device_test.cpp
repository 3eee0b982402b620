// VideoDevice on a simulated driver: its buffers or write(), what the driver refuses, and slow drivers.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "core/base/error.hpp"
#include "core/media/output/video_device.hpp"
#include "tests/unit/core/media/camera/fake_output.hpp"

namespace lensd {
namespace {

constexpr int kWide = 16, kHigh = 8, kPictureBytes = kWide * kHigh * 3 / 2;

struct OutputFixture {
  std::unique_ptr<VideoDevice> open(int width = kWide, AVPixelFormat pixels = AV_PIX_FMT_YUV420P) const {
    AVCodecParameters* video = avcodec_parameters_alloc();
    video->format = pixels, video->color_range = AVCOL_RANGE_MPEG;
    video->width = width, video->height = kHigh;
    const std::unique_ptr<AVCodecParameters, void (*)(AVCodecParameters*)> owner(
        video, [](AVCodecParameters* p) { avcodec_parameters_free(&p); });
    return std::make_unique<VideoDevice>(std::make_unique<FakeOutput>(state), "/dev/video99", *video,
                                         AVRational{25, 1});
  }
  /// Returns the reason why the device does not open; fails the test if it does.
  std::string problem(int width = kWide, AVPixelFormat pixels = AV_PIX_FMT_YUV420P) const {
    try {
      open(width, pixels);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::bad_source);
      EXPECT_EQ(e.problem().find('\n'), std::string::npos) << e.problem();
      return e.problem();
    }
    ADD_FAILURE() << "the device opens";
    return {};
  }
  static std::vector<uint8_t> content(uint8_t first) {
    std::vector<uint8_t> bytes(kPictureBytes);
    for (uint8_t& byte : bytes) byte = first++;
    return bytes;
  }
  static int write(VideoDevice& device, std::vector<uint8_t> bytes) {
    const ff::PacketPtr packet = ff::make_packet();
    packet->data = bytes.data(), packet->size = static_cast<int>(bytes.size());
    return device.write(*packet);
  }

  std::shared_ptr<FakeOutputState> state = std::make_shared<FakeOutputState>();
};

TEST(VideoDevice, WritesWithTheDriversBuffers) {
  OutputFixture f;
  auto device = f.open();
  EXPECT_TRUE(device->uses_buffers());
  const v4l2_pix_format& format = f.state->format.fmt.pix;
  EXPECT_EQ(format.pixelformat, V4L2_PIX_FMT_YUV420);
  EXPECT_EQ(format.field, static_cast<uint32_t>(V4L2_FIELD_NONE));
  EXPECT_EQ(format.priv, V4L2_PIX_FMT_PRIV_MAGIC) << "else the kernel ignores matrix and range";
  EXPECT_EQ(format.ycbcr_enc, static_cast<uint32_t>(V4L2_YCBCR_ENC_601));
  EXPECT_EQ(format.quantization, static_cast<uint32_t>(V4L2_QUANTIZATION_LIM_RANGE));
  EXPECT_EQ(f.state->interval.numerator, 1u);
  EXPECT_EQ(f.state->interval.denominator, 25u);
  for (uint8_t i = 0; i < 20; ++i) {
    EXPECT_EQ(f.write(*device, f.content(i)), 0) << int{i};
    f.state->show();
  }
  ASSERT_EQ(f.state->shown.size(), 19u) << "the driver keeps the newest picture";
  for (uint8_t i = 0; i < 19; ++i) EXPECT_EQ(f.state->shown[i], f.content(i)) << int{i};
  EXPECT_EQ(f.state->calls[VIDIOC_STREAMON], 1);
  device.reset();
  EXPECT_FALSE(f.state->streaming);
}

TEST(VideoDevice, OpensWithoutARateIfTheDriverHasNone) {
  OutputFixture fixed;
  fixed.state->rates = false;
  EXPECT_TRUE(fixed.open());
  EXPECT_EQ(fixed.state->calls[VIDIOC_S_PARM], 0);
  for (const unsigned long request : {VIDIOC_G_PARM, VIDIOC_S_PARM}) {
    OutputFixture f;
    f.state->failures[request] = ENOTTY;
    EXPECT_TRUE(f.open());
    EXPECT_EQ(f.state->interval.denominator, 0u);
    EXPECT_EQ(f.state->calls[VIDIOC_S_PARM], request == VIDIOC_S_PARM ? 1 : 0);
  }
}

TEST(VideoDevice, RowsMayBePadded) {
  for (const bool multi : {false, true}) {
    OutputFixture f;
    f.state->padding = 16;
    if (multi) f.state->capabilities = V4L2_CAP_VIDEO_OUTPUT_MPLANE | V4L2_CAP_STREAMING;
    auto device = f.open();
    for (int i = 0; i < 2; ++i) ASSERT_EQ(f.write(*device, f.content(0)), 0);
    f.state->show();
    ASSERT_EQ(f.state->shown.size(), 1u);
    const std::vector<uint8_t>& shown = f.state->shown.front();
    constexpr int kPitch = kWide + 16;
    EXPECT_EQ(shown[kPitch], kWide) << "second row of luma";
    EXPECT_EQ(shown[kPitch * kHigh], kWide * kHigh) << "first row of Cb";
    EXPECT_EQ(shown[kPitch * kHigh + kPitch / 2], kWide * kHigh + kWide / 2) << "second row of Cb";
    EXPECT_EQ(shown[kPitch * kHigh * 5 / 4], kWide * kHigh * 5 / 4) << "first row of Cr";
  }
}

TEST(VideoDevice, WritesWithoutBuffersIfTheDriverHasNone) {
  for (const bool refuses : {false, true}) {  // refuses: it announces buffers, but does not allocate them
    OutputFixture f;
    f.state->capabilities = V4L2_CAP_VIDEO_OUTPUT | V4L2_CAP_READWRITE;
    if (refuses) f.state->capabilities |= V4L2_CAP_STREAMING, f.state->failures[VIDIOC_REQBUFS] = EINVAL;
    auto device = f.open();
    EXPECT_FALSE(device->uses_buffers());
    EXPECT_EQ(f.write(*device, f.content(3)), 0);
    ASSERT_EQ(f.state->shown.size(), 1u);
    EXPECT_EQ(f.state->shown.front(), f.content(3));
    f.state->write_error = EAGAIN;
    EXPECT_EQ(f.write(*device, f.content(4)), StreamConnection::kNotSent);
    f.state->write_error = ENODEV;
    EXPECT_EQ(f.write(*device, f.content(5)), AVERROR(ENODEV));
  }
}

TEST(VideoDevice, WritesWithoutBuffersIfTheDriverHasNoMemoryForThem) {
  for (const bool one : {false, true}) {  // one: the driver allocates a single buffer
    OutputFixture f;
    f.state->capabilities |= V4L2_CAP_READWRITE;
    if (one)
      f.state->memory.resize(1);
    else
      f.state->failures[VIDIOC_QUERYBUF] = ENOMEM;
    auto device = f.open();
    EXPECT_FALSE(device->uses_buffers());
    EXPECT_EQ(f.write(*device, f.content(3)), 0) << "the driver's buffers are freed";
  }
}

TEST(VideoDevice, NamesWhatTheDriverRefuses) {
  const auto problem_with = [](auto change, int width = kWide) {
    OutputFixture f;
    change(*f.state);
    return f.problem(width);
  };
  using State = FakeOutputState;
  EXPECT_NE(problem_with([](State& s) {
              s.capabilities = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
            }).find("takes no pictures"),
            std::string::npos);
  EXPECT_NE(problem_with([](State& s) { s.capabilities = V4L2_CAP_VIDEO_OUTPUT; }).find("neither"),
            std::string::npos);
  EXPECT_NE(problem_with([](State& s) { s.memory.resize(1); }).find("no memory for its buffers"),
            std::string::npos);
  EXPECT_EQ(problem_with([](State& s) { s.fourcc = V4L2_PIX_FMT_YUYV; }),
            "the device takes pictures in the format YUYV, not YU12");
  EXPECT_EQ(problem_with([](State& s) { s.width = 64; }),
            "the device takes pictures of 64×8, not 16×8 (add a resize node)");
  EXPECT_NE(problem_with([](State& s) { s.failures[VIDIOC_S_FMT] = EBUSY; }).find("in use by another"),
            std::string::npos);
  EXPECT_NE(problem_with([](State& s) { s.failures[VIDIOC_REQBUFS] = EBUSY; }).find("in use by another"),
            std::string::npos);
  EXPECT_NE(problem_with([](State& s) { s.failures[VIDIOC_QUERYCAP] = ENOTTY; }).find("not a video device"),
            std::string::npos);
}

/// The device is unplugged at each request of opening in turn.
TEST(VideoDevice, UnpluggingIsReported) {
  const OutputFixture whole;
  whole.open();
  for (const auto& [request, count] : whole.state->calls) {
    if (request == VIDIOC_G_PARM || request == VIDIOC_S_PARM || request == VIDIOC_STREAMOFF) continue;
    OutputFixture f;
    f.state->failures[request] = ENODEV;
    EXPECT_NE(f.problem().find("there is no such device"), std::string::npos) << std::hex << request;
  }
  OutputFixture f;
  auto device = f.open();
  EXPECT_EQ(f.write(*device, f.content(0)), 0);
  f.state->failures[VIDIOC_QBUF] = ENODEV;
  EXPECT_EQ(f.write(*device, f.content(1)), AVERROR(ENODEV));
  EXPECT_NE(device->reason(AVERROR(ENODEV)).find("there is no such device"), std::string::npos);
}

TEST(VideoDevice, ASlowDriverNeverBlocks) {
  OutputFixture f;
  auto device = f.open();
  int sent = 0;
  for (uint8_t i = 0; i < 50; ++i) {
    const int result = f.write(*device, f.content(i));
    ASSERT_GE(result, 0);
    sent += result == 0;
    if (i % 5 == 4) f.state->show();
  }
  EXPECT_EQ(sent, 4 + 9) << "its buffers, then one for each picture that it has shown";
  // If the driver stops accepting pictures, the device fails after 3 s.
  const auto begin = std::chrono::steady_clock::now();
  int result = 0;
  while ((result = f.write(*device, f.content(0))) >= 0 &&
         std::chrono::steady_clock::now() - begin < std::chrono::seconds(10))
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(result, AVERROR(ETIMEDOUT));
  EXPECT_GT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(2500));
  EXPECT_NE(device->reason(result).find("has taken no picture"), std::string::npos);
}

TEST(VideoDevice, AShortPacketIsRefused) {
  OutputFixture f;
  auto device = f.open();
  EXPECT_EQ(f.write(*device, {1, 2, 3}), AVERROR(EINVAL));
  EXPECT_TRUE(f.state->queued.empty());
}

}  // namespace
}  // namespace lensd

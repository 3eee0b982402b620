// The signal of grabbers: lost, unstable, with another TV standard, interlaced.
#include <gtest/gtest.h>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/media/camera/v4l2_capture.hpp"
#include "core/media/ffmpeg/picture_info.hpp"
#include "core/media/source.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/core/media/camera/fake_capture.hpp"

namespace lensd {
namespace {

class SignalTest : public testing::Test {
 protected:
  std::unique_ptr<V4l2Capture> open(const V4l2Capture::Options& choice = {}) {
    return std::make_unique<V4l2Capture>(std::make_unique<FakeCapture>(state), "/dev/video99", "camera",
                                         RequestedMode{}, choice);
  }
  std::string problem_of_opening() {
    try {
      open();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::bad_source);
      return e.problem();
    }
    return {};
  }

  FieldOrder fields_of_next_picture(V4l2Capture& camera) {
    state->push(1);
    PictureAllocator allocator(MemoryKind::host);
    const ff::FramePtr frame = ff::make_frame();
    EXPECT_EQ(camera.read(*frame, allocator), 0);
    return fields_of(*frame, {}, AV_CODEC_ID_RAWVIDEO);
  }

  std::shared_ptr<FakeCaptureState> state = std::make_shared<FakeCaptureState>();
};

TEST_F(SignalTest, TimingsThatCannotBeReadAreReasons) {
  state->failures[VIDIOC_QUERY_DV_TIMINGS] = ENOLINK;
  EXPECT_EQ(problem_of_opening(), "no signal at the input");
  state->failures[VIDIOC_QUERY_DV_TIMINGS] = ENOLCK;
  EXPECT_EQ(problem_of_opening(), "no stable signal at the input");
  state->failures[VIDIOC_QUERY_DV_TIMINGS] = ERANGE;
  EXPECT_EQ(problem_of_opening().find("no stable signal"), 0u);
}

TEST_F(SignalTest, TheStandardOfTheSignalIsSet) {
  state->standard = V4L2_STD_PAL, state->detected = V4L2_STD_NTSC;
  auto camera = open();
  EXPECT_EQ(state->standard, V4L2_STD_NTSC);
  open({{"standard", "PAL"}});
  EXPECT_EQ(state->standard, V4L2_STD_PAL) << "the configured one";
  state->detected = V4L2_STD_ALL;
  open();
  EXPECT_EQ(state->standard, V4L2_STD_PAL) << "the driver cannot tell";

  camera = open();
  v4l2_event change = {};
  change.type = V4L2_EVENT_SOURCE_CHANGE, change.u.src_change.changes = V4L2_EVENT_SRC_CH_RESOLUTION;
  state->events.push_back(change);
  state->push(1);
  const ff::PacketPtr packet = ff::make_packet();
  EXPECT_EQ(camera->read(*packet), AVERROR(EIO)) << "reopened, which detects the standard again";
}

TEST_F(SignalTest, ChangesAreReportedForTheChosenInput) {
  state->inputs = 4;
  open();
  open({{"channel", "3"}});
  state->inputs = 0;
  open();
  EXPECT_EQ(state->sources, (std::vector<uint32_t>{0, 3, 0})) << "0: a device without inputs";
}

TEST_F(SignalTest, AScalerDeliversTheSizeOfTheSignal) {
  state->size_range = {.min_width = 16,
                       .max_width = 16384,
                       .step_width = 2,
                       .min_height = 16,
                       .max_height = 8640,
                       .step_height = 2};
  state->size = {640, 480};
  EXPECT_EQ(open()->size(), (Extent{640, 480}))
      << "the current one: the input has neither timings nor standard";
  state->standard = state->detected = V4L2_STD_PAL;
  EXPECT_EQ(open()->size(), (Extent{720, 576}));
  state->standard = state->detected = V4L2_STD_NTSC_M;
  EXPECT_EQ(open()->size(), (Extent{720, 480}));
  state->standard = state->detected = V4L2_STD_ALL, state->size = {320, 240};
  EXPECT_EQ(open()->size(), (Extent{320, 240})) << "the driver does not know the number of lines";
  state->standard = state->detected = 0;
  state->timings = {1920, 1081};
  EXPECT_EQ(open()->size(), (Extent{1920, 1080})) << "on a step of the range";
  state->timings = {20000, 10000};
  EXPECT_EQ(open()->size(), (Extent{16384, 8640})) << "inside the range";
  state->failures[VIDIOC_G_DV_TIMINGS] = ENOTTY;
  V4l2Capture large(std::make_unique<FakeCapture>(state), "/dev/video99", "camera",
                    {.format = {}, .size = {4096, 2160}}, {});
  EXPECT_EQ(large.size(), (Extent{4096, 2160})) << "as requested";
}

TEST_F(SignalTest, InterlacedPicturesAreMarked) {
  EXPECT_EQ(fields_of_next_picture(*open()), FieldOrder::progressive);
  state->field = V4L2_FIELD_INTERLACED_BT;
  EXPECT_EQ(fields_of_next_picture(*open()), FieldOrder::bottom_first);
  state->field = V4L2_FIELD_INTERLACED;
  EXPECT_EQ(fields_of_next_picture(*open()), FieldOrder::top_first);
  state->standard = state->detected = V4L2_STD_NTSC_M;
  EXPECT_EQ(fields_of_next_picture(*open()), FieldOrder::bottom_first);
  state->standard = state->detected = V4L2_STD_PAL;
  EXPECT_EQ(fields_of_next_picture(*open()), FieldOrder::top_first);
}

TEST_F(SignalTest, SeparateFieldsAreRefusedByName) {
  for (const auto& [field, name] : {std::pair(V4L2_FIELD_ALTERNATE, "V4L2_FIELD_ALTERNATE"),
                                    std::pair(V4L2_FIELD_SEQ_TB, "V4L2_FIELD_SEQ_TB")}) {
    state->field = static_cast<uint32_t>(field);
    EXPECT_NE(problem_of_opening().find(name), std::string::npos);
  }
  state->fields_follow = true;
  EXPECT_EQ(fields_of_next_picture(*open()), FieldOrder::top_first) << "interlaced pictures on request";
}

TEST_F(SignalTest, ALostSignalIsTheReasonWhilePicturesCome) {
  SourceOptions options;
  options.live.camera_device = [state = state](const std::string&) {
    return std::make_unique<FakeCapture>(state);
  };
  options.live.stall_ns = 100'000'000;
  state->input_status = V4L2_IN_ST_NO_SIGNAL;
  state->push(2);
  const auto source = open_source("/dev/video99", options);
  EXPECT_EQ(source->live_status().reason, "no signal");
  EXPECT_TRUE(eventually([&] { return source->live_status().state == LiveState::stalled; }));
  EXPECT_EQ(source->live_status().reason, "no signal");
  {
    const std::lock_guard lock(state->mutex);
    state->input_status = 0;
  }
  EXPECT_TRUE(eventually([&] {
    state->push(1);
    return source->live_status().reason.empty();
  }));
  EXPECT_EQ(source->live_status().state, LiveState::playing);
}

}  // namespace
}  // namespace lensd

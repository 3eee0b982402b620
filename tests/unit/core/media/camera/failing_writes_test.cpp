// Writes that fail because the camera is being unplugged.
#include <gtest/gtest.h>

#include "tests/unit/core/media/camera/camera_fixture.hpp"

namespace lensd {
namespace {

constexpr int64_t kStepNs = 150'000'000;

struct FailingWrites : testing::Test {
  /// Serves the controls for a second.
  void serve() {
    for (int i = 0; i < 7; ++i) f.controls->service(time_ns += kStepNs);
  }

  int64_t time_ns = now_ns();
  CameraFixture f{false};
};

TEST_F(FailingWrites, ValuesThatFailBeforeTheKernelNoticesAreKept) {
  f.device.write_error = EPROTO;
  EXPECT_EQ(f.shared->set({{"gain", int64_t{30}}, {"mirror", true}}), "");
  for (int i = 0; i < 2; ++i) f.controls->service(time_ns += kStepNs);
  f.device.unplugged = true;
  f.controls->service(time_ns += kStepNs);
  f.device.unplugged = false, f.device.write_error = 0;
  f.replace_device();
  f.connect();
  f.service();
  EXPECT_EQ(f.device.at(4).value, 30);
  EXPECT_EQ(f.device.at(5).value, 1);
  EXPECT_EQ(f.notices(), "");
}

TEST_F(FailingWrites, AnErrorThatStaysIsARefusal) {
  f.device.write_error = EPROTO;
  EXPECT_EQ(f.shared->set({{"gain", int64_t{30}}}), "");
  f.controls->service(time_ns += kStepNs);
  EXPECT_EQ(f.value("gain"), ParamValue(int64_t{30})) << "still wanted";
  serve();
  EXPECT_EQ(f.notices(), "cannot set gain to 30: Protocol error\n");
  EXPECT_EQ(f.value("gain"), ParamValue(int64_t{10}));
  EXPECT_TRUE(f.shared->current(false)->wanted.empty());
}

// uvcvideo waits 5 s for the answer.
TEST_F(FailingWrites, ATimeoutIsARefusal) {
  f.device.write_error = ETIMEDOUT;
  EXPECT_EQ(f.shared->set({{"gain", int64_t{30}}}), "");
  serve();
  EXPECT_EQ(f.device.attempts, 1);
  EXPECT_EQ(f.notices(), "cannot set gain to 30: Connection timed out\n");
}

TEST_F(FailingWrites, ARestoredValueIsTriedAgain) {
  EXPECT_EQ(f.shared->set({{"gain", int64_t{30}}, {"mirror", true}}), "");
  f.service();
  f.replace_device();
  f.device.write_error = EPROTO;
  f.connect();
  f.device.write_error = 0;
  time_ns = now_ns();
  serve();
  EXPECT_EQ(f.device.written, (std::vector<uint32_t>{5, 4})) << "in their order";
  f.replace_device();
  f.device.write_error = EPROTO;
  f.connect();
  time_ns = now_ns();
  for (int i = 0; i < 2; ++i) serve();
  EXPECT_EQ(f.shared->current(false)->wanted.size(), 2u) << "the next connection tries again";
  EXPECT_EQ(f.notices(),
            "cannot set mirror to true: Protocol error\n"
            "cannot set gain to 30: Protocol error\n");
}

}  // namespace
}  // namespace lensd

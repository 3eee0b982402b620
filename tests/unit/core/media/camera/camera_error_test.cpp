// The messages for a camera's errors, with their remedies.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>

#include "core/base/error.hpp"
#include "core/media/camera/v4l2_capture.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/core/media/camera/fake_capture.hpp"

extern char** environ;

namespace lensd {
namespace {

/// Returns the message if starting the stream fails with `error`. `more`: further capabilities of the device.
std::string start_problem(int error, uint32_t more = 0) {
  const auto state = std::make_shared<FakeCaptureState>();
  state->capabilities |= more;
  state->failures[VIDIOC_STREAMON] = error;
  try {
    V4l2Capture(std::make_unique<FakeCapture>(state), "/dev/video99", "camera", {}, {});
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::bad_source) << "the condition may end";
    return e.problem();
  }
  return {};
}

TEST(CameraErrors, HaveRemedies) {
  EXPECT_EQ(start_problem(ENOSPC),
            "not enough USB bandwidth (choose format mjpeg, a smaller size, or another USB port)");
  EXPECT_EQ(start_problem(ENOMEM), "the driver has no memory for its buffers (choose a smaller size)");
  EXPECT_EQ(start_problem(EPROTO), "camera error: Protocol error");
  EXPECT_EQ(camera_error(EACCES, "/dev/video0"),
            "no permission to open the camera (add yourself to the group 'video')");
  EXPECT_EQ(camera_error(EPERM, "/dev/video0"), camera_error(EACCES, "/dev/video0"));
  EXPECT_EQ(camera_error(ENODEV, "/dev/video0"),
            "there is no camera at /dev/video0 (plug it in; lensd doctor lists the cameras)");
}

TEST(CameraErrors, ARawNodeNamesPipewire) {
  const std::string expected =
      "the camera's media graph is not configured (raw node of an image processor; use the source pipewire:)";
  EXPECT_EQ(start_problem(ENOLINK, V4L2_CAP_IO_MC), expected);
  EXPECT_EQ(start_problem(EPIPE, V4L2_CAP_IO_MC), expected);
  EXPECT_EQ(start_problem(EPIPE), "camera error: Broken pipe");
  EXPECT_EQ(start_problem(EPROTO, V4L2_CAP_IO_MC), "camera error: Protocol error");
}

TEST(CameraErrors, ABusyCameraNamesItsUser) {
  EXPECT_EQ(camera_error(EBUSY, "/dev/video99"), "the camera is in use by another program");
  // Any character device does: another process opens it as its input.
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/full", O_RDONLY, 0);
  char name[] = "sleep", duration[] = "60";
  char* const arguments[] = {name, duration, nullptr};
  pid_t process = 0;
  ASSERT_EQ(posix_spawnp(&process, "sleep", &actions, nullptr, arguments, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  const std::string expected =
      "the camera is in use by another program (sleep, process " + std::to_string(process) + ")";
  EXPECT_TRUE(eventually([&] { return camera_error(EBUSY, "/dev/full") == expected; }))
      << camera_error(EBUSY, "/dev/full");
  kill(process, SIGKILL);
  waitpid(process, nullptr, 0);
}

}  // namespace
}  // namespace lensd

// Live sources without a connection: URLs, names of cameras and screens, and checks before opening.
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/base/error.hpp"
#include "core/media/cameras.hpp"
#include "core/media/live/live_options.hpp"
#include "core/media/live/live_state_machine.hpp"
#include "tests/unit/core/media/media_fixture.hpp"

namespace lensd {
namespace {

ExitCode refusal(const std::string& url, const LiveOptions& live = {}) {
  try {
    check_live_source(url, live);
  } catch (const Error& e) {
    return e.code();
  }
  return ExitCode::done;
}

TEST(LiveUrls, KindsAndParts) {
  EXPECT_EQ(classify("rtsp://camera/1"), UrlKind::network);
  EXPECT_EQ(classify("HTTPS://host/x"), UrlKind::network);
  EXPECT_EQ(classify("srt://:9000?mode=listener"), UrlKind::network);
  EXPECT_EQ(classify("ftp://host/x"), UrlKind::other);
  EXPECT_EQ(classify("file:///etc/passwd"), UrlKind::other);
  EXPECT_EQ(classify("/dev/video99"), UrlKind::camera);
  EXPECT_EQ(classify("v4l2:/dev/v4l/by-id/usb-x"), UrlKind::camera);
  EXPECT_EQ(classify("/dev/null"), UrlKind::other);
  EXPECT_EQ(classify("screen::0+10,20"), UrlKind::screen);
  EXPECT_EQ(classify("pipewire:"), UrlKind::pipewire);
  EXPECT_EQ(classify("pipewire:Desk camera"), UrlKind::pipewire);
  EXPECT_EQ(host_of("rtsp://user:p@ss@cam.local:554/live"), "cam.local");
  EXPECT_EQ(host_of("http://[::1]:80/"), "::1");
  EXPECT_EQ(host_of("udp://@:1234"), "");
  EXPECT_EQ(scheme_of("RTSP://x"), "rtsp");
  EXPECT_EQ(short_name("v4l2:/dev/v4l/by-id/usb-x"), "usb-x");
}

TEST(LiveUrls, ImpossibleSourcesAreRefused) {
  EXPECT_EQ(refusal("v4l2:/dev/null"), ExitCode::bad_source);
  EXPECT_EQ(refusal("v4l2:/etc/passwd"), ExitCode::bad_source);
  EXPECT_EQ(refusal("v4l2:video0"), ExitCode::bad_source);
  EXPECT_EQ(refusal("/dev/video99"), ExitCode::done);  // may be plugged in later
  EXPECT_EQ(refusal("rtsp:///nohost"), ExitCode::bad_source);
  EXPECT_EQ(refusal("udp://127.0.0.1:1234"), ExitCode::done);
  LiveOptions live;
  live.extra = {{"no_such_option", "1"}};
  for (const char* url : {"udp://127.0.0.1:1", "http://127.0.0.1/", "rtsp://h/", "srt://h:1", "/dev/video99"})
    EXPECT_EQ(refusal(url, live), ExitCode::invalid_config) << url;
  live.extra = {{"protocol_whitelist", "file"}};
  EXPECT_EQ(refusal("http://127.0.0.1/", live), ExitCode::invalid_config);
  live.extra = {{"fifo_size", "1000"}};
  EXPECT_EQ(refusal("udp://127.0.0.1:1", live), ExitCode::done);
  live.extra = {};
  live.size = {640, 480};
  EXPECT_EQ(refusal("rtsp://h/", live), ExitCode::invalid_config);
  EXPECT_EQ(refusal("/dev/video99", live), ExitCode::done);
}

TEST(LiveUrls, AddressesWithAnImpossiblePortAreRefused) {
  for (const char* url : {"udp://127.0.0.1", "udp://", "udp://@:99999", "udp://127.0.0.1:abc", "srt://host",
                          "http://host:/x", "rtsp://host:x/a", "rtmp://host:0/a", "http://[::1]:70000/"})
    EXPECT_EQ(refusal(url), ExitCode::bad_source) << url;
  for (const char* url :
       {"udp://:1234", "udp://@239.1.2.3:1234?reuse=1", "udp://host?localport=1234", "http://host/x:y",
        "rtsp://user:secret@host/a", "http://[::1]/", "http://[::1]:8443/", "http://user:pa#ss@host/x"})
    EXPECT_EQ(refusal(url), ExitCode::done) << url;
  LiveOptions live;
  live.extra = {{"localport", "1234"}};
  EXPECT_EQ(refusal("udp://host", live), ExitCode::done);
}

TEST(LiveUrls, NetworkSourcesCannotOpenFiles) {
  for (const char* scheme : {"rtsp", "http", "https", "udp", "srt", "rtmp"}) {
    std::string protocols = ",", demuxers = ",";
    protocols.append(allowed_protocols(scheme)).append(",");
    demuxers.append(allowed_demuxers(scheme)).append(",");
    for (const char* local : {",file,", ",pipe,", ",concat,", ",crypto,", ",data,", ",subfile,", ",unix,"})
      EXPECT_EQ(protocols.find(local), std::string::npos) << scheme << local;
    for (const char* list : {",hls,", ",concat,", ",dash,", ",sdp,", ",image2,", ",lavfi,"})
      EXPECT_EQ(demuxers.find(list), std::string::npos) << scheme << list;
  }
}

TEST(LiveUrls, InternalAddresses) {
  for (const char* host : {"127.0.0.1", "10.1.2.3", "172.20.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0",
                           "100.64.0.1", "::1", "fe80::1", "fd00::1", "::ffff:10.0.0.1", "224.0.0.1"})
    EXPECT_TRUE(is_internal_host(host)) << host;
  for (const char* host : {"8.8.8.8", "172.32.0.1", "192.169.0.1", "2001:4860:4860::8888"})
    EXPECT_FALSE(is_internal_host(host)) << host;
}

TEST(LiveScreen, TheOffsetIsSplitFromTheDisplay) {
  const ScreenOffset offset = screen_offset(":0.1+100,50");
  EXPECT_EQ(offset.display, ":0.1");
  EXPECT_EQ(offset.x, 100);
  EXPECT_EQ(offset.y, 50);
  EXPECT_EQ(screen_offset(":7").display, ":7");
  EXPECT_EQ(screen_offset(":7").x, 0);
}

TEST(LiveScreen, TheDisplayIsFromTheNameOrTheEnvironment) {
  const char* kept = std::getenv("DISPLAY");
  const std::string before = kept ? kept : "";
  setenv("DISPLAY", ":7", 1);
  EXPECT_EQ(screen_display("screen:"), ":7");
  EXPECT_EQ(screen_display("screen:+5,6"), ":7+5,6");
  EXPECT_EQ(screen_display("screen::1+5,6"), ":1+5,6");
  unsetenv("DISPLAY");
  EXPECT_THROW(screen_display("screen:"), Error);
  if (kept) setenv("DISPLAY", before.c_str(), 1);
}

TEST(Cameras, Names) {
  EXPECT_EQ(fourcc_text(0x47504A4D), "MJPG");
  EXPECT_EQ(fourcc_text(0x20203859), "Y8");
  EXPECT_EQ(fourcc_text(0xA0363159), "Y16-BE");
}

class CameraFolderTest : public test::MediaTest {};

TEST_F(CameraFolderTest, ListsOnlyCameras) {
  put("video0", "a file");
  put("videos", "");
  std::filesystem::create_symlink("/dev/null", folder_ / "video1");
  std::filesystem::create_symlink("nowhere", folder_ / "video2");
  EXPECT_TRUE(list_cameras(folder_.path()).empty());
  EXPECT_TRUE(list_cameras(file("missing")).empty());
  EXPECT_NE(never_a_camera(file("video0")), "");
  EXPECT_NE(never_a_camera("/dev/null"), "");
  EXPECT_EQ(never_a_camera(file("missing")), "");
  EXPECT_EQ(camera_obstacle(file("missing")),
            "there is no camera at " + file("missing") + " (plug it in; lensd doctor lists the cameras)");
}

TEST(LiveOpen, MustOpenFailsWithTheReason) {
  SourceOptions options;
  options.live.must_open = true;
  try {
    open_source("http://127.0.0.1:1/none.ts", options);
    FAIL() << "port 1 answered";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::bad_source);
    EXPECT_EQ(e.problem(), "connection refused");
  }
  const auto said = [&](const std::string& url) -> std::string {
    try {
      open_source(url, options);
      return "";
    } catch (const Error& e) {
      return e.what();
    }
  };
  EXPECT_EQ(said("/dev/video99"),
            "/dev/video99: there is no camera at /dev/video99 (plug it in; lensd doctor lists the cameras)");
  for (const char* scheme : {"http", "rtsp", "rtmp"}) {
    const std::string problem = said(std::string(scheme) + "://no-such-host.invalid/x");
    EXPECT_NE(problem.find("host 'no-such-host.invalid'"), std::string::npos) << problem;
  }
  const std::string problem = said("http://to#ken@no-such-host.invalid/x");  // "to" is not the host
  EXPECT_EQ(problem.find("'to'"), std::string::npos) << problem;
  EXPECT_NE(problem.find("%23"), std::string::npos) << problem;
}

TEST(LiveOpen, WithoutMustOpenTheSourceRetries) {
  auto source = open_source("http://127.0.0.1:1/none.ts?token=secret", {});
  EXPECT_TRUE(source->info().live);
  EXPECT_EQ(source->info().url.find("secret"), std::string::npos);
  EXPECT_EQ(source->live_status().state, LiveState::connecting);
  EXPECT_EQ(source->live_status().reason, "connection refused");
}

}  // namespace
}  // namespace lensd

// Kinds and short names of source URLs, without any file.
#include <gtest/gtest.h>

#include <utility>

#include "core/media/url.hpp"

namespace lensd {
namespace {

TEST(Url, Kinds) {
  EXPECT_EQ(classify("-"), UrlKind::standard_input);
  EXPECT_EQ(classify("test:testsrc2"), UrlKind::generated);
  EXPECT_EQ(classify("nothing/img_%04d.png"), UrlKind::sequence);
  EXPECT_EQ(classify("/tmp"), UrlKind::path);
  EXPECT_EQ(classify("gopher://host/1"), UrlKind::other);
  EXPECT_TRUE(is_sequence_pattern("a%d.png"));
  EXPECT_TRUE(is_sequence_pattern("100%%_%04d.png"));
  EXPECT_FALSE(is_sequence_pattern("%d_%d.png"));
  EXPECT_FALSE(is_sequence_pattern("100%.png"));
  EXPECT_FALSE(is_sequence_pattern("%s.png"));
}

TEST(Url, ShortNames) {
  EXPECT_EQ(short_name("/a/b/clip.mp4"), "clip.mp4");
}

TEST(Url, SchemesSelectTheKind) {
  for (const char* url : {"v4l2:usb-cam", "/dev/video999", "/dev/v4l/by-id/usb-cam"})
    EXPECT_EQ(classify(url), UrlKind::camera) << url;
  for (const char* url : {"rtsp://h", "rtsps://h", "http://h", "https://h", "udp://:1", "srt://h:1",
                          "rtmp://h", "rtmps://h", "RTSP://h"})
    EXPECT_EQ(classify(url), UrlKind::network) << url;
  EXPECT_EQ(classify("screen:+1,2"), UrlKind::screen);
  for (const char* url : {"pipewire:", "pipewire:cam", "portal:", "portal:camera"})
    EXPECT_EQ(classify(url), UrlKind::pipewire) << url;
  EXPECT_EQ(classify("ftp://host/1"), UrlKind::other);
  EXPECT_EQ(classify("/dev/null"), UrlKind::other);
  EXPECT_EQ(classify("nothing/img.png"), UrlKind::path);
  for (const UrlKind kind : {UrlKind::network, UrlKind::camera, UrlKind::pipewire, UrlKind::screen})
    EXPECT_TRUE(is_live(kind));
  for (const UrlKind kind : {UrlKind::path, UrlKind::sequence, UrlKind::standard_input, UrlKind::generated})
    EXPECT_FALSE(is_live(kind));
}

TEST(Url, PartsOfAddresses) {
  EXPECT_EQ(scheme_of("RTSP://a"), "rtsp");
  EXPECT_EQ(scheme_of("clip.mp4"), "");
  const std::pair<const char*, const char*> hosts[] = {
      {"rtsp://ada:p@camera.local:554/a?b@c", "camera.local"},
      {"http://[::1]:80/x", "::1"},
      {"http://host?x", "host"},
      {"http://host#x", "host"},
      {"http://host", "host"},
      {"http://a@b@c:1/", "c"},
      {"clip.mp4", ""}};
  for (const auto& [url, host] : hosts) EXPECT_EQ(host_of(url), host) << url;
  EXPECT_EQ(camera_path("v4l2:/dev/video0"), "/dev/video0");
  EXPECT_EQ(camera_path("/dev/video1"), "/dev/video1");
}

TEST(Url, PatternsHaveOneNumberOfUpTo99Digits) {
  for (const char* pattern : {"%d", "a%3d.png", "a%04d.png", "%%%d%%"})
    EXPECT_TRUE(is_sequence_pattern(pattern)) << pattern;
  for (const char* other : {"", "a.png", "%", "%%", "%%d", "%123d", "%0", "a%4", "%4x", "%d%d"})
    EXPECT_FALSE(is_sequence_pattern(other)) << other;
}

TEST(Url, NamesForPeople) {
  EXPECT_EQ(short_name("-"), "standard input");
  EXPECT_EQ(short_name("portal:"), "desktop portal");
  EXPECT_EQ(short_name("test:testsrc2=size=64x64"), "test:testsrc2");
  EXPECT_EQ(short_name("v4l2:/dev/v4l/by-id/usb-cam"), "usb-cam");
  EXPECT_EQ(short_name("nothing/img_%04d.png"), "img_%04d.png");
}

}  // namespace
}  // namespace lensd

// The cover pictures of audio files.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "core/media/still.hpp"
#include "tests/unit/common/local_server.hpp"
#include "tests/unit/core/media/media_fixture.hpp"

namespace lensd::test {
namespace {

/// Returns a number of four bytes of an ID3 tag.
std::string id3_number(size_t value, int bits_per_byte) {
  std::string bytes;
  for (int i = 3; i >= 0; --i)
    bytes += static_cast<char>(value >> (bits_per_byte * i) & ((1u << bits_per_byte) - 1));
  return bytes;
}

constexpr char kFrontCover = 3, kBackCover = 4;

std::string id3_picture(char type, const std::string& jpeg) {
  const std::string content =
      std::string("\0image/jpeg\0", 12) + std::string(1, type) + std::string(1, '\0') + jpeg;
  return "APIC" + id3_number(content.size(), 8) + std::string(2, '\0') + content;
}

/// Returns an MP3 file of silent frames with an ID3 tag.
std::string mp3_with_tag(const std::string& tag, int frames) {
  std::string mp3 = std::string("ID3\3\0\0", 6) + id3_number(tag.size(), 7) + tag;
  for (int i = 0; i < frames; ++i) mp3 += "\xFF\xFB\x90" + std::string(414, '\0');
  return mp3;
}

std::string mp3_with_cover(const std::string& jpeg, int frames) {
  return mp3_with_tag(id3_picture(kFrontCover, jpeg), frames);
}

TEST_F(MediaTest, TheCoverOfAnAudioFileLastsAsLongAsItsSound) {
  StillEncoder encoder(StillEncoder::Type::jpeg);
  Image image = picture({PixelFormat::rgba8, {64, 48}}, 0);
  const auto jpeg = encoder.encode(image.ref());
  put("a.mp3", mp3_with_cover(std::string(jpeg.begin(), jpeg.end()), 80));
  auto source = open_source(file("a.mp3"), {});
  const SourceInfo& info = source->info();
  EXPECT_EQ(info.picture.extent, (Extent{64, 48}));
  EXPECT_TRUE(info.has_audio);
  EXPECT_FALSE(info.image);
  EXPECT_GT(info.duration_ns, 2'000'000'000);
  const Decoded whole = read_all(*source);
  ASSERT_EQ(whole.infos.size(), 1u);
  EXPECT_EQ(whole.infos[0].pts_ns, 0);
  EXPECT_EQ(whole.infos[0].duration_ns, info.duration_ns);
  EXPECT_EQ(source->stream_errors(), "");
  std::filesystem::remove(file("a.mp3"));  // a seek does not open the file again
  const int64_t end = info.duration_ns;
  for (const int64_t position : {end / 2, end - 1, end + 1, int64_t{0}}) {
    source->seek(position);
    const Decoded part = read_all(*source);
    ASSERT_EQ(part.infos.size(), 1u) << position;
    EXPECT_EQ(part.infos[0].pts_ns, position);
    EXPECT_EQ(part.infos[0].duration_ns, std::max<int64_t>(end - position, 0)) << position;
    EXPECT_EQ(part.infos[0].index, 0) << position;
    EXPECT_EQ(part.digests, whole.digests);
  }
}

TEST_F(MediaTest, TheCoverOfAnAudioFileOnAServerIsShown) {
  StillEncoder encoder(StillEncoder::Type::jpeg);
  const Image image = picture({PixelFormat::rgba8, {64, 48}}, 0);
  const auto jpeg = encoder.encode(image.ref());
  const std::string mp3 = mp3_with_cover(std::string(jpeg.begin(), jpeg.end()), 80);
  LocalHttpServer server([&](int client, const std::string&) {
    LocalHttpServer::put(client, fmt::format("HTTP/1.1 200 OK\r\nConnection: close\r\n"
                                             "Content-Length: {}\r\n\r\n{}",
                                             mp3.size(), mp3));
  });
  SourceOptions options;
  options.live.must_open = true;
  const auto source = open_source(fmt::format("http://127.0.0.1:{}/a.mp3", server.port()), options);
  EXPECT_FALSE(source->info().live);
  EXPECT_TRUE(source->info().has_audio);
  EXPECT_EQ(source->info().picture.extent, (Extent{64, 48}));
  EXPECT_EQ(read_all(*source).infos.size(), 1u);
}

TEST_F(MediaTest, TheFrontCoverIsShown) {
  StillEncoder encoder(StillEncoder::Type::jpeg);
  const auto jpeg = [&](Extent size) {
    const Image image = picture({PixelFormat::rgba8, size}, 0);
    const auto bytes = encoder.encode(image.ref());
    return std::string(bytes.begin(), bytes.end());
  };
  const std::string front = id3_picture(kFrontCover, jpeg({64, 48}));
  const std::string back = id3_picture(kBackCover, jpeg({32, 24}));
  for (const std::string& tag : {front + back, back + front}) {
    put("a.mp3", mp3_with_tag(tag, 20));
    EXPECT_EQ(open_source(file("a.mp3"), {})->info().picture.extent, (Extent{64, 48}));
  }
}

TEST_F(MediaTest, ATrackThatACoverReplacesIsNamed) {
  StillEncoder encoder(StillEncoder::Type::jpeg);
  const Image image = picture({PixelFormat::rgba8, {64, 48}}, 0);
  const auto jpeg = encoder.encode(image.ref());
  put("a.mp3", mp3_with_cover(std::string(jpeg.begin(), jpeg.end()), 20));
  SourceOptions options;
  options.video_track = 2;
  const auto notices = open_source(file("a.mp3"), options)->take_notices();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].text, "a.mp3: it has no video track, so its cover picture is shown");
}

}  // namespace
}  // namespace lensd::test

// Sources: cut, broken and forged files, refusals.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

extern "C" {
#include <libavformat/avformat.h>
}

#include <algorithm>
#include <filesystem>
#include <thread>
#include <vector>

#include "core/media/input/stream_errors.hpp"
#include "tests/unit/core/media/media_fixture.hpp"

namespace lensd::test {
namespace {

constexpr ImageFormat kDamagedSource{PixelFormat::rgba8, {64, 48}};

TEST_F(MediaTest, CutFilesPlayToTheCut) {
  RecorderOptions avi;
  avi.codec = "mjpeg";
  record(file("whole.avi"), kDamagedSource, 50, avi);
  record(file("whole.mkv"), kDamagedSource, 50);
  record(file("whole.mp4"), kDamagedSource, 50);
  for (const std::string ending : {".avi", ".mkv", ".mp4"}) {
    const std::string whole = get("whole" + ending);
    size_t before = 0;
    for (const size_t percent : {1, 30, 60, 90, 97}) {
      put("cut" + ending, whole.substr(0, whole.size() * percent / 100));
      try {
        auto source = open_source(file("cut" + ending), {});
        const size_t frames = read_all(*source).infos.size();
        EXPECT_GE(frames, 1u);
        EXPECT_LE(frames, 50u);
        EXPECT_GE(frames + 1, before) << ending << " " << percent;
        if (frames < 45) {
          EXPECT_NE(source->stream_errors().find("the file ends early"), std::string::npos)
              << ending << " at " << percent << " %: " << frames << " frames, '" << source->stream_errors()
              << "'";
        }
        before = frames;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::bad_source) << ending << percent;
        EXPECT_EQ(before, 0u) << ending << percent << error.what();
      }
    }
    // Newer FFmpeg writes the index of a finished .mp4 at the end, so a cut .mp4 may be refused.
    if (ending != ".mp4") {
      EXPECT_GT(before, 30u) << ending;
    }
  }
}

TEST_F(MediaTest, AMissingImageOfASequenceIsNamed) {
  record(file("s_%03d.png"), kDamagedSource, 12);
  std::vector<std::filesystem::path> images;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    images.push_back(entry.path());
  std::ranges::sort(images);
  ASSERT_EQ(images.size(), 12u);
  std::filesystem::remove(images[3]);
  auto source = open_source(file("s_%03d.png"), {});
  EXPECT_EQ(read_all(*source).infos.size(), 3u);
  EXPECT_EQ(source->stream_errors(), "the file ends early: its next image is missing or cannot be read");
}

TEST_F(MediaTest, BrokenBytesAreCountedNotThrown) {
  RecorderOptions options;
  options.codec = "mpeg2video";
  record(file("a.mkv"), {PixelFormat::rgba8, {320, 240}}, 50, options);
  std::string bytes = get("a.mkv");
  for (size_t i = bytes.size() / 3; i < bytes.size() * 2 / 3; i += 97)
    bytes[i] = static_cast<char>(~bytes[i]);
  put("broken.mkv", bytes);
  auto source = open_source(file("broken.mkv"), {});
  EXPECT_GT(read_all(*source).infos.size(), 10u);
  EXPECT_NE(source->stream_errors(), "");
}

TEST_F(MediaTest, AForgedRateGivesIncreasingTimes) {
  RecorderOptions options;
  options.codec = "mjpeg";
  record(file("a.avi"), kDamagedSource, 12, options);
  std::string bytes = get("a.avi");
  const size_t rate = bytes.find("strh") + 28;  // scale and rate, little-endian
  bytes.replace(rate, 8, std::string("\xFF\xFF\xFF\x7F\1\0\0\0", 8));
  put("a.avi", bytes);
  const Decoded decoded = read_all(*open_source(file("a.avi"), {}));
  ASSERT_EQ(decoded.infos.size(), 12u);
  for (size_t i = 1; i < 12; ++i) EXPECT_GT(decoded.infos[i].pts_ns, decoded.infos[i - 1].pts_ns) << i;
}

TEST_F(MediaTest, TimesThatOverflowAreNoError) {  // for the sanitizers
  StreamErrors errors;
  const ff::PacketPtr packet = ff::make_packet();
  packet->pts = packet->dts = INT64_MAX - 1, packet->duration = INT64_MAX;
  errors.packet_read(*packet);
  packet->pts = packet->dts = INT64_MIN + 1, packet->duration = INT64_MIN + 1;
  errors.packet_read(*packet);
  EXPECT_EQ(errors.sentence(), "");
}

TEST_F(MediaTest, RefusalsAreOneSentence) {
  put("empty.mp4", "");
  put("one.mp4", "x");
  put("text.txt", std::string(3000, 'a') + "\nthis is only text\n");
  put("list.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n/etc/passwd\n#EXT-X-ENDLIST\n");
  put("list.ffconcat", "ffconcat version 1.0\nfile /etc/hostname\n");
  const auto expect = [&](const std::string& url, const std::string& words) {
    const Error error = refusal(url);
    EXPECT_EQ(error.code(), ExitCode::bad_source) << url;
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << url << ": " << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  };
  expect(file("missing.mp4"), "there is no such file");
  expect(file("empty.mp4"), "the file is empty");
  expect(file(""), "directory");
  expect(file("one.mp4"), "not a video or image");
  expect(file("text.txt"), "not a video or image");
  expect(file("list.m3u8"), "playlists");
  expect(file("list.ffconcat"), "playlists");
  expect(file("none_%04d.png"), "no image of this sequence");
  expect("test:nosuchthing", "not a generated video");
  expect("test:movie=/etc/passwd", "not a generated video");
  expect("test:testsrc2,drawtext=textfile=/etc/passwd", "only one source");
  put("pattern", "  @@  \n @  @ \n");
  for (const char* generator : {"life", "cellauto"})
    for (const std::string& arguments :
         {"filename=" + file("pattern"), "f=" + file("pattern"), file("pattern"),
          "size=64x48:f=" + file("pattern"), "'f'=" + file("pattern"), "f\\=" + file("pattern"),
          "/rule=" + file("pattern")})
      expect(fmt::format("test:{}={}", generator, arguments), "may not read files");
  EXPECT_EQ(open_source("test:life=size=64x48:rule=B3/S23:seed=1", {})->info().picture.extent,
            (Extent{64, 48}));
  EXPECT_EQ(open_source("test:cellauto=size=64x48:seed=1:rule=18", {})->info().picture.extent,
            (Extent{64, 48}));
  if (geteuid() != 0) {
    put("locked.mp4", "x");
    chmod(file("locked.mp4").c_str(), 0);
    expect(file("locked.mp4"), "no permission");
  }
}

TEST_F(MediaTest, ForgedSizesAreRefusedBeforeAllocation) {
  record(file("a_%d.png"), kDamagedSource, 1);
  std::string bytes = get("a_1.png");
  bytes[16] = 0, bytes[17] = 0, bytes[18] = static_cast<char>(0xEA), bytes[19] = 0x60;  // IHDR width 60000
  put("forged.png", bytes);
  EXPECT_EQ(refusal(file("forged.png")).code(), ExitCode::bad_source);
  bytes[16] = 0x7F;
  put("forged.png", bytes);
  EXPECT_EQ(refusal(file("forged.png")).code(), ExitCode::bad_source);

  // 16384×16000 with four 16-bit channels: within the limits, but too large for such a short file.
  bytes[16] = bytes[17] = bytes[19] = 0, bytes[18] = 0x40;
  bytes[20] = bytes[21] = 0, bytes[22] = 0x3E, bytes[23] = static_cast<char>(0x80);
  bytes[24] = 16, bytes[25] = 6;
  put("forged.png", bytes), put("forged_1.png", bytes);
  rusage before = {}, after = {};
  getrusage(RUSAGE_SELF, &before);
  EXPECT_NE(std::string(refusal(file("forged.png")).what()).find("too short for a picture of 16384×16000"),
            std::string::npos);
  EXPECT_EQ(refusal(file("forged_%d.png")).code(), ExitCode::bad_source);
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 200'000) << "KiB";
}

/// Returns a chunk of a PNG file.
std::string png_chunk(const std::string& tag, const std::string& data) {
  std::string out;
  const auto put = [&out](uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
  };
  put(static_cast<uint32_t>(data.size()));
  out += tag + data;
  uint32_t crc = 0xFFFFFFFF;
  for (const char c : tag + data) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
  }
  put(~crc);
  return out;
}

/// Writes a file with one PNG picture; the container says 64×48.
void mux_png(const std::string& path, const std::string& png) {
  AVFormatContext* context = nullptr;
  ASSERT_GE(avformat_alloc_output_context2(&context, nullptr, nullptr, path.c_str()), 0);
  AVStream* stream = avformat_new_stream(context, nullptr);
  stream->codecpar->codec_type = AVMEDIA_TYPE_VIDEO, stream->codecpar->codec_id = AV_CODEC_ID_PNG;
  stream->codecpar->width = 64, stream->codecpar->height = 48;
  stream->time_base = {1, 25};
  ASSERT_GE(avio_open(&context->pb, path.c_str(), AVIO_FLAG_WRITE), 0);
  ASSERT_GE(avformat_write_header(context, nullptr), 0);
  AVPacket* packet = av_packet_alloc();
  ASSERT_GE(av_new_packet(packet, static_cast<int>(png.size())), 0);
  std::copy(png.begin(), png.end(), packet->data);
  packet->pts = packet->dts = 0, packet->flags = AV_PKT_FLAG_KEY;
  EXPECT_GE(av_write_frame(context, packet), 0);
  EXPECT_GE(av_write_trailer(context), 0);
  av_packet_free(&packet);
  avio_closep(&context->pb);
  avformat_free_context(context);
}

TEST_F(MediaTest, ForgedSizesAreRefusedInEveryContainer) {
  // 16384×16000 with four 16-bit channels (2 GiB), and zlib data that ends at once.
  const std::string header = png_chunk("IHDR", std::string("\0\0\x40\0\0\0\x3E\x80\x10\x06\0\0\0", 13));
  const std::string data = std::string("\x78\x9C\x63\0\0\0\x01\0\x01", 9), sign = "\x89PNG\r\n\x1A\n";
  const std::string number(4, '\0'), text = png_chunk("tEXt", std::string("a\0b", 3));
  const std::string size("\0\0\x40\0\0\0\x3E\x80", 8), offset(8, '\0'), delay("\0\1\0\x19\0\0", 6);
  const std::string png = sign + text + header + png_chunk("IDAT", data) + png_chunk("IEND", "");
  const std::string apng = sign + header + png_chunk("acTL", std::string("\0\0\0\2\0\0\0\0", 8)) +
                           png_chunk("fcTL", number + size + offset + delay) + png_chunk("IDAT", data) +
                           png_chunk("fcTL", std::string("\0\0\0\1", 4) + size + offset + delay) +
                           png_chunk("fdAT", std::string("\0\0\0\2", 4) + data) + png_chunk("IEND", "");
  put("forged.png", png), put("forged.apng", apng);
  ASSERT_EQ(mkfifo(file("fifo").c_str(), 0600), 0);
  rusage before = {}, after = {};
  getrusage(RUSAGE_SELF, &before);
  const auto expect_short = [&](const std::string& name) {
    const std::string problem = refusal(file(name)).what();
    EXPECT_NE(problem.find("too short for a picture of 16384×16000"), std::string::npos) << problem;
  };
  expect_short("forged.png");
  expect_short("forged.apng");
  std::thread writer([&] { put("fifo", png); });  // its size is unknown
  expect_short("fifo");
  writer.join();

  for (const char* name : {"a.mkv", "a.avi"}) {
    mux_png(file(name), png);
    expect_short(name);
  }
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 200'000) << "KiB";
}

}  // namespace
}  // namespace lensd::test

// Sources: counts and times, audio, reused buffers, changes in mid-stream, palettes, pipes, hardware
// decoding.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string_view>
#include <thread>

#include "core/base/unique_fd.hpp"
#include "core/media/input/ffmpeg_source.hpp"
#include "core/media/input/input_checks.hpp"
#include "core/media/still.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/core/media/media_fixture.hpp"

namespace lensd::test {
namespace {

constexpr ImageFormat kPlainSource{PixelFormat::rgba8, {64, 48}};

TEST_F(MediaTest, AnAvifImageIsAStillImage) {
  const AVCodec* decoder = avcodec_find_decoder(AV_CODEC_ID_AV1);
  if (!decoder || std::string_view(decoder->name) == "av1") GTEST_SKIP() << "FFmpeg has no AV1 decoder here";
  const std::string hex =  // 16×16 pixels, from FFmpeg's encoder
      "00000020667479706176696600000000617669666d6966316d6961664d413141000000f76d657461000000000000002f68646c"
      "720000000000000000706963740000000000000000000000005069637475726548616e646c6572000000000e7069746d000000"
      "0000010000001e696c6f6300000000440000010001000000010000011f000000100000002869696e660000000000010000001a"
      "696e6665020000000001000061763031436f6c6f72000000006869707270000000496970636f00000014697370650000000000"
      "000010000000100000000e706978690000000001080000000c6176314381001c0000000013636f6c726e636c78000200020002"
      "800000001769706d61000000000000000100010401028304000000186d6461740a05180cffdb5432071800000140040c";
  std::string avif;
  for (size_t i = 0; i < hex.size(); i += 2)
    avif += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  put("a.avif", avif);
  const auto source = open_source(file("a.avif"), {});
  EXPECT_TRUE(source->info().image);
  EXPECT_EQ(source->info().picture.extent, (Extent{16, 16}));
  EXPECT_EQ(read_all(*source).infos.size(), 1u);
  source->seek(0);
  EXPECT_EQ(read_all(*source).infos.size(), 1u);
}

TEST_F(MediaTest, APhotoWithAPreviewIsOneImage) {
  StillEncoder encoder(StillEncoder::Type::jpeg);
  const auto jfif = [&](Extent size) {
    constexpr char kHeader[] = "\xFF\xE0\0\x10JFIF\0\1\1\0\0\1\0\1\0";
    const Image image = picture({PixelFormat::rgba8, size}, 0);
    const auto bytes = encoder.encode(image.ref());
    return std::string(bytes.begin(), bytes.end()).insert(2, std::string(kHeader, sizeof kHeader));
  };
  const std::string photo = jfif({160, 120}), preview = jfif({80, 60});
  for (const std::string& content : {photo + preview, photo + preview + jfif({40, 30})}) {
    put("a.jpg", content);
    const auto source = open_source(file("a.jpg"), {});
    EXPECT_TRUE(source->info().image);
    const Decoded whole = read_all(*source);
    ASSERT_EQ(whole.infos.size(), 1u);
    EXPECT_EQ(source->info().picture.extent, (Extent{160, 120}));
    EXPECT_EQ(source->stream_errors(), "");
    source->seek(0);
    EXPECT_EQ(read_all(*source).digests, whole.digests);
  }
}

TEST(ImageContainers, AreKnownByTheirBrand) {
  const auto holds = [](const char* container, const char* brand) {
    const ff::InputPtr context(avformat_alloc_context());
    context->iformat = av_find_input_format(container);
    av_dict_set(&context->metadata, "major_brand", brand, 0);
    const bool images = holds_images(*context);
    context->iformat = nullptr;
    return images;
  };
  for (const char* brand : {"avif", "mif1", "heic"}) EXPECT_TRUE(holds("mp4", brand)) << brand;
  for (const char* brand : {"isom", "avis", "qt  "}) EXPECT_FALSE(holds("mp4", brand)) << brand;
  EXPECT_TRUE(holds("ico", nullptr));
  EXPECT_FALSE(holds("matroska", "avif"));
}

TEST_F(MediaTest, GeneratedSourceHasRegularTimes) {
  auto source = open_source("test:testsrc2=size=160x120:rate=30:duration=1", {});
  EXPECT_EQ(source->info().picture.extent, (Extent{160, 120}));
  EXPECT_NEAR(source->info().fps, 30, 1e-9);
  EXPECT_FALSE(source->info().image);
  const Decoded decoded = read_all(*source);
  ASSERT_EQ(decoded.infos.size(), 30u);
  for (size_t i = 0; i < 30; ++i) {
    EXPECT_EQ(decoded.infos[i].index, static_cast<int64_t>(i));
    EXPECT_NEAR(static_cast<double>(decoded.infos[i].pts_ns), static_cast<double>(i) * 1e9 / 30, 1);
    EXPECT_EQ(decoded.infos[i].stamp_ns, decoded.infos[i].pts_ns) << "the stream begins at 0";
    EXPECT_GT(decoded.infos[i].capture_ns, 0);
  }
  EXPECT_NE(decoded.digests[0], decoded.digests[1]);
  EXPECT_EQ(source->stream_errors(), "");
  source->seek(500'000'000);
  const Decoded rest = read_all(*source);
  ASSERT_EQ(rest.infos.size(), 15u);
  EXPECT_EQ(rest.infos[0].index, 15);
  EXPECT_EQ(rest.digests[0], decoded.digests[15]);
}

TEST_F(MediaTest, DelayedPicturesAreNotMissing) {
  // With 16 threads the decoder returns its last 15 pictures only after the end of the file.
  for (const char* name : {"a.mkv", "a.mp4"}) {
    const std::string path = record(file(name), kPlainSource, 250);
    SourceOptions options;
    options.decoder_threads = 16;
    auto source = open_source(path, options);
    EXPECT_EQ(read_all(*source).infos.size(), 250u);
    EXPECT_EQ(source->stream_errors(), "") << name;
  }
}

TEST_F(MediaTest, ALongLastFrameIsNoEarlyEnd) {
  record(file("a.mkv"), kPlainSource, 50);
  std::string bytes = get("a.mkv");
  const size_t duration = bytes.find("\x44\x89\x88");  // Matroska's Duration: a double, in milliseconds
  ASSERT_NE(duration, std::string::npos);
  const double longer = 20'000;
  for (size_t i = 0; i < 8; ++i) bytes[duration + 3 + i] = reinterpret_cast<const char*>(&longer)[7 - i];
  put("held.mkv", bytes);
  auto source = open_source(file("held.mkv"), {});
  EXPECT_EQ(source->info().duration_ns, 20'000'000'000);
  EXPECT_EQ(read_all(*source).infos.size(), 50u);
  EXPECT_EQ(source->stream_errors(), "");
}

std::string le(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

std::string wav(int samples) {
  const auto bytes = static_cast<uint32_t>(samples * 2);
  std::string out = "RIFF" + le(36 + bytes, 4) + "WAVEfmt " + le(16, 4) + le(1, 2) + le(1, 2) + le(8000, 4) +
                    le(16000, 4) + le(2, 2) + le(16, 2) + "data" + le(bytes, 4);
  for (int i = 0; i < samples; ++i) out += le(static_cast<uint32_t>(i * 91), 2);
  return out;
}

TEST_F(MediaTest, AudioOnlyHasNoVideo) {
  put("a.wav", wav(8000));
  EXPECT_NE(std::string(refusal(file("a.wav")).what()).find("no video stream"), std::string::npos);
}

TEST_F(MediaTest, AudioIsCopiedIfTheContainerSupportsIt) {
  put("a.wav", wav(16000));
  RecorderOptions options;
  options.audio_from = file("a.wav");
  record(file("with.mkv"), kPlainSource, 50, options);
  auto source = open_source(file("with.mkv"), {});
  EXPECT_TRUE(source->info().has_audio);
  EXPECT_EQ(read_all(*source).infos.size(), 50u);
  options.audio_from = file("with.mkv");
  record(file("again.avi"), kPlainSource, 50, options);
  EXPECT_TRUE(open_source(file("again.avi"), {})->info().has_audio);
  record(file("without.webm"), kPlainSource, 5, options);  // WebM does not support PCM
  EXPECT_FALSE(open_source(file("without.webm"), {})->info().has_audio);
  options.audio_from.track = 2;  // there is no such track
  record(file("without.mkv"), kPlainSource, 5, options);
  EXPECT_FALSE(open_source(file("without.mkv"), {})->info().has_audio);
}

TEST_F(MediaTest, BuffersAreReused) {
  const std::string path = record(file("a.mp4"), kPlainSource, 150);
  SourceOptions options;
  options.decoder_threads = 1;  // with more threads, the number of buffers depends on timing
  FfmpegSource source(path, options);
  Picture held, picture;
  int after_warm_up = 0;
  for (int i = 0; i < 150; ++i) {
    ASSERT_EQ(source.next(picture), FrameOutcome::ok);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(picture.planes.planes[0]) % 32, 0u);
    EXPECT_EQ(picture.planes.pitch_bytes[0] % 64, 0);
    held = picture.share();
    if (i == 60) after_warm_up = source.blocks();
  }
  EXPECT_GT(after_warm_up, 0);
  EXPECT_EQ(source.blocks(), after_warm_up);
}

TEST_F(MediaTest, PicturesOutliveTheirSource) {
  const std::string path = record(file("a.mkv"), kPlainSource, 10);
  auto source = open_source(path, {});
  const std::string wanted = read_all(*source).digests[3];
  source = open_source(path, {});
  std::vector<Picture> kept(5);
  for (Picture& picture : kept) ASSERT_EQ(source->next(picture), FrameOutcome::ok);
  source.reset();
  EXPECT_EQ(digest(kept[3].planes), wanted);
  std::thread([pictures = std::move(kept)]() mutable { pictures.clear(); }).join();
}

TEST_F(MediaTest, SizeChangesInMidStreamAreDelivered) {
  RecorderOptions still;
  still.still = true;
  record(file("a.jpg"), kPlainSource, 1, still);
  record(file("b.jpg"), {PixelFormat::rgba8, {32, 80}}, 1, still);
  const std::string a = get("a.jpg"), b = get("b.jpg");
  put("ab.mjpeg", a + a + b + b + a);
  auto source = open_source(file("ab.mjpeg"), {});
  std::vector<Extent> extents;
  Picture picture;
  while (source->next(picture) == FrameOutcome::ok) extents.push_back(picture.planes.info.extent);
  EXPECT_EQ(extents, (std::vector<Extent>{{64, 48}, {64, 48}, {32, 80}, {32, 80}, {64, 48}}));
}

TEST_F(MediaTest, TheResolutionOfTimestampsIsNoRate) {
  const auto source = open_source("test:testsrc2=size=64x48:rate=90000", {});
  EXPECT_EQ(source->info().fps, 0);
  EXPECT_NEAR(open_source("test:testsrc2=size=64x48:rate=1000", {})->info().fps, 1000, 1e-9);
}

TEST_F(MediaTest, PaletteImagesBecomeRgba) {
  auto source = open_source("test:pal75bars=size=64x48:rate=5:duration=1", {});
  EXPECT_EQ(source->info().picture.format.model, ColourModel::yuv);
  // An uncompressed 8-bit BMP of 2×2 pixels with a palette of two colours.
  std::string bmp = "BM" + le(14 + 40 + 8 + 8, 4) + le(0, 4) + le(14 + 40 + 8, 4) + le(40, 4) + le(2, 4) +
                    le(2, 4) + le(1, 2) + le(8, 2) + le(0, 4) + le(8, 4) + le(0, 8) + le(2, 4) + le(2, 4);
  bmp += le(0x00102030, 4) + le(0x00A0B0C0, 4);
  bmp += std::string("\0\1\0\0", 4) + std::string("\1\0\0\0", 4);
  put("a.bmp", bmp);
  auto image = open_source(file("a.bmp"), {});
  EXPECT_TRUE(image->info().image);
  Picture picture;
  ASSERT_EQ(image->next(picture), FrameOutcome::ok);
  ASSERT_EQ(picture.planes.info.format.model, ColourModel::rgb);
  EXPECT_EQ(sample(picture.planes, 0, 1, 0), 0x10);
  EXPECT_EQ(sample(picture.planes, 0, 1, 1), 0x20);
  EXPECT_EQ(sample(picture.planes, 1, 1, 2), 0xC0);
}

TEST_F(MediaTest, TgaFilesHaveNoSignatureAndAreRecognisedByNameAndHeader) {
  // An uncompressed picture of 2×2 pixels with 24 bits, from the top.
  const std::string head =
      le(0, 2) + le(2, 1) + le(0, 5) + le(0, 4) + le(2, 2) + le(2, 2) + le(24, 1) + le(0x20, 1);
  const std::string pixels = le(0x102030, 3) + le(0x405060, 3) + le(0x708090, 3) + le(0xA0B0C0, 3);
  put("a.TGA", head + pixels);
  auto image = open_source(file("a.TGA"), {});
  EXPECT_TRUE(image->info().image);
  Picture picture;
  ASSERT_EQ(image->next(picture), FrameOutcome::ok);
  ASSERT_EQ(picture.planes.info.extent, (Extent{2, 2}));
  EXPECT_EQ(sample(picture.planes, 0, 0, 0), 0x10);
  EXPECT_EQ(sample(picture.planes, 1, 1, 2), 0xC0);
  EXPECT_EQ(image->next(picture), FrameOutcome::end_of_stream);

  put("text.tga", "This is text, and its name is wrong.");
  EXPECT_NE(std::string(refusal(file("text.tga"), {}).what()).find("not a video or image"),
            std::string::npos);
  put("short.tga", head.substr(0, 17));
  refusal(file("short.tga"), {});
  put("wide.tga", head.substr(0, 12) + le(0, 2) + le(2, 2) + le(24, 1) + le(0x20, 1) + pixels);
  refusal(file("wide.tga"), {});
}

TEST_F(MediaTest, SilentPipesCanBeInterruptedAndCancelled) {
  const std::string fifo = file("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::atomic<bool> cancel{false};
  SourceOptions options;
  options.cancel = &cancel;
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    cancel = true;
  });
  EXPECT_NE(std::string(refusal(fifo, options).what()).find("interrupted"), std::string::npos);
  canceller.join();

  RecorderOptions mjpeg;
  mjpeg.codec = "mjpeg";
  record(file("a.mkv"), kPlainSource, 20, mjpeg);
  const std::string bytes = get("a.mkv");
  std::atomic<bool> done{false};
  std::thread writer([&] {
    const int fd = open(fifo.c_str(), O_WRONLY);
    EXPECT_EQ(write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    while (!done) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    close(fd);
  });
  auto source = open_source(fifo, {});
  EXPECT_FALSE(source->info().seekable);
  EXPECT_THROW(source->seek(0), Error);
  std::thread interrupter([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const uint64_t waits = source->waits();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_GT(source->waits(), waits) << "the daemon's watchdog would take this for a hang";
    EXPECT_TRUE(eventually([&] { return source->data_wait_ns() >= 200'000'000; }));
    source->interrupt();
  });
  Picture picture;
  int frames = 0;
  FrameOutcome outcome;
  while ((outcome = source->next(picture)) == FrameOutcome::ok) ++frames;
  EXPECT_EQ(outcome, FrameOutcome::again);  // the writer is silent but has not closed the pipe
  EXPECT_GT(frames, 0);
  interrupter.join();
  done = true;
  writer.join();
}

TEST_F(MediaTest, ANameWithAZeroByteIsRefused) {
  record(file("a.mkv"), kPlainSource, 2);
  const std::string zero(1, '\0');
  for (const std::string& name : {file("a.mkv") + zero + "b", zero, "rtsp://host/" + zero}) {
    const Error error = refusal(name);
    EXPECT_EQ(error.problem(), "a name cannot contain a zero byte");
    EXPECT_NE(std::string(error.what()).find(error.problem()), std::string::npos) << "what() is cut";
  }
}

TEST_F(MediaTest, TwoSourcesReadTheSameStandardInput) {
  record(file("a.mkv"), kPlainSource, 200);
  const UniqueFd kept(dup(STDIN_FILENO)), input(open(file("a.mkv").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(dup2(input.get(), STDIN_FILENO), STDIN_FILENO);
  auto first = open_source("-", {});
  EXPECT_EQ(read_all(*first, 5).infos.size(), 5u);
  EXPECT_EQ(read_all(*open_source("-", {})).infos.size(), 200u);
  EXPECT_EQ(read_all(*first).infos.size(), 195u);
  dup2(kept.get(), STDIN_FILENO);
}

TEST_F(MediaTest, HardwareDecodingFailsOrFallsBack) {
  RecorderOptions ffv1;
  ffv1.codec = "ffv1";
  const std::string path = record(file("a.mkv"), kPlainSource, 3, ffv1);
  SourceOptions options;
  options.hwdec = HwDecode::cuda;
  EXPECT_EQ(refusal(path, options).code(), ExitCode::unavailable);  // NVDEC does not support FFV1
  options.hwdec = HwDecode::automatic;
  auto source = open_source(path, options);
  EXPECT_EQ(source->info().decoder, "software");
  EXPECT_EQ(read_all(*source).infos.size(), 3u);
}

}  // namespace
}  // namespace lensd::test

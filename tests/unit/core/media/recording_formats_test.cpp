// Pixel formats of recordings: every encoder gets a format that it supports.

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/pixdesc.h>
}

#include <fmt/format.h>

#include "core/media/ffmpeg/pixel_formats.hpp"
#include "core/media/output/encoders/container_support.hpp"
#include "core/media/output/encoders/encoder_format.hpp"
#include "core/media/output/muxer.hpp"
#include "tests/unit/core/media/source_recording_fixture.hpp"

namespace lensd::test {
namespace {

struct EncoderCase {
  const char* codec;
  PixelFormat format;
};

class RecordingEncoder : public RecordingTest, public testing::WithParamInterface<EncoderCase> {};

TEST_P(RecordingEncoder, GetsAFormatThatItSupports) {
  const auto& [codec, format] = GetParam();
  if (!avcodec_find_encoder_by_name(codec)) GTEST_SKIP() << "this FFmpeg has no " << codec;
  RecorderOptions options;
  options.codec = codec;
  record(file("out.mov"), {format, {64, 48}}, 3, options);
  EXPECT_EQ(frames_in(file("out.mov")), 3u);
}

std::vector<EncoderCase> encoder_cases() {
  std::vector<EncoderCase> out;
  for (const char* codec : {"prores_ks", "prores_aw", "libx264rgb", "r210", "v210", "qtrle"})
    for (const PixelFormat format :
         {PixelFormat::gray8, PixelFormat::rgba8, PixelFormat::gray16, PixelFormat::rgba16})
      out.push_back({codec, format});
  return out;
}

std::string encoder_case_name(const testing::TestParamInfo<EncoderCase>& info) {
  const PixelFormat format = info.param.format;
  return fmt::format("{}_{}{}", info.param.codec, is_gray(format) ? "gray" : "rgba",
                     8 * sample_bytes(format));
}

INSTANTIATE_TEST_SUITE_P(Encoders, RecordingEncoder, testing::ValuesIn(encoder_cases()), encoder_case_name);

TEST(ContainerSupport, RefusesCodecsThatTheMuxerDoesNotWrite) {
  const auto supports = [](const char* muxer, AVCodecID codec) {
    return supports_video(output_format_of(muxer, muxer), codec);
  };
  for (const AVCodecID codec : {AV_CODEC_ID_VP8, AV_CODEC_ID_VP9, AV_CODEC_ID_AV1, AV_CODEC_ID_RAWVIDEO}) {
    EXPECT_FALSE(supports("mov", codec)) << avcodec_get_name(codec);
    EXPECT_TRUE(supports("matroska", codec)) << avcodec_get_name(codec);
  }
  for (const AVCodecID codec : {AV_CODEC_ID_VP9, AV_CODEC_ID_AV1, AV_CODEC_ID_HEVC, AV_CODEC_ID_MPEG2VIDEO})
    EXPECT_TRUE(supports("mp4", codec)) << avcodec_get_name(codec);
  for (const AVCodecID codec : {AV_CODEC_ID_PRORES, AV_CODEC_ID_QTRLE, AV_CODEC_ID_V210, AV_CODEC_ID_H264})
    EXPECT_TRUE(supports("mov", codec)) << avcodec_get_name(codec);
}

TEST(ContainerSupport, HintsNameTypesThatFit) {
  const auto hint = [](const char* muxer, AVCodecID codec) {
    return unsupported_hint(output_format_of(muxer, muxer), codec);
  };
  EXPECT_EQ(hint("matroska", AV_CODEC_ID_QTRLE), "use .mov");
  EXPECT_EQ(hint("mov", AV_CODEC_ID_VP9), "use .mkv, .mp4, .webm or .avi");
  EXPECT_EQ(hint("mpegts", AV_CODEC_ID_FFV1), "choose another codec") << "a stream";
}

// ---- recordings of the source ---------------------------------------------------------------------------

TEST_F(SourceRecording, LosslessEncodersKeepTheSamplesOfCameraFormats) {
  constexpr AVPixelFormat kFormats[] = {AV_PIX_FMT_YUYV422, AV_PIX_FMT_UYVY422, AV_PIX_FMT_NV12,
                                        AV_PIX_FMT_NV21,    AV_PIX_FMT_NV16,    AV_PIX_FMT_NV24,
                                        AV_PIX_FMT_P010LE,  AV_PIX_FMT_Y210LE};
  for (const AVPixelFormat format : kFormats) {
    SCOPED_TRACE(av_get_pix_fmt_name(format));
    DecodedPicture decoded(format, {64, 48});
    for (const Range range : {Range::limited, Range::full}) {
      decoded.ref.info.colour.range = range;
      const std::string name =
          std::string(av_get_pix_fmt_name(format)) + (range == Range::full ? "f" : "l") + ".mkv";
      EXPECT_EQ(record_source(decoded.ref, {.codec = "ffv1"}, name), "");
      auto source = open_source(file(name), {});
      Picture got;
      ASSERT_EQ(source->next(got), FrameOutcome::ok);
      const PictureFormat &from = decoded.ref.info.format, &to = got.planes.info.format;
      EXPECT_EQ(got.planes.info.colour.range, range);
      EXPECT_EQ(to.depth, from.depth);
      EXPECT_EQ(to.chroma_shift_x, from.chroma_shift_x);
      EXPECT_EQ(to.chroma_shift_y, from.chroma_shift_y);
      EXPECT_EQ(got.planes.info.colour.siting,
                from.chroma_shift_x ? ChromaSiting::center : ChromaSiting::left);
      int different = 0;
      for (int c = 0; c < 3; ++c)
        for (int y = 0; y < 48 >> (c ? from.chroma_shift_y : 0); ++y)
          for (int x = 0; x < 64 >> (c ? from.chroma_shift_x : 0); ++x)
            different += sample_of(got.planes, c, x, y) != sample_of(decoded.ref, c, x, y);
      EXPECT_EQ(different, 0);
    }
  }
}

TEST_F(SourceRecording, LossyEncodersKeepSubsamplingAndDepth) {
  const DecodedPicture yuyv(AV_PIX_FMT_YUYV422, {64, 48});
  EXPECT_EQ(recorded(yuyv.ref, {.codec = "libx264"}).format, *picture_format(AV_PIX_FMT_YUV422P));
  const DecodedPicture p010(AV_PIX_FMT_P010LE, {64, 48});
  EXPECT_EQ(recorded(p010.ref, {.codec = "libx264"}).format, *picture_format(AV_PIX_FMT_YUV420P10LE));
  const DecodedPicture nv16(AV_PIX_FMT_NV16, {64, 48});
  EXPECT_EQ(recorded(nv16.ref, {.codec = "libx264"}).format, *picture_format(AV_PIX_FMT_YUV422P));
  EXPECT_EQ(recorded(nv16.ref, {.codec = "prores_ks"}).format, *picture_format(AV_PIX_FMT_YUV422P10LE));
  EXPECT_EQ(recorded(nv16.ref, {.codec = "mpeg4"}).format, *picture_format(AV_PIX_FMT_YUV420P));
  const DecodedPicture rgb(AV_PIX_FMT_GBRP10LE, {64, 48});
  EXPECT_EQ(recorded(rgb.ref, {.codec = "libx264"}).format.depth, 8) << "many players decode 8 bits only";
  EXPECT_EQ(recorded(rgb.ref, {.codec = "libx264", .depth = 10}).format.depth, 10);
}

TEST_F(SourceRecording, TheDepthOfAYuvSourceDoesNotDependOnTheOption) {
  for (const AVPixelFormat format : {AV_PIX_FMT_P010LE, AV_PIX_FMT_YUV420P10LE}) {
    const DecodedPicture source(format, {64, 48});
    for (const int depth : {0, 8, 10})
      EXPECT_EQ(recorded(source.ref, {.codec = "libx264", .depth = depth}).format.depth, 10)
          << av_get_pix_fmt_name(format) << ' ' << depth;
  }
}

TEST_F(SourceRecording, ChromaOfFieldsIsHalvedInEachField) {
  const DecodedPicture source(AV_PIX_FMT_YUV422P, {64, 48});
  const auto fill = [&](int plane, int y, int value) {
    std::memset(source.frame->data[plane] + y * source.frame->linesize[plane], value, plane == 0 ? 64 : 32);
  };
  for (int y = 0; y < 48; ++y) fill(0, y, 120), fill(1, y, y % 2 == 0 ? 60 : 190), fill(2, y, 128);
  for (const FieldOrder fields : {FieldOrder::progressive, FieldOrder::top_first}) {
    const std::string name = fields == FieldOrder::progressive ? "a.mkv" : "b.mkv";
    record_source(source.ref, {.codec = "mpeg4"}, name, fields);
    Picture picture;
    ASSERT_EQ(open_source(file(name), {})->next(picture), FrameOutcome::ok);
    ASSERT_EQ(picture.planes.info.format.chroma_shift_y, 1);
    for (int y = 0; y < 24; ++y) {
      const int expected = fields == FieldOrder::progressive ? 125 : y % 2 == 0 ? 60 : 190;
      EXPECT_NEAR(sample_of(picture.planes, 1, 9, y), expected, 25) << name << ", row " << y;
    }
  }
}

TEST_F(SourceRecording, ChromaOfFieldsIsDoubledInEachField) {
  const DecodedPicture source(AV_PIX_FMT_YUV420P, {64, 48});
  const auto fill = [&](int plane, int rows, auto value) {
    for (int y = 0; y < rows; ++y)
      std::memset(source.frame->data[plane] + y * source.frame->linesize[plane], value(y), plane ? 32 : 64);
  };
  const auto of_field = [](int y) { return y % 2 == 0 ? 60 : 190; };
  fill(0, 48, [](int) { return 120; }), fill(1, 24, of_field), fill(2, 24, [](int) { return 128; });
  record_source(source.ref, {.codec = "prores_ks"}, "a.mov", FieldOrder::top_first);
  Picture picture;
  ASSERT_EQ(open_source(file("a.mov"), {})->next(picture), FrameOutcome::ok);
  ASSERT_EQ(picture.planes.info.format, *picture_format(AV_PIX_FMT_YUV422P10LE));
  for (int y = 0; y < 48; ++y)
    EXPECT_NEAR(sample_of(picture.planes, 1, 9, y), 4 * of_field(y), 40) << "row " << y;
}

TEST_F(SourceRecording, GreySourcesKeepTheirBits) {
  const DecodedPicture y12(AV_PIX_FMT_GRAY12LE, {64, 48});
  EXPECT_EQ(record_source(y12.ref, {.codec = "libx264"}, "a.mkv"),
            "libx264 encodes as gray10le: fewer bits per sample");
  EXPECT_EQ(open_source(file("a.mkv"), {})->info().picture.format.depth, 10);
  EXPECT_EQ(record_source(y12.ref, {.codec = "mpeg4"}, "b.mkv"),
            "mpeg4 encodes as yuv420p: fewer bits per sample");
  EXPECT_EQ(recorded(y12.ref, {.codec = "ffv1"}).format, y12.ref.info.format);
  const DecodedPicture y16(AV_PIX_FMT_GRAY16LE, {64, 48});
  EXPECT_EQ(record_source(y16.ref, {.codec = "libx264", .depth = 8}, "c.mkv"),
            "libx264 encodes as gray10le: fewer bits per sample");
  EXPECT_EQ(recorded(y16.ref, {.codec = "ffv1"}).format, y16.ref.info.format);
}

TEST_F(SourceRecording, EncodersOfGpuSurfacesAreRefused) {
  const AVCodec* const codec = avcodec_find_encoder_by_name("h264_vaapi");
  if (!codec) GTEST_SKIP() << "this FFmpeg has no h264_vaapi";
  for (const AVPixelFormat format : {AV_PIX_FMT_RGBA, AV_PIX_FMT_YUV420P}) {
    try {
      encoder_format(*codec, {.format = format, .extent = {64, 48}}, {}, "record");
      ADD_FAILURE() << "not refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_EQ(error.problem(),
                "h264_vaapi encodes only surfaces of a GPU, and lensd's pictures are in host memory");
    }
  }
}

TEST_F(SourceRecording, ANoticeNamesWhatIsLost) {
  DecodedPicture picture(AV_PIX_FMT_YUVA444P12LE, {64, 48});
  picture.ref.info.colour.transfer = Transfer::pq, picture.ref.info.colour.primaries = Primaries::bt2020;
  EXPECT_EQ(record_source(picture.ref, {.codec = "libx264"}, "a.mkv"),
            "libx264 encodes as yuv444p10le: fewer bits per sample, no transparency");
  EXPECT_EQ(open_source(file("a.mkv"), {})->info().picture.format.depth, 10);
  EXPECT_EQ(record_source(picture.ref, {.codec = "mpeg4"}, "b.mkv"),
            "mpeg4 encodes as yuv420p: fewer bits per sample, fewer chroma samples, no transparency, 8 bits, "
            "which show bands in HDR");
}

TEST_F(SourceRecording, EncodersWithTransparencyKeepIt) {
  const DecodedPicture prores(AV_PIX_FMT_YUVA444P12LE, {64, 48});
  EXPECT_EQ(recorded(prores.ref, {.codec = "prores_ks"}, ".mov").format.has_alpha, true);
  using Case = std::pair<const char*, const char*>;
  for (const auto& [codec, name] :
       {Case{"prores_ks", "a.mov"}, {"libvpx-vp9", "a.webm"}, {"libvpx", "a.mkv"}})
    for (const bool alpha : {false, true}) {
      RecorderOptions options;
      options.codec = codec, options.tags.alpha = alpha;
      const std::string path = record(file(name), kFormat, 2, options);
      EXPECT_EQ(open_source(path, {})->info().picture.format.has_alpha, alpha) << codec;
      std::filesystem::remove(path);
    }
  RecorderOptions options;
  options.codec = "qtrle";
  EXPECT_TRUE(open_source(record(file("b.mov"), kFormat, 2, options), {})->info().picture.format.has_alpha);
}

/// Returns the number of columns before the edge of Cr, in chroma samples.
double cr_edge(const PictureRef& ref) {
  const int count = ref.info.extent.width >> ref.info.format.chroma_shift_x;
  const double first = sample_of(ref, 2, 0, 8), last = sample_of(ref, 2, count - 1, 8);
  double sum = 0;
  for (int x = 0; x < count; ++x) sum += (sample_of(ref, 2, x, 8) - last) / (first - last);
  return sum;
}

// The edge between the columns 31 and 32 is at (31.5 − 0.5) / 2 + 0.5 centred samples.
TEST_F(RecordingTest, JpegHasCentredChroma) {
  for (const PixelFormat format : {PixelFormat::rgba8, PixelFormat::rgba16}) {
    Image image({format, {64, 48}});
    const int white = max_sample(format);
    for (int y = 0; y < 48; ++y)
      for (int x = 0; x < 64; ++x) {
        image.set_sample(x, y, 0, x < 32 ? white : 0), image.set_sample(x, y, 2, x < 32 ? 0 : white);
        image.set_sample(x, y, 3, white);
      }
    RecordSettings settings;
    settings.encoder.codec = "mjpeg";
    Recording recording(settings, 25, "");
    recording.start({file("a.mkv"), {.overwrite = true, .beneath = {}}});
    recording.write(image.ref(), at(0));
    recording.stop();
    auto source = open_source(file("a.mkv"), {});
    Picture got;
    ASSERT_EQ(source->next(got), FrameOutcome::ok);
    EXPECT_EQ(got.planes.info.colour.siting, ChromaSiting::center);
    EXPECT_NEAR(cr_edge(got.planes), 16, 0.06);
  }
}

TEST_F(RecordingTest, HdrHas10Bits) {
  for (const PixelFormat format : {PixelFormat::rgba8, PixelFormat::rgba16})
    for (const char* name : {"a.mp4", "a.mkv", "a.mov", "a.webm"}) {
      RecorderOptions options;
      options.tags = {Transfer::pq, Primaries::bt2020};
      EXPECT_EQ(
          open_source(record(file(name), {format, {64, 48}}, 3, options), {})->info().picture.format.depth,
          10)
          << name;
      std::filesystem::remove(file(name));
    }
  RecordSettings settings;
  settings.encoder.depth = 8;
  Recording recording(settings, 25, "");
  recording.start(target("b.mkv"));
  FrameInfo info;
  info.tags = {Transfer::pq, Primaries::bt2020};
  recording.write(picture(kFormat, 0).ref(), info);
  EXPECT_EQ(recording.take_notice().text, "libx264 encodes as yuv420p: 8 bits, which show bands in HDR");
}

}  // namespace
}  // namespace lensd::test

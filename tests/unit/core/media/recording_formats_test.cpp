// Pixel formats of recordings: every encoder gets a format that it supports.

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/pixdesc.h>
}

#include <fmt/format.h>

#include <cstring>

#include "core/media/ffmpeg/ffmpeg.hpp"
#include "core/media/ffmpeg/pixel_formats.hpp"
#include "tests/unit/core/media/recording_fixture.hpp"

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

// ---- recordings of the source ---------------------------------------------------------------------------

/// A decoded picture with random samples in a format of FFmpeg.
struct DecodedPicture {
  ff::FramePtr frame = ff::make_frame();
  PictureRef ref;

  DecodedPicture(AVPixelFormat format, Extent extent) {
    frame->format = format, frame->width = extent.width, frame->height = extent.height;
    ff::check_memory(av_frame_get_buffer(frame.get(), 0));
    ref.info.format = *picture_format(format), ref.info.extent = extent;
    ref.info.colour = {.matrix = YuvMatrix::bt601, .range = Range::limited, .siting = ChromaSiting::center};
    const int depth = ref.info.format.depth, shift = ref.info.format.components[0].shift;
    uint32_t noise = 4321;
    for (size_t p = 0; p < ref.info.format.plane_count; ++p) {
      ref.planes[p] = frame->data[p], ref.pitch_bytes[p] = frame->linesize[p];
      const size_t bytes = ref.info.plane_row_bytes(static_cast<int>(p));
      for (int y = 0; y < ref.info.plane_rows(static_cast<int>(p)); ++y)
        for (size_t i = 0; i<bytes; i += depth> 8 ? 2 : 1) {
          noise = noise * 1664525u + 1013904223u;
          uint8_t* const at = frame->data[p] + y * frame->linesize[p] + i;
          const auto sample = static_cast<uint16_t>((noise >> (32 - depth)) << shift);
          if (depth > 8)
            std::memcpy(at, &sample, sizeof sample);
          else
            *at = static_cast<uint8_t>(sample);
        }
    }
  }
};

/// Returns component `c` at column x and row y of its plane.
int sample_of(const PictureRef& ref, int c, int x, int y) {
  const ComponentLayout& l = ref.info.format.components[static_cast<size_t>(c)];
  const uint8_t* const at = ref.planes[l.plane] + y * ref.pitch_bytes[l.plane] + x * l.step + l.offset;
  return ref.info.format.depth > 8 ? (at[0] | at[1] << 8) >> l.shift : *at;
}

class SourceRecording : public RecordingTest {
 protected:
  /// Records `picture` three times. Returns the notice.
  std::string record_source(const PictureRef& picture, const EncoderOptions& options,
                            const std::string& name) {
    RecordSettings settings;
    settings.encoder = options;
    Recording recording(settings, 25, "");
    recording.start(target(name));
    for (int64_t i = 0; i < 3; ++i) recording.write(picture, at(i));
    const std::string notice = recording.take_notice();
    recording.stop();
    return notice;
  }
  PictureInfo recorded(const PictureRef& picture, const EncoderOptions& options) {
    const std::string name = std::to_string(++count_) + ".mkv";
    record_source(picture, options, name);
    return open_source(file(name), {})->info().picture;
  }
  int count_ = 0;
};

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
  const DecodedPicture rgb(AV_PIX_FMT_GBRP10LE, {64, 48});
  EXPECT_EQ(recorded(rgb.ref, {.codec = "libx264"}).format.depth, 8) << "many players decode 8 bits only";
  EXPECT_EQ(recorded(rgb.ref, {.codec = "libx264", .depth = 10}).format.depth, 10);
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
  EXPECT_EQ(recording.take_notice(), "libx264 encodes as yuv420p: 8 bits, which show bands in HDR");
}

}  // namespace
}  // namespace lensd::test

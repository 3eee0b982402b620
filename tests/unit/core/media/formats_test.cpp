// Pixel formats, colours, orientation, timestamps and URLs, without any file.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

extern "C" {
#include <libavcodec/packet.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
#include <libavutil/dovi_meta.h>
#include <libavutil/imgutils.h>
#include <libavutil/mastering_display_metadata.h>
#include <libavutil/pixdesc.h>
}

#include "core/media/ffmpeg/picture_info.hpp"
#include "core/media/ffmpeg/pixel_formats.hpp"
#include "core/media/input/small_rgb.hpp"
#include "core/media/input/timestamps.hpp"
#include "core/media/url.hpp"

namespace lensd {
namespace {

TEST(PixelFormats, CommonOnesNeedNoConversion) {
  for (const AVPixelFormat f :
       {AV_PIX_FMT_YUV420P,     AV_PIX_FMT_YUV422P,     AV_PIX_FMT_YUV444P,     AV_PIX_FMT_YUVJ420P,
        AV_PIX_FMT_YUV420P10LE, AV_PIX_FMT_YUV422P10LE, AV_PIX_FMT_YUV444P12LE, AV_PIX_FMT_YUV444P16LE,
        AV_PIX_FMT_NV12,        AV_PIX_FMT_NV21,        AV_PIX_FMT_NV16,        AV_PIX_FMT_P010LE,
        AV_PIX_FMT_P016LE,      AV_PIX_FMT_YUYV422,     AV_PIX_FMT_UYVY422,     AV_PIX_FMT_GRAY8,
        AV_PIX_FMT_GRAY10LE,    AV_PIX_FMT_GRAY16LE,    AV_PIX_FMT_RGB24,       AV_PIX_FMT_BGR24,
        AV_PIX_FMT_RGBA,        AV_PIX_FMT_BGRA,        AV_PIX_FMT_ARGB,        AV_PIX_FMT_ABGR,
        AV_PIX_FMT_RGB0,        AV_PIX_FMT_BGR0,        AV_PIX_FMT_0RGB,        AV_PIX_FMT_0BGR,
        AV_PIX_FMT_GBRP,        AV_PIX_FMT_GBRP10LE,    AV_PIX_FMT_GBRAP,       AV_PIX_FMT_YUVA420P,
        AV_PIX_FMT_YUVA444P,    AV_PIX_FMT_YA8,         AV_PIX_FMT_RGB48LE})
    EXPECT_TRUE(picture_format(f)) << av_get_pix_fmt_name(f);
}

TEST(PixelFormats, OthersAreConverted) {
  for (const AVPixelFormat f :
       {AV_PIX_FMT_PAL8, AV_PIX_FMT_MONOBLACK, AV_PIX_FMT_RGB565LE, AV_PIX_FMT_YUV410P, AV_PIX_FMT_YUV411P,
        AV_PIX_FMT_UYYVYY411, AV_PIX_FMT_YUV420P10BE, AV_PIX_FMT_GRAY16BE, AV_PIX_FMT_GRAYF32LE,
        AV_PIX_FMT_BAYER_BGGR8, AV_PIX_FMT_CUDA, AV_PIX_FMT_XYZ12LE, AV_PIX_FMT_X2RGB10LE, AV_PIX_FMT_RGB8,
        AV_PIX_FMT_NONE})
    EXPECT_FALSE(picture_format(f)) << f;
}

TEST(PixelFormats, SubstitutesKeepTheBits) {
  EXPECT_EQ(substitute_of(AV_PIX_FMT_RGB48BE), AV_PIX_FMT_RGB48LE);
  EXPECT_EQ(substitute_of(AV_PIX_FMT_GRAY16BE), AV_PIX_FMT_GRAY16LE);
  EXPECT_EQ(substitute_of(AV_PIX_FMT_YUV420P10BE), AV_PIX_FMT_YUV420P10LE);
  EXPECT_EQ(substitute_of(AV_PIX_FMT_GRAYF32LE), AV_PIX_FMT_GRAY16LE);
  EXPECT_EQ(substitute_of(AV_PIX_FMT_GBRPF32LE), AV_PIX_FMT_RGBA64LE);
  EXPECT_EQ(substitute_of(AV_PIX_FMT_X2RGB10LE), AV_PIX_FMT_RGBA64LE);
  EXPECT_EQ(substitute_of(AV_PIX_FMT_PAL8), AV_PIX_FMT_RGBA);
  EXPECT_EQ(substitute_of(AV_PIX_FMT_RGB565LE), AV_PIX_FMT_RGBA);
}

/// Converts every stored value of a format of `bytes` per pixel and checks it against the rule with the
/// component positions `shifts` and sizes `depths` (R, G, B) in the value.
void expect_exact(AVPixelFormat format, int bytes, std::array<int, 3> shifts, std::array<int, 3> depths,
                  bool big_endian = false) {
  ASSERT_TRUE(SmallRgb::reads(format));
  const int values = 1 << (8 * bytes), width = 256, height = values / width;
  const auto make = [&](AVPixelFormat f) {
    auto frame = ff::make_frame();
    frame->format = f, frame->width = width, frame->height = height;
    ff::check_memory(av_frame_get_buffer(frame.get(), 0));
    return frame;
  };
  const auto from = make(format), to = make(AV_PIX_FMT_RGBA);
  const auto at = [&](const AVFrame& frame, int value, int size) {
    return frame.data[0] + ptrdiff_t{value / width} * frame.linesize[0] + ptrdiff_t{value % width} * size;
  };
  for (int value = 0; value < values; ++value)
    for (int i = 0; i < bytes; ++i)
      at(*from, value, bytes)[i] = static_cast<uint8_t>(value >> 8 * (big_endian ? bytes - 1 - i : i));
  SmallRgb().convert(*from, *to);
  for (int value = 0; value < values; ++value) {
    const uint8_t* rgba = at(*to, value, 4);
    for (size_t i = 0; i < 3; ++i) {
      const int largest = (1 << depths[i]) - 1, component = value >> shifts[i] & largest;
      ASSERT_EQ(rgba[i], std::lround(component * 255.0 / largest))
          << av_get_pix_fmt_name(format) << " value " << value << " component " << i;
    }
    ASSERT_EQ(rgba[3], 255);
  }
}

TEST(SmallRgb, EveryValueBecomesTheNearestOf8Bits) {
  expect_exact(AV_PIX_FMT_RGB565LE, 2, {11, 5, 0}, {5, 6, 5});
  expect_exact(AV_PIX_FMT_RGB565BE, 2, {11, 5, 0}, {5, 6, 5}, true);
  expect_exact(AV_PIX_FMT_BGR565LE, 2, {0, 5, 11}, {5, 6, 5});
  expect_exact(AV_PIX_FMT_RGB555LE, 2, {10, 5, 0}, {5, 5, 5});
  expect_exact(AV_PIX_FMT_RGB555BE, 2, {10, 5, 0}, {5, 5, 5}, true);
  expect_exact(AV_PIX_FMT_BGR555BE, 2, {0, 5, 10}, {5, 5, 5}, true);
  expect_exact(AV_PIX_FMT_RGB444LE, 2, {8, 4, 0}, {4, 4, 4});
  expect_exact(AV_PIX_FMT_RGB444BE, 2, {8, 4, 0}, {4, 4, 4}, true);
  expect_exact(AV_PIX_FMT_RGB8, 1, {5, 2, 0}, {3, 3, 2});
  expect_exact(AV_PIX_FMT_BGR8, 1, {0, 3, 6}, {3, 3, 2});
}

TEST(SmallRgb, OtherFormatsAreLeftToSwscale) {
  for (const AVPixelFormat f :
       {AV_PIX_FMT_RGB24, AV_PIX_FMT_RGBA, AV_PIX_FMT_PAL8, AV_PIX_FMT_RGB4, AV_PIX_FMT_GRAY8,
        AV_PIX_FMT_YUV420P, AV_PIX_FMT_GBRP, AV_PIX_FMT_X2RGB10LE, AV_PIX_FMT_NONE})
    EXPECT_FALSE(SmallRgb::reads(f)) << f;
}

TEST(PixelFormats, LayoutsMatchTheFormat) {
  const auto yuyv = *picture_format(AV_PIX_FMT_YUYV422);
  EXPECT_EQ(yuyv.plane_count, 1);
  EXPECT_EQ(yuyv.chroma_shift_x, 1);
  EXPECT_EQ(yuyv.chroma_shift_y, 0);
  EXPECT_EQ(yuyv.components[0], (ComponentLayout{0, 2, 0, 0}));
  EXPECT_EQ(yuyv.components[1], (ComponentLayout{0, 4, 1, 0}));
  EXPECT_EQ(yuyv.components[2], (ComponentLayout{0, 4, 3, 0}));
  const auto nv21 = *picture_format(AV_PIX_FMT_NV21);
  EXPECT_EQ(nv21.components[1], (ComponentLayout{1, 2, 1, 0}));
  EXPECT_EQ(nv21.components[2], (ComponentLayout{1, 2, 0, 0}));
  const auto p010 = *picture_format(AV_PIX_FMT_P010LE);
  EXPECT_EQ(p010.depth, 10);
  EXPECT_EQ(p010.components[0], (ComponentLayout{0, 2, 0, 6}));
  const auto abgr = *picture_format(AV_PIX_FMT_ABGR);
  EXPECT_EQ(abgr.model, ColourModel::rgb);
  EXPECT_TRUE(abgr.has_alpha);
  EXPECT_EQ(abgr.components[0].offset, 3);
  EXPECT_EQ(abgr.components[3].offset, 0);
  const auto gbrp = *picture_format(AV_PIX_FMT_GBRP);
  EXPECT_EQ(gbrp.components[0].plane, 2);
  EXPECT_EQ(gbrp.components[1].plane, 0);
  EXPECT_FALSE(picture_format(AV_PIX_FMT_0RGB)->has_alpha);
  const auto ya8 = *picture_format(AV_PIX_FMT_YA8);
  EXPECT_EQ(ya8.model, ColourModel::gray);
  EXPECT_EQ(ya8.components[3], (ComponentLayout{0, 2, 1, 0}));
}

/// plane_row_bytes() and plane_rows() agree with FFmpeg for every format that needs no conversion.
TEST(PixelFormats, PlaneSizesAgreeWithFfmpeg) {
  int checked = 0;
  const AVPixFmtDescriptor* d = nullptr;
  while ((d = av_pix_fmt_desc_next(d))) {
    const AVPixelFormat f = av_pix_fmt_desc_get_id(d);
    const auto format = picture_format(f);
    if (!format) continue;
    ++checked;
    for (const Extent extent : {Extent{64, 48}, Extent{17, 31}, Extent{1, 1}}) {
      PictureInfo info;
      info.format = *format;
      info.extent = extent;
      int line_sizes[4];
      ASSERT_GE(av_image_fill_linesizes(line_sizes, f, extent.width), 0);
      const bool packed_yuv = format->plane_count == 1 && format->chroma_shift_x;
      for (int p = 0; p < format->plane_count; ++p) {
        // FFmpeg ends the rows of a packed 4:2:2 picture of odd width within the last pair of pixels.
        const size_t wanted =
            static_cast<size_t>(packed_yuv && extent.width % 2 ? line_sizes[p] + 2 : line_sizes[p]);
        if (packed_yuv && extent.width % 2)
          EXPECT_LE(info.plane_row_bytes(p), wanted) << d->name;
        else
          EXPECT_EQ(info.plane_row_bytes(p), wanted)
              << d->name << " plane " << p << " width " << extent.width;
        const bool chroma = (p == 1 || p == 2) && format->model == ColourModel::yuv;
        const int rows = chroma ? AV_CEIL_RSHIFT(extent.height, d->log2_chroma_h) : extent.height;
        EXPECT_EQ(info.plane_rows(p), rows) << d->name << " plane " << p;
      }
    }
  }
  EXPECT_GT(checked, 60);
}

ColourSpec colour(AVPixelFormat format, int width, int height, AVCodecID codec,
                  AVColorSpace space = AVCOL_SPC_UNSPECIFIED, AVColorRange range = AVCOL_RANGE_UNSPECIFIED,
                  AVChromaLocation location = AVCHROMA_LOC_UNSPECIFIED) {
  const ff::FramePtr frame = ff::make_frame();
  frame->width = width, frame->height = height;
  frame->colorspace = space, frame->color_range = range, frame->chroma_location = location;
  return colour_of(*frame, format, *picture_format(format), codec);
}

TEST(ColourInfo, UntaggedIsGuessedBySize) {
  const auto sd = colour(AV_PIX_FMT_YUV420P, 720, 576, AV_CODEC_ID_H264);
  EXPECT_EQ(sd, (ColourSpec{.matrix = YuvMatrix::bt601,
                            .range = Range::limited,
                            .siting = ChromaSiting::left,
                            .guessed_matrix = true,
                            .guessed_range = true}));
  EXPECT_EQ(colour(AV_PIX_FMT_YUV420P, 640, 577, AV_CODEC_ID_H264).matrix, YuvMatrix::bt709);
  EXPECT_EQ(colour(AV_PIX_FMT_YUV420P, 1025, 480, AV_CODEC_ID_H264).matrix, YuvMatrix::bt709);
}

TEST(ColourInfo, DescriptionsNameWhatIsGuessed) {
  const auto described = [](AVColorSpace space, AVColorRange range) {
    PictureInfo info;
    info.format = *picture_format(AV_PIX_FMT_YUV420P);
    info.colour = colour(AV_PIX_FMT_YUV420P, 320, 240, AV_CODEC_ID_H264, space, range);
    return describe(info);
  };
  EXPECT_EQ(described(AVCOL_SPC_BT709, AVCOL_RANGE_MPEG), "yuv420 8-bit, bt709 limited, siting left");
  EXPECT_EQ(described(AVCOL_SPC_UNSPECIFIED, AVCOL_RANGE_UNSPECIFIED),
            "yuv420 8-bit, bt601 limited (guessed), siting left");
  EXPECT_EQ(described(AVCOL_SPC_UNSPECIFIED, AVCOL_RANGE_JPEG),
            "yuv420 8-bit, bt601 (guessed) full, siting left");
  EXPECT_EQ(described(AVCOL_SPC_BT709, AVCOL_RANGE_UNSPECIFIED),
            "yuv420 8-bit, bt709 limited (range guessed), siting left");
  PictureInfo hdr;
  hdr.format = *picture_format(AV_PIX_FMT_YUV420P10LE);
  hdr.colour.matrix = YuvMatrix::bt2020, hdr.colour.transfer = Transfer::pq, hdr.colour.peak = 1000;
  hdr.colour.primaries = Primaries::bt2020;
  hdr.colour.guessed_primaries = hdr.colour.guessed_peak = true;
  EXPECT_EQ(describe(hdr),
            "yuv420 10-bit, bt2020 limited, siting left, PQ up to 1000 cd/m² (guessed), BT.2020 colours "
            "(guessed)");
}

TEST(ColourInfo, TagsWin) {
  const auto tagged = colour(AV_PIX_FMT_YUV420P10LE, 320, 240, AV_CODEC_ID_HEVC, AVCOL_SPC_BT2020_NCL,
                             AVCOL_RANGE_JPEG, AVCHROMA_LOC_TOPLEFT);
  EXPECT_EQ(tagged, (ColourSpec{.matrix = YuvMatrix::bt2020,
                                .range = Range::full,
                                .siting = ChromaSiting::top_left,
                                .primaries = Primaries::bt2020,
                                .guessed_primaries = true}));
}

TEST(ColourInfo, HdrAndWideGamut) {
  const auto light = [](AVColorTransferCharacteristic transfer, AVColorPrimaries primaries) {
    const ff::FramePtr frame = ff::make_frame();
    frame->width = frame->height = 64;
    frame->color_trc = transfer, frame->color_primaries = primaries;
    const ColourSpec c =
        colour_of(*frame, AV_PIX_FMT_YUV420P10LE, *picture_format(AV_PIX_FMT_YUV420P10LE), AV_CODEC_ID_HEVC);
    EXPECT_EQ(c.guessed_primaries, primaries == AVCOL_PRI_UNSPECIFIED && c.primaries != Primaries::bt709);
    return std::pair(c.transfer, c.primaries);
  };
  using Light = std::pair<Transfer, Primaries>;
  EXPECT_EQ(light(AVCOL_TRC_SMPTE2084, AVCOL_PRI_BT2020), (Light{Transfer::pq, Primaries::bt2020}));
  EXPECT_EQ(light(AVCOL_TRC_ARIB_STD_B67, AVCOL_PRI_UNSPECIFIED), (Light{Transfer::hlg, Primaries::bt2020}));
  EXPECT_EQ(light(AVCOL_TRC_BT709, AVCOL_PRI_SMPTE432), (Light{Transfer::sdr, Primaries::p3}));
  EXPECT_EQ(light(AVCOL_TRC_BT709, AVCOL_PRI_BT470BG), (Light{Transfer::sdr, Primaries::bt601_625}));
  EXPECT_EQ(light(AVCOL_TRC_SMPTE170M, AVCOL_PRI_SMPTE170M), (Light{Transfer::sdr, Primaries::bt601_525}));
  EXPECT_EQ(light(AVCOL_TRC_BT709, AVCOL_PRI_SMPTE240M), (Light{Transfer::sdr, Primaries::bt601_525}));
  EXPECT_EQ(light(AVCOL_TRC_UNSPECIFIED, AVCOL_PRI_UNSPECIFIED), (Light{Transfer::sdr, Primaries::bt709}));
}

TEST(ColourInfo, DolbyVisionWithoutABaseLayer) {
  AVFormatContext* context = avformat_alloc_context();
  AVStream* stream = avformat_new_stream(context, nullptr);
  EXPECT_FALSE(needs_dolby_vision(*stream));
  size_t size = 0;
  AVDOVIDecoderConfigurationRecord* record = av_dovi_alloc(&size);
  auto* data = reinterpret_cast<uint8_t*>(record);
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 30, 100)
  ASSERT_TRUE(av_packet_side_data_add(&stream->codecpar->coded_side_data,
                                      &stream->codecpar->nb_coded_side_data, AV_PKT_DATA_DOVI_CONF, data,
                                      size, 0));
#else
  ASSERT_GE(av_stream_add_side_data(stream, AV_PKT_DATA_DOVI_CONF, data, size), 0);
#endif
  record->dv_profile = 8;
  EXPECT_FALSE(needs_dolby_vision(*stream));
  record->dv_profile = 5;
  EXPECT_TRUE(needs_dolby_vision(*stream));
  avformat_free_context(context);
}

TEST(ColourInfo, PeakIsContentLightLevelElseMasteringDisplay) {
  const ff::FramePtr frame = ff::make_frame();
  EXPECT_EQ(peak_of(*frame, nullptr), std::nullopt);
  AVMasteringDisplayMetadata* display = av_mastering_display_metadata_create_side_data(frame.get());
  EXPECT_EQ(peak_of(*frame, nullptr), std::nullopt) << "has_luminance is not set";
  display->has_luminance = 1, display->max_luminance = {40'000'000, 10'000};
  EXPECT_EQ(peak_of(*frame, nullptr), 4000);
  AVContentLightMetadata* level = av_content_light_metadata_create_side_data(frame.get());
  EXPECT_EQ(peak_of(*frame, nullptr), 4000) << "0 means unknown";
  level->MaxCLL = 50;
  EXPECT_EQ(peak_of(*frame, nullptr), kMinPeak);
  level->MaxCLL = 1200;
  EXPECT_EQ(peak_of(*frame, nullptr), 1200);
  display->max_luminance = {1, 0};
  level->MaxCLL = 60000;
  EXPECT_EQ(peak_of(*frame, nullptr), kMaxPeak);
  level->MaxCLL = 0;
  EXPECT_EQ(peak_of(*frame, nullptr), kMaxPeak) << "an infinite value";
}

TEST(ColourInfo, JpegGrayAndRgb) {
  EXPECT_EQ(colour(AV_PIX_FMT_YUVJ420P, 1920, 1080, AV_CODEC_ID_MJPEG),
            (ColourSpec{YuvMatrix::bt601, Range::full, ChromaSiting::center, false}));
  EXPECT_EQ(colour(AV_PIX_FMT_GRAY8, 64, 64, AV_CODEC_ID_PNG).range, Range::full);
  EXPECT_EQ(colour(AV_PIX_FMT_GRAY8, 64, 64, AV_CODEC_ID_H264).range, Range::limited);
  EXPECT_EQ(colour(AV_PIX_FMT_BGR0, 1920, 1080, AV_CODEC_ID_FFV1).range, Range::full);
  EXPECT_EQ(colour(AV_PIX_FMT_YUV420P, 64, 64, AV_CODEC_ID_MPEG1VIDEO).siting, ChromaSiting::center);
}

TEST(Orientation, QuarterTurnsAndFlips) {
  int32_t m[9];
  const auto rotated = [&](double clockwise) {
    av_display_rotation_set(m, clockwise);  // av_display_rotation_get() is counter-clockwise
    return orientation_of(m);
  };
  EXPECT_EQ(rotated(0), (Orientation{false, false, false}));
  EXPECT_EQ(rotated(90), (Orientation{true, true, false}));
  EXPECT_EQ(rotated(180), (Orientation{false, true, true}));
  EXPECT_EQ(rotated(270), (Orientation{true, false, true}));
  EXPECT_EQ(rotated(45), std::nullopt);
  av_display_rotation_set(m, 0);
  av_display_matrix_flip(m, 1, 0);
  EXPECT_EQ(orientation_of(m), (Orientation{false, true, false}));
  const int32_t zeros[9] = {};
  EXPECT_EQ(orientation_of(zeros), std::nullopt);
}

TEST(Orientation, TheMatrixOfAFrameCountsMoreThanThatOfItsStream) {
  AVFormatContext* context = avformat_alloc_context();
  ASSERT_TRUE(context);
  AVStream* stream = avformat_new_stream(context, nullptr);
  constexpr size_t size = 9 * sizeof(int32_t);
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 30, 100)
  AVPacketSideData* data =
      av_packet_side_data_new(&stream->codecpar->coded_side_data, &stream->codecpar->nb_coded_side_data,
                              AV_PKT_DATA_DISPLAYMATRIX, size, 0);
  uint8_t* bytes = data->data;
#else
  uint8_t* bytes = av_stream_new_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, size);
#endif
  av_display_rotation_set(reinterpret_cast<int32_t*>(bytes), 180);
  const ff::FramePtr frame = ff::make_frame();
  EXPECT_EQ(orientation_of(*frame, stream), (Orientation{false, true, true})) << "the stream's";
  EXPECT_EQ(orientation_of(*frame, nullptr), Orientation{});
  AVFrameSideData* own = av_frame_new_side_data(frame.get(), AV_FRAME_DATA_DISPLAYMATRIX, size);
  ASSERT_TRUE(own);
  av_display_rotation_set(reinterpret_cast<int32_t*>(own->data), 90);
  EXPECT_EQ(orientation_of(*frame, stream), (Orientation{true, true, false})) << "the frame's";
  av_display_rotation_set(reinterpret_cast<int32_t*>(own->data), 0);
  EXPECT_EQ(orientation_of(*frame, stream), Orientation{}) << "the frame's, which is upright";
  avformat_free_context(context);
}

TEST(Timestamps, RegularVariableAndMissing) {
  TimestampNormalizer times(40);
  EXPECT_EQ(times.normalize(1000), 0);
  EXPECT_EQ(times.normalize(1040), 40);
  EXPECT_EQ(times.normalize(std::nullopt), 80);
  EXPECT_EQ(times.normalize(1500), 500);  // a gap is kept
  EXPECT_EQ(times.normalize(1500), 540);  // a repeated time is replaced
  EXPECT_EQ(times.normalize(1600), 600);
}

TEST(Timestamps, JumpsBackwardsContinue) {
  constexpr int64_t s = 1'000'000'000;
  TimestampNormalizer times(s / 25);
  EXPECT_EQ(times.normalize(0), 0);
  EXPECT_EQ(times.normalize(10 * s), 10 * s);
  EXPECT_EQ(times.normalize(2 * s), 10 * s + s / 25);
  EXPECT_EQ(times.normalize(3 * s), 11 * s + s / 25);
  times.restart(5 * s);
  EXPECT_EQ(times.normalize(5 * s), 5 * s);
  times.restart(7 * s);
  EXPECT_EQ(times.normalize(std::nullopt), 7 * s);
}

TEST(Timestamps, EachTimeAfterAJumpIsExact) {
  constexpr int64_t ms = 1'000'000;
  TimestampNormalizer times(40 * ms);
  const struct {
    int64_t raw_ms, pts_ms;
  } cases[] = {
      {90'000, 0},      {90'040, 40},       {89'041, 80},  // 999 ms back: only this time changes
      {90'120, 120},                                       // same distance to the first time
      {95'120, 5120},                                      // a gap is kept
      {94'120, 5160},                                      // one second back is not a jump either
      {95'200, 5200},   {10, 5240},                        // a jump: continues one frame later
      {50, 5280},       {90, 5320},         {590, 5820},    {0, 5860},  // 590 ms back
      {630, 5860 + 40}, {700'000, 705'230},                             // forward: a gap
      {5, 705'270},     {45, 705'310},      {245, 705'510},
  };
  for (const auto& c : cases) EXPECT_EQ(times.normalize(c.raw_ms * ms), c.pts_ms * ms) << c.raw_ms;
  EXPECT_EQ(times.origin_ns(), 90'000 * ms);
}

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

}  // namespace
}  // namespace lensd

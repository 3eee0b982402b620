// Colour and orientation of a picture, from the stream's tags or guessed.
#include <gtest/gtest.h>

#include <cstring>

#include <optional>
#include <tuple>
#include <utility>

extern "C" {
#include <libavcodec/packet.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
#include <libavutil/dovi_meta.h>
#include <libavutil/mastering_display_metadata.h>
}

#include "core/media/ffmpeg/hdr_side_data.hpp"
#include "core/media/ffmpeg/picture_info.hpp"
#include "core/media/ffmpeg/pixel_formats.hpp"

namespace lensd {
namespace {

ColourSpec colour(AVPixelFormat format, int width, int height, AVCodecID codec,
                  AVColorSpace space = AVCOL_SPC_UNSPECIFIED, AVColorRange range = AVCOL_RANGE_UNSPECIFIED,
                  AVChromaLocation location = AVCHROMA_LOC_UNSPECIFIED) {
  const ff::FramePtr frame = ff::make_frame();
  frame->width = width, frame->height = height;
  frame->colorspace = space, frame->color_range = range, frame->chroma_location = location;
  return colour_of(*frame, format, *picture_format(format), codec);
}

TEST(ColourInfo, UnknownTagsAreUnspecified) {
  const ff::FramePtr frame = ff::make_frame();
  for (const int unknown : {33, 243, -1}) {
    for (void* tag : {static_cast<void*>(&frame->chroma_location), static_cast<void*>(&frame->colorspace),
                      static_cast<void*>(&frame->color_primaries), static_cast<void*>(&frame->color_trc),
                      static_cast<void*>(&frame->color_range)})
      std::memcpy(tag, &unknown, sizeof unknown);
    drop_unknown_tags(*frame);
    EXPECT_EQ(frame->chroma_location, AVCHROMA_LOC_UNSPECIFIED);
    EXPECT_EQ(frame->colorspace, AVCOL_SPC_UNSPECIFIED);
    EXPECT_EQ(frame->color_primaries, AVCOL_PRI_UNSPECIFIED);
    EXPECT_EQ(frame->color_trc, AVCOL_TRC_UNSPECIFIED);
    EXPECT_EQ(frame->color_range, AVCOL_RANGE_UNSPECIFIED);
  }
  frame->colorspace = AVCOL_SPC_BT709;
  drop_unknown_tags(*frame);
  EXPECT_EQ(frame->colorspace, AVCOL_SPC_BT709);
}

TEST(ColourInfo, UntaggedIsGuessedBySize) {
  const auto sd = colour(AV_PIX_FMT_YUV420P, 720, 576, AV_CODEC_ID_H264);
  EXPECT_EQ(sd,
            (ColourSpec{.matrix = YuvMatrix::bt601, .range = Range::limited, .siting = ChromaSiting::left}));
  EXPECT_TRUE(sd.guessed.matrix && sd.guessed.range);
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
  hdr.colour.guessed.primaries = hdr.colour.guessed.peak = true;
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
                                .primaries = Primaries::bt2020}));
  EXPECT_TRUE(tagged.guessed.primaries);
  EXPECT_FALSE(tagged.guessed.matrix || tagged.guessed.range);
}

TEST(ColourInfo, HdrAndWideGamut) {
  const auto light = [](AVColorTransferCharacteristic transfer, AVColorPrimaries primaries) {
    const ff::FramePtr frame = ff::make_frame();
    frame->width = frame->height = 64;
    frame->color_trc = transfer, frame->color_primaries = primaries;
    const ColourSpec c =
        colour_of(*frame, AV_PIX_FMT_YUV420P10LE, *picture_format(AV_PIX_FMT_YUV420P10LE), AV_CODEC_ID_HEVC);
    EXPECT_EQ(c.guessed.primaries, primaries == AVCOL_PRI_UNSPECIFIED && c.primaries != Primaries::bt709);
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
  EXPECT_EQ(light(AVCOL_TRC_IEC61966_2_1, AVCOL_PRI_SMPTE432), (Light{Transfer::srgb, Primaries::p3}));
  EXPECT_EQ(light(AVCOL_TRC_LINEAR, AVCOL_PRI_UNSPECIFIED), (Light{Transfer::linear, Primaries::bt709}));
}

TEST(ColourInfo, ReservedPrimariesAreUnspecified) {
  const ff::FramePtr frame = ff::make_frame();
  frame->width = frame->height = 64;
  frame->color_trc = AVCOL_TRC_SMPTE2084, frame->colorspace = AVCOL_SPC_BT2020_NCL;
  for (const AVColorPrimaries reserved : {AVCOL_PRI_RESERVED0, AVCOL_PRI_RESERVED}) {
    frame->color_primaries = reserved;
    const ColourSpec c =
        colour_of(*frame, AV_PIX_FMT_YUV420P10LE, *picture_format(AV_PIX_FMT_YUV420P10LE), AV_CODEC_ID_HEVC);
    EXPECT_EQ(c.primaries, Primaries::bt2020);
    EXPECT_TRUE(c.guessed.primaries);
    EXPECT_EQ(c.coded.primaries, AVCOL_PRI_UNSPECIFIED);
  }
}

TEST(ColourInfo, DescriptionsNameSubsamplingAndIgnoredProfiles) {
  PictureInfo info;
  info.format = *picture_format(AV_PIX_FMT_YUV440P);
  EXPECT_EQ(describe(info), "yuv440 8-bit, bt601 limited");
  for (const auto& [shift_x, shift_y, name] : {std::tuple{0, 0, "yuv444 "},
                                               {1, 0, "yuv422 "},
                                               {1, 1, "yuv420 "},
                                               {2, 0, "yuv411 "},
                                               {2, 2, "yuv410 "},
                                               {2, 1, "yuv with chroma of 1/4×1/2 "},
                                               {1, 2, "yuv with chroma of 1/2×1/4 "},
                                               {3, 1, "yuv with chroma of 1/8×1/2 "}}) {
    info.format.chroma_shift_x = shift_x, info.format.chroma_shift_y = shift_y;
    EXPECT_EQ(describe(info).find(name), 0u) << describe(info);
  }
  const ff::FramePtr frame = ff::make_frame();
  frame->width = frame->height = 64;
  ASSERT_TRUE(av_frame_new_side_data(frame.get(), AV_FRAME_DATA_ICC_PROFILE, 128));
  for (const AVPixelFormat format : {AV_PIX_FMT_RGB24, AV_PIX_FMT_GRAY8}) {
    info.format = *picture_format(format);
    info.colour = colour_of(*frame, format, info.format, AV_CODEC_ID_PNG);
    EXPECT_EQ(describe(info), format == AV_PIX_FMT_GRAY8 ? "gray 8-bit, ICC profile ignored"
                                                         : "rgb 8-bit, ICC profile ignored");
  }
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
  record->dv_profile = 10;  // AV1; the base layer is IPTPQc2, or HDR10
  EXPECT_TRUE(needs_dolby_vision(*stream));
  record->dv_bl_signal_compatibility_id = 1;
  EXPECT_FALSE(needs_dolby_vision(*stream));
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

TEST(HdrSideData, OfAFrameElseOfItsStreamWithoutInvalidValues) {
  AVFormatContext* context = avformat_alloc_context();
  AVStream* stream = avformat_new_stream(context, nullptr);
  const ff::FramePtr frame = ff::make_frame();
  EXPECT_EQ(hdr_metadata_of(*frame, stream), HdrMetadata());
  HdrMetadata announced;
  announced.gamut = {{{{35400, 14600}, {8500, 39850}, {6550, 2300}}}, {15635, 16450}};
  announced.luminance = {10'000'000, 1};
  announced.content = {1000, 400};
  add_hdr_metadata(*stream, announced);
  EXPECT_EQ(hdr_metadata_of(*frame, stream), announced);
  EXPECT_EQ(hdr_metadata_of(*frame, nullptr), HdrMetadata());
  add_hdr_metadata(*frame, {.luminance = HdrMetadata::Luminance{6'000'000, 50}});
  const HdrMetadata both = hdr_metadata_of(*frame, stream);
  EXPECT_EQ(both.gamut, announced.gamut) << "of the stream";
  EXPECT_EQ(both.luminance, (HdrMetadata::Luminance{6'000'000, 50})) << "of the frame";
  EXPECT_EQ(both.content, announced.content);
  avformat_free_context(context);

  const ff::FramePtr odd = ff::make_frame();
  AVMasteringDisplayMetadata* display = av_mastering_display_metadata_create_side_data(odd.get());
  display->has_luminance = display->has_primaries = 1;
  display->max_luminance = {1, 0}, display->min_luminance = {1, 100};
  for (auto& point : display->display_primaries) point[0] = point[1] = {1, 3};
  display->white_point[0] = display->white_point[1] = {-1, 3};
  av_content_light_metadata_create_side_data(odd.get())->MaxCLL = 70'000;
  EXPECT_EQ(hdr_metadata_of(*odd, nullptr), HdrMetadata()) << "infinite, negative and too large values";
  display->white_point[0] = display->white_point[1] = {1, 3};
  EXPECT_EQ(hdr_metadata_of(*odd, nullptr).gamut->white, (Chromaticity{16667, 16667}));
}

TEST(ColourInfo, JpegGrayAndRgb) {
  EXPECT_EQ(colour(AV_PIX_FMT_YUVJ420P, 1920, 1080, AV_CODEC_ID_MJPEG),
            (ColourSpec{YuvMatrix::bt601, Range::full, ChromaSiting::center}));
  EXPECT_FALSE(colour(AV_PIX_FMT_YUVJ420P, 1920, 1080, AV_CODEC_ID_MJPEG).guessed.matrix);
  EXPECT_EQ(colour(AV_PIX_FMT_GRAY8, 64, 64, AV_CODEC_ID_PNG).range, Range::full);
  EXPECT_EQ(colour(AV_PIX_FMT_GRAY8, 64, 64, AV_CODEC_ID_H264).range, Range::limited);
  EXPECT_EQ(colour(AV_PIX_FMT_BGR0, 1920, 1080, AV_CODEC_ID_FFV1).range, Range::full);
  EXPECT_EQ(colour(AV_PIX_FMT_YUV420P, 64, 64, AV_CODEC_ID_MPEG1VIDEO).siting, ChromaSiting::center);
}

TEST(ColourInfo, KnownMatricesAreCopiedAndGuessesAreNot) {
  const auto coded = [](AVPixelFormat format, AVCodecID codec, AVColorSpace space = AVCOL_SPC_UNSPECIFIED) {
    return static_cast<int>(colour(format, 1920, 1080, codec, space).coded.matrix);
  };
  constexpr int kUnknown = AVCOL_SPC_UNSPECIFIED, kBt601 = AVCOL_SPC_SMPTE170M, kBt709 = AVCOL_SPC_BT709;
  EXPECT_EQ(coded(AV_PIX_FMT_YUVJ420P, AV_CODEC_ID_MJPEG), kBt601) << "the only matrix in JFIF";
  EXPECT_EQ(coded(AV_PIX_FMT_YUV420P, AV_CODEC_ID_H264), kUnknown);
  EXPECT_EQ(coded(AV_PIX_FMT_YUV420P, AV_CODEC_ID_H264, AVCOL_SPC_BT709), kBt709);
}

TEST(ColourInfo, WorkingImagesKnowOfTransparency) {
  PictureInfo info;
  EXPECT_FALSE(info.working(false).alpha);
  info.format.has_alpha = true;
  EXPECT_TRUE(info.working(false).alpha);
  EXPECT_TRUE(info.working(true).alpha);
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

TEST(Orientation, PhotosHaveThatOfTheirExifData) {
  const ff::FramePtr frame = ff::make_frame();
  const auto tagged = [&](const char* text) {
    av_dict_set(&frame->metadata, "Orientation", text, 0);
    return orientation_of(*frame, nullptr);
  };
  EXPECT_EQ(tagged("    1"), Orientation());
  EXPECT_EQ(tagged("    2"), (Orientation{false, true, false}));
  EXPECT_EQ(tagged("    3"), (Orientation{false, true, true}));
  EXPECT_EQ(tagged("    4"), (Orientation{false, false, true}));
  EXPECT_EQ(tagged("    5"), (Orientation{true, false, false}));
  EXPECT_EQ(tagged("    6"), (Orientation{true, true, false}));
  EXPECT_EQ(tagged("    7"), (Orientation{true, true, true}));
  EXPECT_EQ(tagged("    8"), (Orientation{true, false, true}));
  for (const char* wrong : {"0", "9", "-1", "x", "99999999999999999999"})
    EXPECT_EQ(tagged(wrong), Orientation());
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

TEST(Fields, OfHevcAreSeparateFrames) {
  const ff::FramePtr frame = ff::make_frame();
  mark_fields(*frame, FieldOrder::top_first);
  EXPECT_EQ(fields_of(*frame, {}, AV_CODEC_ID_H264), FieldOrder::top_first);
  EXPECT_EQ(fields_of(*frame, {}, AV_CODEC_ID_HEVC), FieldOrder::progressive);
  EXPECT_EQ(fields_of(*frame, {.transpose = true}, AV_CODEC_ID_H264), FieldOrder::progressive);
}

}  // namespace
}  // namespace lensd

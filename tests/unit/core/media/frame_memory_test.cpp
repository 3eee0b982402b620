// has_all_rows(), has_all_samples(): frames whose memory is smaller than their fields announce are found, all
// others are accepted.
#include "core/media/ffmpeg/frame_memory.hpp"

#include <gtest/gtest.h>

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <cstdlib>
#include <filesystem>

#include "tests/unit/core/media/media_fixture.hpp"

namespace lensd::test {
namespace {

ff::FramePtr frame_of(AVPixelFormat format, int width = 35, int height = 23) {
  ff::FramePtr frame = ff::make_frame();
  frame->format = format, frame->width = width, frame->height = height;
  if (av_frame_get_buffer(frame.get(), 0) < 0) return nullptr;
  return frame;
}

TEST(FrameMemory, FramesOfAllFormatsAreAccepted) {
  int formats = 0;
  for (const AVPixFmtDescriptor* d = nullptr; (d = av_pix_fmt_desc_next(d));) {
    if (d->flags & AV_PIX_FMT_FLAG_HWACCEL) continue;
    for (const auto& [width, height] : {std::pair{35, 23}, {1, 1}, {64, 64}}) {
      const ff::FramePtr frame = frame_of(av_pix_fmt_desc_get_id(d), width, height);
      if (!frame) continue;
      ++formats;
      EXPECT_TRUE(has_all_rows(*frame)) << d->name << " " << width << "×" << height;
    }
  }
  EXPECT_GT(formats, 300);
}

TEST(FrameMemory, FlippedAndCroppedFramesAreAccepted) {
  const ff::FramePtr frame = frame_of(AV_PIX_FMT_YUV420P);
  for (int p = 0; p < 3; ++p) {
    const int rows = p == 0 ? 23 : 12;
    frame->data[p] += std::ptrdiff_t{rows - 1} * frame->linesize[p], frame->linesize[p] *= -1;
  }
  EXPECT_TRUE(has_all_rows(*frame));
  frame->data[0] += std::ptrdiff_t{200} * frame->linesize[0];
  EXPECT_FALSE(has_all_rows(*frame));

  const ff::FramePtr cropped = frame_of(AV_PIX_FMT_NV12);
  cropped->crop_left = 4, cropped->crop_top = 6, cropped->crop_right = 1, cropped->crop_bottom = 3;
  ASSERT_EQ(av_frame_apply_cropping(cropped.get(), AV_FRAME_CROP_UNALIGNED), 0);
  EXPECT_TRUE(has_all_rows(*cropped));
}

TEST(FrameMemory, FieldsOfAnotherPictureAreRefused) {
  const auto changed = [](AVPixelFormat format, const auto& change) {
    const ff::FramePtr frame = frame_of(format);
    change(*frame);
    return has_all_rows(*frame);
  };
  EXPECT_FALSE(
      changed(AV_PIX_FMT_YUV420P, [](AVFrame& f) { f.format = AV_PIX_FMT_YUV420P16LE, f.width = 70; }));
  EXPECT_FALSE(changed(AV_PIX_FMT_GRAY8, [](AVFrame& f) { f.format = AV_PIX_FMT_YUV420P; }));
  EXPECT_FALSE(changed(AV_PIX_FMT_GRAY8, [](AVFrame& f) { f.format = AV_PIX_FMT_PAL8; }));
  EXPECT_FALSE(changed(AV_PIX_FMT_NV12, [](AVFrame& f) { f.height = 123; }));
  EXPECT_FALSE(changed(AV_PIX_FMT_NV12, [](AVFrame& f) { f.width = 1235; }));
  EXPECT_FALSE(changed(AV_PIX_FMT_RGB24, [](AVFrame& f) { f.linesize[0] = 0; }));
  EXPECT_FALSE(changed(AV_PIX_FMT_RGB24, [](AVFrame& f) { f.linesize[0] *= 50; }));
  EXPECT_FALSE(changed(AV_PIX_FMT_RGB24, [](AVFrame& f) { f.height = 0; }));
}

ff::FramePtr sound_of(AVSampleFormat format, int channels) {
  ff::FramePtr frame = ff::make_frame();
  frame->format = format, frame->nb_samples = 1000, frame->sample_rate = 48000;
  av_channel_layout_default(&frame->ch_layout, channels);
  return av_frame_get_buffer(frame.get(), 0) < 0 ? nullptr : std::move(frame);
}

TEST(FrameMemory, AudioOfAllFormatsIsAccepted) {
  for (int format = 0; format < AV_SAMPLE_FMT_NB; ++format)
    for (const int channels : {1, 2, 8, 9, 24}) {
      const ff::FramePtr frame = sound_of(static_cast<AVSampleFormat>(format), channels);
      ASSERT_TRUE(frame);
      EXPECT_TRUE(has_all_samples(*frame)) << "format " << format << ", channels " << channels;
    }
}

TEST(FrameMemory, AudioWithFieldsOfAnotherFrameIsRefused) {
  const auto changed = [](AVSampleFormat format, int channels, const auto& change) {
    const ff::FramePtr frame = sound_of(format, channels);
    change(*frame);
    return has_all_samples(*frame);
  };
  EXPECT_FALSE(changed(AV_SAMPLE_FMT_S16, 2, [](AVFrame& f) { f.nb_samples = 2000; }));
  EXPECT_FALSE(changed(AV_SAMPLE_FMT_S16, 2, [](AVFrame& f) { f.nb_samples = -1; }));
  EXPECT_FALSE(changed(AV_SAMPLE_FMT_S16, 2, [](AVFrame& f) { f.format = AV_SAMPLE_FMT_DBL; }));
  EXPECT_FALSE(changed(AV_SAMPLE_FMT_S16, 2, [](AVFrame& f) { f.format = AV_SAMPLE_FMT_NONE; }));
  EXPECT_FALSE(changed(AV_SAMPLE_FMT_S16, 1, [](AVFrame& f) { f.ch_layout.nb_channels = 6; }));
  EXPECT_FALSE(changed(AV_SAMPLE_FMT_S16, 1, [](AVFrame& f) { f.ch_layout.nb_channels = 0; }));
  EXPECT_FALSE(changed(AV_SAMPLE_FMT_FLTP, 2, [](AVFrame& f) { f.extended_data[1] = nullptr; }));
  EXPECT_FALSE(changed(AV_SAMPLE_FMT_FLTP, 9, [](AVFrame& f) { av_buffer_unref(&f.extended_buf[0]); }));
}

void expect_planes(const PictureRef& ref) {
  for (int p = 0; p < ref.info.format.plane_count; ++p) {
    const auto i = static_cast<size_t>(p);
    EXPECT_NE(ref.planes[i], nullptr) << "plane " << p;
    if (ref.info.plane_rows(p) > 1) {
      EXPECT_GE(static_cast<size_t>(std::abs(ref.pitch_bytes[i])), ref.info.plane_row_bytes(p));
    }
  }
}

/// Damaged AV1 with several sequence headers, found by ./dev fuzz media. libdav1d 1.0 gives frames of one bit
/// depth and layout the format of another.
TEST_F(MediaTest, DamagedAv1GivesNoFramesBeyondTheirMemory) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(LENSD_SOURCE_DIR "/tests/fuzz/seeds/media")) {
    SCOPED_TRACE(entry.path().filename());
    ++files;
    try {
      const auto source = open_source(entry.path().string(), {});
      for (Picture picture; source->next(picture) == FrameOutcome::ok;) expect_planes(picture.planes);
      EXPECT_NE(source->stream_errors(), "") << entry;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::bad_source) << entry << error.what();
    }
  }
  EXPECT_EQ(files, 3);
}

}  // namespace
}  // namespace lensd::test

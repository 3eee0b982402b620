// Streams that hide columns and rows at the left and the top: the pictures begin exactly at the crop.
extern "C" {
#include <libavutil/opt.h>
}

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/media/ffmpeg/ffmpeg.hpp"
#include "core/media/source.hpp"
#include "tests/unit/core/media/media_fixture.hpp"

namespace lensd {
namespace {

struct CroppedStream {
  const char* encoder;
  const char* filter;  ///< bitstream filter that sets the crop
  int left, top;
};

constexpr int kStreamWidth = 128, kStreamHeight = 64;

/// Returns a grey gradient, 1.5 times the column plus the row, as a stream with the crop; empty if FFmpeg
/// cannot.
std::string encode_cropped(const CroppedStream& kind) {
  const AVCodec* codec = avcodec_find_encoder_by_name(kind.encoder);
  const AVBitStreamFilter* type = av_bsf_get_by_name(kind.filter);
  if (!codec || !type) return {};
  const ff::CodecPtr encoder(ff::allocated(avcodec_alloc_context3(codec)));
  encoder->width = kStreamWidth, encoder->height = kStreamHeight, encoder->pix_fmt = AV_PIX_FMT_YUV420P;
  encoder->time_base = {1, 25}, encoder->max_b_frames = 0;
  ff::Options options;
  options.set("crf", "1"), options.set("tune", "zerolatency"), options.set("x265-params", "log-level=none");
  if (avcodec_open2(encoder.get(), codec, options.get()) < 0) return {};
  AVBSFContext* raw = nullptr;
  ff::check_memory(av_bsf_alloc(type, &raw));
  const ff::FilterPtr filter(raw);
  ff::check_memory(avcodec_parameters_from_context(filter->par_in, encoder.get()));
  EXPECT_EQ(av_opt_set_int(filter->priv_data, "crop_left", kind.left, 0), 0);
  EXPECT_EQ(av_opt_set_int(filter->priv_data, "crop_top", kind.top, 0), 0);
  EXPECT_EQ(av_bsf_init(filter.get()), 0);
  std::string stream;
  const ff::PacketPtr packet = ff::make_packet();
  constexpr int kFrames = 3;
  for (int i = 0; i <= kFrames; ++i) {
    const ff::FramePtr frame = ff::make_frame();
    frame->width = kStreamWidth, frame->height = kStreamHeight, frame->format = encoder->pix_fmt,
    frame->pts = i;
    ff::check_memory(av_frame_get_buffer(frame.get(), 0));
    for (int y = 0; y < kStreamHeight; ++y)
      for (int x = 0; x < kStreamWidth; ++x)
        frame->data[0][y * frame->linesize[0] + x] = static_cast<uint8_t>(std::min(255, x * 3 / 2 + y));
    for (const int p : {1, 2})
      std::fill_n(frame->data[p], frame->linesize[p] * kStreamHeight / 2, uint8_t{128});
    EXPECT_EQ(avcodec_send_frame(encoder.get(), i < kFrames ? frame.get() : nullptr), 0);
    while (avcodec_receive_packet(encoder.get(), packet.get()) == 0) {
      EXPECT_EQ(av_bsf_send_packet(filter.get(), packet.get()), 0);
      while (av_bsf_receive_packet(filter.get(), packet.get()) == 0)
        stream.append(reinterpret_cast<const char*>(packet->data), static_cast<size_t>(packet->size));
    }
  }
  return stream;
}

class CroppedStreams : public test::MediaTest, public testing::WithParamInterface<CroppedStream> {};

TEST_P(CroppedStreams, BeginExactlyAtTheCrop) {
  const CroppedStream& kind = GetParam();
  const std::string stream = encode_cropped(kind);
  if (stream.empty()) GTEST_SKIP() << "FFmpeg has no " << kind.encoder << " or " << kind.filter;
  put("cropped", stream);
  const auto source = open_source(file("cropped"), {});
  EXPECT_EQ(source->info().picture.extent, (Extent{kStreamWidth - kind.left, kStreamHeight - kind.top}));
  Picture picture;
  ASSERT_EQ(source->next(picture), FrameOutcome::ok);
  for (const int y : {0, 20})
    for (const int x : {0, 1, 30})
      EXPECT_NEAR(picture.planes.planes[0][y * picture.planes.pitch_bytes[0] + x],
                  (x + kind.left) * 3 / 2 + y + kind.top, 2)
          << x << "," << y;
}

INSTANTIATE_TEST_SUITE_P(Codecs, CroppedStreams,
                         testing::Values(CroppedStream{"libx264", "h264_metadata", 2, 0},
                                         CroppedStream{"libx264", "h264_metadata", 64, 2},
                                         CroppedStream{"libx264", "h264_metadata", 66, 6},
                                         CroppedStream{"libx265", "hevc_metadata", 2, 4},
                                         CroppedStream{"libx265", "hevc_metadata", 70, 2}),
                         [](const auto& test) {
                           return std::string(test.param.encoder) + "_" + std::to_string(test.param.left);
                         });

}  // namespace
}  // namespace lensd

// Cropping of frames on the GPU. FFmpeg's cropping of frames in host memory is the reference; neither needs a
// GPU, because only pointers and sizes change.
#include <gtest/gtest.h>

extern "C" {
#include <libavutil/hwcontext.h>
#include <libavutil/pixdesc.h>
}

#include "core/media/input/decoder.hpp"

namespace lensd {
namespace {

constexpr int kCodedWidth = 96, kCodedHeight = 64;

ff::FramePtr coded_frame(AVPixelFormat format) {
  ff::FramePtr frame = ff::make_frame();
  frame->format = format, frame->width = kCodedWidth, frame->height = kCodedHeight;
  if (av_frame_get_buffer(frame.get(), 0) < 0) throw std::bad_alloc();
  return frame;
}

/// Makes FFmpeg take the frame for a surface of the GPU with samples of its former format.
void mark_as_gpu_frame(AVFrame& frame) {
  AVBufferRef* context = av_buffer_allocz(sizeof(AVHWFramesContext));
  if (!context) throw std::bad_alloc();
  reinterpret_cast<AVHWFramesContext*>(context->data)->sw_format = static_cast<AVPixelFormat>(frame.format);
  frame.hw_frames_ctx = context, frame.format = AV_PIX_FMT_CUDA;
}

void set_cropping(AVFrame& frame, size_t left, size_t top, size_t right, size_t bottom) {
  frame.crop_left = left, frame.crop_top = top, frame.crop_right = right, frame.crop_bottom = bottom;
}

TEST(GpuCropping, ShowsTheSamePartAsSoftwareDecoding) {
  for (const AVPixelFormat format : {AV_PIX_FMT_NV12, AV_PIX_FMT_P010LE, AV_PIX_FMT_P016LE,
                                     AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUV444P16LE, AV_PIX_FMT_YUV420P})
    for (const auto& [left, top] : {std::pair<size_t, size_t>{0, 0}, {6, 0}, {0, 4}, {2, 2}, {34, 18}}) {
      SCOPED_TRACE(std::string(av_get_pix_fmt_name(format)) + " " + std::to_string(left) + "," +
                   std::to_string(top));
      const ff::FramePtr coded = coded_frame(format);
      ff::FramePtr software(av_frame_clone(coded.get())), gpu(av_frame_clone(coded.get()));
      mark_as_gpu_frame(*gpu);
      set_cropping(*software, left, top, 10, 8), set_cropping(*gpu, left, top, 10, 8);
      ASSERT_EQ(av_frame_apply_cropping(software.get(), AV_FRAME_CROP_UNALIGNED), 0);
      // As the decoder does; FFmpeg leaves the left and top cropping to the caller.
      ASSERT_EQ(av_frame_apply_cropping(gpu.get(), 0), 0);
      apply_gpu_cropping(*gpu);
      EXPECT_EQ(gpu->width, software->width);
      EXPECT_EQ(gpu->height, software->height);
      for (int p = 0; p < 3; ++p) EXPECT_EQ(gpu->data[p], software->data[p]) << "plane " << p;
      EXPECT_EQ(gpu->crop_left, 0u);
      EXPECT_EQ(gpu->crop_top, 0u);
    }
}

TEST(GpuCropping, LeavesFramesInHostMemoryAndImpossibleValues) {
  const ff::FramePtr host = coded_frame(AV_PIX_FMT_NV12);
  const uint8_t* const luma = host->data[0];
  set_cropping(*host, 8, 8, 0, 0);
  apply_gpu_cropping(*host);
  EXPECT_EQ(host->data[0], luma);
  EXPECT_EQ(host->width, kCodedWidth);
  mark_as_gpu_frame(*host);
  set_cropping(*host, kCodedWidth, 0, 0, 0);
  apply_gpu_cropping(*host);
  EXPECT_EQ(host->data[0], luma);
  EXPECT_EQ(host->width, kCodedWidth);
}

}  // namespace
}  // namespace lensd

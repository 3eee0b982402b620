// Writes uncompressed pictures to a Video4Linux output: a loopback device (v4l2loopback), which other
// programs use as a camera, or an output of a graphics card or a test driver (vivid). Internal to core/media.
//
//   packet ──copy──▶ mapped kernel buffer ── VIDIOC_QBUF ──▶ driver
//                          ▲                                   │
//                          └───────── VIDIOC_DQBUF ────────────┘
//
// Uses the driver's buffers if it has any, else write(). FFmpeg's muxer v4l2 uses only write(), which many
// drivers do not support. Nothing blocks: a picture is dropped if the driver has no free buffer. Use on one
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/media/camera/v4l2_buffers.hpp"
#include "core/media/camera/v4l2_device.hpp"
#include "core/media/ffmpeg/ffmpeg.hpp"
#include "core/media/output/stream_connection.hpp"

namespace lensd {

class VideoDevice final : public StreamConnection {
 public:
  /// Takes over the device that was opened at `path` and sets the format and rate of the pictures. Throws
  /// Error(bad_source) if the device is missing, busy, or does not take such pictures.
  VideoDevice(std::unique_ptr<V4l2Device> device, const std::string& path, const AVCodecParameters& video,
              AVRational rate);
  ~VideoDevice() override;

  void start_at(int64_t) override {}  // devices show a picture when they get it
  /// Returns AVERROR(ETIMEDOUT) if the driver has had no free buffer for 3 s.
  int write(const AVPacket& packet) override;
  int complete(bool) override { return 0; }
  std::string reason(int error) const override;

  /// Returns true if the driver's buffers are used, false if write() is.
  bool uses_buffers() const noexcept { return buffers_.size() > 0; }

 private:
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail_device() const;
  uint32_t find_type();
  v4l2_format request_format(uint32_t fourcc, const AVCodecParameters& video);
  void set_format(const AVCodecParameters& video);
  void set_rate(AVRational rate);
  void prepare_buffers();
  int write_whole(const AVPacket& packet);
  int fill_and_queue(const AVPacket& packet);
  int take_buffer(uint32_t& index);
  int count_wait();
  void copy_picture(const AVPacket& packet, const V4l2Buffers::Buffer& buffer) const;

  const std::string path_;
  const std::unique_ptr<V4l2Device> opened_;
  V4l2Device& device_ = *opened_;
  uint32_t node_ = 0;  ///< result of node_capabilities()
  uint32_t type_ = 0;
  AVPixelFormat pixels_ = AV_PIX_FMT_NONE;
  Extent size_;
  size_t memory_planes_ = 1;
  V4l2Layout layout_;
  size_t packet_bytes_ = 0;
  V4l2Buffers buffers_{device_};
  uint32_t unused_ = 0;  ///< index of the first buffer that was never queued
  bool streaming_ = false;
  std::vector<uint8_t> whole_;    ///< the picture for write(), if the driver's rows are padded
  int64_t waiting_since_ns_ = 0;  ///< time since which the driver has no free buffer; 0: it has one
};

}  // namespace lensd

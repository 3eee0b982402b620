// Reads pictures from a Video4Linux camera, without libavdevice.
//
//   driver ──▶ mapped kernel buffer ──copy──▶ packet (compressed) or picture buffer (uncompressed)
//                  ▲                 │
//                  └──── queued again at once
//
// The copy makes pictures independent of the device: they stay valid after it is closed or unplugged.
// libavdevice lends the kernel's buffers instead and returns them to a device that may already be closed. The
// copy writes uncompressed pictures directly into a buffer of the PictureAllocator, which may be pinned, so
// that the upload needs no other copy.
//
// Call all functions from one thread. read() returns if the driver delivers nothing for 50 ms (poll
// interval).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/media/camera/camera_controls.hpp"
#include "core/media/camera/camera_monitor.hpp"
#include "core/media/camera/mode_choice.hpp"
#include "core/media/camera/v4l2_buffers.hpp"
#include "core/media/camera/v4l2_device.hpp"
#include "core/media/camera/v4l2_formats.hpp"
#include "core/media/ffmpeg/picture_allocator.hpp"

namespace lensd {

/// Options of a camera in source.options. `channel`: number of the input; `standard`: PAL, NTSC or SECAM.
inline constexpr const char* kCameraOptions[] = {"channel", "standard"};

class V4l2Capture {
 public:
  using Options = std::vector<std::pair<std::string, std::string>>;

  /// Takes over the camera that was opened at `path`, sets its mode and starts it. Throws Error(bad_source)
  /// if one of these fails, Error(invalid_config) if the camera has no such format, input or standard.
  /// `options` may contain only the names in kCameraOptions. If `controls` is not null, applies its wanted
  /// values before streaming begins, and its queued writes during read(). Counts damaged and missed pictures
  /// in `monitor`; if it is null, creates one.
  V4l2Capture(std::unique_ptr<V4l2Device> device, const std::string& path, const std::string& where,
              const RequestedMode& request, const Options& options,
              std::shared_ptr<SharedControls> controls = nullptr,
              std::shared_ptr<CameraMonitor> monitor = nullptr);
  ~V4l2Capture();
  V4l2Capture(const V4l2Capture&) = delete;
  V4l2Capture& operator=(const V4l2Capture&) = delete;

  const CameraFormatEntry& format() const noexcept { return *format_; }
  Extent size() const noexcept { return size_; }
  double rate() const noexcept { return rate_; }  ///< frames per second; 0: unknown

  /// Fills `packet` (compressed formats) or `frame` (uncompressed ones) with the next picture. Times are
  /// nanoseconds on the monotonic clock. Returns 0 or an AVERROR, for example EAGAIN if none came within the
  /// poll interval, ENODEV if the camera was unplugged, EIO if the signal's format or the wanted mode
  /// changed.
  int read(AVPacket& packet) noexcept;
  int read(AVFrame& frame, PictureAllocator& allocator) noexcept;

  /// Never null.
  const std::shared_ptr<CameraMonitor>& monitor() const noexcept { return monitor_; }

 private:
  /// A dequeued buffer.
  struct Filled {
    uint32_t index = 0;
    uint32_t field = V4L2_FIELD_ANY;
    int64_t time_ns = 0;
    std::array<size_t, kMaxV4l2Planes> offset = {}, bytes = {};
  };

  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void refuse(const std::string& what, const std::string& hint) const;
  /// Throws an Error that states why none of `formats` can be used. `requested`: the requested format; empty:
  /// any.
  [[noreturn]] void refuse_format(const std::vector<CameraFormat>& formats,
                                  const std::string& requested) const;
  void select_input(const std::string& number);
  void select_standard(const std::string& name);
  void adopt_signal(bool any_standard);
  void check_signal(int64_t now) noexcept;
  void set_format(const ChosenMode& mode);
  v4l2_format request_format(const ChosenMode& mode, uint32_t field);
  void report_size(Extent requested, Extent chosen) const;
  void read_layout(const v4l2_format& format);
  void set_rate(double rate);
  void map_buffers();
  void start();
  void set_colour(AVFrame& frame) const noexcept;
  void set_fields(AVFrame& frame, uint32_t field) const noexcept;

  void suspect_mode(bool suspected) noexcept;
  int next_picture(Filled& filled) noexcept;
  int dequeue(Filled& filled) noexcept;
  int wait() noexcept;
  bool take_events() noexcept;
  bool complete(const Filled& filled) noexcept;
  void count_missed(uint32_t sequence) noexcept;
  void queue(uint32_t index) noexcept;
  void copy_picture(const Filled& filled, AVFrame& frame) const noexcept;

  const std::string path_, where_;
  const std::unique_ptr<V4l2Device> opened_;
  V4l2Device& device_ = *opened_;
  v4l2_capability capability_ = {};
  const std::shared_ptr<SharedControls> shared_;  ///< may be null
  std::optional<CameraControls> controls_;
  const std::shared_ptr<CameraMonitor> monitor_;
  bool multi_planar_ = false;
  uint32_t type_ = V4L2_BUF_TYPE_VIDEO_CAPTURE;

  const CameraFormatEntry* format_ = nullptr;
  Extent size_;
  double rate_ = 0;
  uint32_t field_ = V4L2_FIELD_ANY;  ///< how the driver stores the fields of a picture
  size_t memory_planes_ = 1;
  /// `planes` are used for uncompressed formats only; `bytes` is the minimum size of a complete picture.
  V4l2Layout layout_{.planes = {}, .bytes = {1, 1, 1, 1}};
  v4l2_pix_format colour_ = {};  ///< only its colour fields are used

  V4l2Buffers buffers_{device_};
  bool streaming_ = false;
  v4l2_std_id standard_ = 0;      ///< TV standard of an analogue input; 0: none
  bool has_input_status_ = true;  ///< false: the driver does not describe its input
  int64_t signal_ns_ = 0;         ///< time of the newest check_signal()
  bool jpegs_end_ = false;  ///< this camera writes end markers, so that a JPEG without one is incomplete
  bool numbered_ = false;
  uint32_t sequence_ = 0;
};

}  // namespace lensd

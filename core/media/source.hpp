// Sources of decoded pictures.
//
//   open_source(url) ──▶ Source ── next() on the decode thread ──▶ Picture in host or GPU memory
//
// Call from the decode thread only, except members marked thread-safe. FFmpeg's headers stay inside
// core/media. Decoders write into pooled buffers (get_buffer2). With SourceOptions::pinned these are
// page-locked, so that uploads need no host copy. Pictures may outlive their source and be released on any
// thread.
//
// The GPU writes a picture with memory == device (hwdec) on the legacy default stream of the device's primary
// context. Make other streams wait for an event recorded on that stream.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/notices.hpp"
#include "core/image/picture_handle.hpp"
#include "core/image/pixel_aspect.hpp"
#include "core/media/hdr_metadata.hpp"
#include "core/media/tls_check.hpp"
#include "core/pipeline/chapters.hpp"
#include "core/pipeline/live_status.hpp"
#include "core/pipeline/source_control.hpp"

namespace lensd {

struct CameraMonitor;
struct HlsProgress;
class LiveAudio;
class SharedControls;
class V4l2Device;
struct PortalGrant;

enum class HwDecode : uint8_t { automatic, cuda, off };

/// Options of live sources (network, camera, PipeWire, screen).
struct LiveOptions {
  /// Format of a camera ("mjpeg", "yuyv422", "YUYV"…) or demuxer of a network stream; empty: automatic.
  std::string format;
  /// Size of the pictures of a camera, a PipeWire node or the screen. Empty: the largest with which the
  /// camera reaches the rate; preferably 1280×720 for PipeWire; FFmpeg's default for the screen.
  Extent size;
  /// Frames per second of a camera, a PipeWire node or the screen. 0: at least 30 if the camera reaches it;
  /// preferably 30 for PipeWire; 30 for the screen.
  double rate = 0;
  std::string rtsp_transport = "tcp";  ///< tcp, udp, udp_multicast or http
  TlsCheck tls = TlsCheck::automatic;  ///< check of the certificate of an https, rtmps or rtsps server
  int64_t open_ns = 10'000'000'000;    ///< timeout of opening, up to the first picture
  int64_t silence_ns = 3'000'000'000;  ///< closes a connection after this time without data
  bool silence_given = false;          ///< the user has set silence_ns; otherwise UDP and SRT wait less
  int64_t stall_ns = 700'000'000;      ///< `stalled` after this time without a picture, later at low rates
  bool low_latency = false;            ///< prefer low delay to robustness and throughput
  bool must_open = false;              ///< open_source() throws if no picture arrives
  bool placeholders = true;            ///< deliver pictures while the source delivers none
  bool captions = true;                ///< placeholders show the state and its reason as text
  /// Further options by name: options of FFmpeg, or for a camera those in kCameraOptions.
  std::vector<std::pair<std::string, std::string>> extra;
  ControlValues controls;  ///< controls of a camera, set before the first picture of every connection
  /// Values of `controls` from earlier runs, by camera (SourceControls::device). `controls` has precedence.
  KeptControls kept_controls;
  std::shared_ptr<SharedControls> shared_controls;  ///< cameras; set by open_source()
  std::shared_ptr<CameraMonitor> camera_monitor;    ///< cameras, PipeWire; set by open_source()
  /// Opens a camera's device; empty: opens the kernel's device. Tests set it to simulate a device.
  std::function<std::unique_ptr<V4l2Device>(const std::string& path)> camera_device;
  std::shared_ptr<PortalGrant> portal;  ///< sources of the desktop portal; set by open_source()
  /// Network streams: receives their audio and computes when pictures are due. Null: audio is not read.
  std::shared_ptr<LiveAudio> audio;
  std::shared_ptr<HlsProgress> hls;  ///< network streams; set by open_source()
};

struct SourceOptions {
  HwDecode hwdec = HwDecode::off;
  int device = 0;           ///< CUDA device for hwdec
  int decoder_threads = 0;  ///< 0: FFmpeg's choice
  int video_track = 0;      ///< number of the video track, from 1; 0: the best one
  /// If the source does not have that track, decode the best one and add a notice.
  bool or_best_track = false;
  int64_t start_ns = 0;    ///< position of the first picture
  double start_share = 0;  ///< position of the first picture as a fraction of the duration; 0: use start_ns
  /// For files: deliver only key frames. seek() then continues with the key frame at or before the position.
  bool key_frames_only = false;
  bool pinned = false;  ///< use page-locked buffers, for uploads to a GPU
  /// Flag that any thread may set. A blocked open_source() then throws, or returns a live source without a
  /// picture; a blocked next() returns. May be null; must outlive the source.
  const std::atomic<bool>* cancel = nullptr;
  /// For pipes and standard input: open_source() throws if no picture arrives in this time; 0: no limit.
  int64_t pipe_open_ns = 0;
  bool keep_colours = false;  ///< HDR and wide-gamut colours are not converted
  LiveOptions live;
};

/// Properties of an opened source. Strings, except `address`, are for display.
struct SourceInfo {
  std::string url, name;  ///< URL without secrets; short name for titles
  /// URL to open the source's audio again. May contain secrets: never shown, logged or stored.
  std::string address;
  TlsCheck tls = TlsCheck::automatic;  ///< for `address`
  std::string codec, decoder;          ///< decoder: "software" or "NVDEC"
  PictureInfo picture;                 ///< properties of the first frame; may change later
  HdrMetadata hdr;                     ///< HDR metadata of the first frame
  double fps = 0;                      ///< nominal frame rate; 0: unknown
  int64_t duration_ns = 0;             ///< 0: unknown
  int64_t frame_count = 0;             ///< number of frames stated by the container; 0: unknown
  int64_t start_ns = 0;           ///< timestamp of the first picture in the file, on the clock of its audio
  std::vector<Chapter> chapters;  ///< sorted by start
  std::vector<std::string> video_tracks;  ///< descriptions of all video tracks, cover pictures excluded
  int video_track = 0;  ///< number of the decoded track, from 1; 0: the source has no tracks
  std::shared_ptr<LiveAudio> live_audio;  ///< LiveOptions::audio of a live source
  bool live = false, seekable = false, image = false, has_audio = false;
  bool reopenable = false;      ///< another reader can read it from its start: no pipe, not live
  bool on_gpu = false;          ///< decoded pictures are in GPU memory
  bool times_may_jump = false;  ///< the container allows jumps of timestamps, as MPEG-TS does

  /// LiveOptions::extra, for `address`. May contain secrets: never shown, logged or stored.
  std::vector<std::pair<std::string, std::string>> address_options;
};

/// Result of Source::next().
enum class FrameOutcome : uint8_t { ok, again, end_of_stream };

class Source {
 public:
  virtual ~Source() = default;

  virtual const SourceInfo& info() const = 0;

  /// Waits for the next picture in presentation order and returns it in `out`. Returns `again` if there is
  /// none yet or the wait was interrupted. Throws Error(bad_source) if decoding cannot continue,
  /// Error(unavailable) if the GPU refuses the stream, MemoryError if out of memory.
  virtual FrameOutcome next(Picture& out) = 0;

  /// Makes next() continue `back` pictures before the first picture whose pts is at least `position_ns`.
  /// Takes the last picture if no pts is large enough, and the first picture if fewer than `back` pictures
  /// precede it. If the picture before `position_ns` lasts until more than 250 ms after it and `back` is 0,
  /// delivers that picture with pts_ns == position_ns.
  /// Exact: decodes from a key frame. Frame indices are counted with the container's index, or computed from
  /// the pts and the rate (FrameInfo::index_estimated). Throws Error(bad_source) if the source is not
  /// seekable.
  virtual void seek(int64_t position_ns, int back) = 0;
  void seek(int64_t position_ns) { seek(position_ns, 0); }

  /// Returns a number that identifies the key frame at or before a position, from the container's index.
  /// Returns nullopt if there is no usable index, or if it may lack key frames there. Decodes nothing.
  virtual std::optional<int64_t> indexed_key_frame(int64_t /*position_ns*/) const { return std::nullopt; }

  /// Returns a sentence about the errors so far (truncation, decode errors); empty if there was none.
  virtual std::string stream_errors() const = 0;

  /// Returns the state of a live source. LiveStatus::live is false for other sources. Thread-safe.
  virtual LiveStatus live_status() const { return {}; }

  /// Returns a number that increases while next() or seek() waits for data of a server or a pipe. Not for
  /// live sources, whose next() returns soon. Thread-safe.
  virtual uint64_t waits() const noexcept { return 0; }

  /// Returns how long next() and seek() have waited for data since the last picture, in nanoseconds;
  /// INT64_MAX: not known. The time in which the decoder works does not count. Thread-safe.
  virtual int64_t data_wait_ns() const noexcept { return INT64_MAX; }

  /// Returns the pixel aspect of the newest picture in upright orientation. Thread-safe.
  virtual PixelAspect pixel_aspect() const { return {}; }

  /// Returns a camera's controls; null if the source has none or was not connected yet. `keep_fresh`: for the
  /// next second, also read the values that the device changes without events. Thread-safe.
  virtual std::shared_ptr<const SourceControls> controls(bool /*keep_fresh*/) const { return nullptr; }
  /// Sets controls between two pictures, and again after every reconnection. Does not wait for the device:
  /// take_notices() reports if the driver refuses a value. If a value is not allowed, sets none and returns
  /// the reason; otherwise returns an empty string. Thread-safe.
  virtual std::string set_controls(const ControlValues&) { return "this source has no controls"; }
  /// Like set_controls(), but sets only the values that are allowed. Returns a message that names the other
  /// controls, or an empty string. Does nothing if the source has no controls. Thread-safe.
  virtual std::string set_allowed_controls(const ControlValues&) { return {}; }
  /// Sets controls to the driver's defaults; all of them if `names` is empty. Returns an error message, or an
  /// empty string. Thread-safe.
  virtual std::string reset_controls(const std::vector<std::string>& names) {
    return names.empty() ? "" : set_controls({});
  }
  /// Returns the messages since the last call. Thread-safe.
  virtual std::vector<Notice> take_notices() { return {}; }

  /// Makes a blocked next() or seek() return or throw soon. On a pipe, data that is being read is lost.
  /// Thread-safe.
  virtual void interrupt() noexcept = 0;
};

/// Opens a file, image, image sequence, "-" (standard input), "test:NAME" or a live source. Throws
/// Error(bad_source) if it cannot be read, Error(invalid_config) if an option does not fit the source,
/// Error(unavailable) if FFmpeg, the GPU or PipeWire lacks what it needs, or the desktop portal gives no
/// access.
///
/// Waits at most a second for the first picture of a live source, which then retries until it is closed; at
/// most `live.open_ns` for a file on an HTTP server. If `live.must_open` is set, waits at most `live.open_ns`
/// longer. Then throws Error(bad_source) if the first attempt fails or no picture arrives.
std::unique_ptr<Source> open_source(const std::string& url, const SourceOptions& options);

}  // namespace lensd

// Sources of decoded pictures.
//
//   open_source(url) ──▶ Source ── next() on the decode thread ──▶ Picture in host or GPU memory
//
// A Source belongs to the decode thread. FFmpeg's headers stay inside core/media. Decoders write into the
// pool's pinned buffers (get_buffer2), without a host copy before the upload. Pictures may outlive their
// source and be released on any thread.
//
// A picture with memory == device (hwdec) is written on the legacy default stream of the device's primary
// context: make other streams wait for an event recorded there.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/image/picture_handle.hpp"
#include "core/media/live_status.hpp"

namespace lensd {

enum class HwDecode : uint8_t { automatic, cuda, off };

/// Options of live sources (network, camera, screen).
struct LiveOptions {
  std::string format;  ///< camera: "mjpeg", "yuyv422"…; network: the demuxer; empty: automatic
  Extent size;         ///< camera, screen; empty: the device's default
  double rate = 0;     ///< camera, screen: frames per second; 0: the device's default, screen 30
  std::string rtsp_transport = "tcp";  ///< tcp, udp, udp_multicast or http
  int64_t open_ns = 10'000'000'000;    ///< timeout of opening, up to the first picture
  int64_t silence_ns = 3'000'000'000;  ///< closes a connection after this time without data
  int64_t stall_ns = 700'000'000;      ///< stalled after this time without a picture
  bool low_latency = false;            ///< least delay, at the cost of robustness and throughput
  bool must_open = false;              ///< open_source() fails if there is no picture at first
  bool placeholders = true;            ///< deliver pictures with the reason while there are none
  std::vector<std::pair<std::string, std::string>> extra;  ///< further FFmpeg options, by name
};

struct SourceOptions {
  HwDecode hwdec = HwDecode::off;
  int device = 0;           ///< CUDA device for hwdec
  int decoder_threads = 0;  ///< 0: FFmpeg's choice
  int64_t start_ns = 0;
  bool pinned = false;  ///< use page-locked buffers, for uploads to a GPU
  /// Any thread may set it to true: a blocked open_source() then throws and a blocked next() returns. May be
  /// null; must outlive the source.
  const std::atomic<bool>* cancel = nullptr;
  LiveOptions live;
};

/// Properties of an opened source; texts are for display.
struct SourceInfo {
  std::string url, name;       ///< without secrets; a short name
  std::string codec, decoder;  ///< decoder: "software" or "NVDEC"
  PictureInfo picture;         ///< of the first frame; may change later
  double fps = 0;              ///< nominal; 0: unknown
  int64_t duration_ns = 0;     ///< 0: unknown
  int64_t frame_count = 0;     ///< as announced; 0: unknown
  bool live = false, seekable = false, image = false, has_audio = false;
};

/// Result of Source::next().
enum class FrameOutcome : uint8_t { ok, again, end_of_stream };

class Source {
 public:
  virtual ~Source() = default;

  virtual const SourceInfo& info() const = 0;

  /// The next picture in presentation order. `again`: none yet or interrupted, call again. Throws
  /// Error(bad_source) if decoding cannot continue.
  virtual FrameOutcome next(Picture& out) = 0;

  /// Makes next() continue with the first picture of pts ≥ `position_ns`, exactly: it decodes from the key
  /// frame before. Frame indices follow from the position and the nominal rate. Throws Error(bad_source) if
  /// the source is not seekable.
  virtual void seek(int64_t position_ns) = 0;

  /// One sentence about the errors so far (truncation, decode errors); empty if there was none.
  virtual std::string stream_errors() const = 0;

  /// State of a live source; `live` is false for others. Thread-safe.
  virtual LiveStatus live_status() const { return {}; }

  /// Makes a blocked next() or seek() return soon. On a pipe, data in flight is lost. Thread-safe.
  virtual void interrupt() noexcept = 0;
};

/// Opens a file, image, image sequence, "-" (standard input), "test:NAME" or a live source. Throws
/// Error(bad_source) if it cannot be read, Error(invalid_config) if an option does not fit the source.
///
/// For a live source it waits at most a second for the first picture. The source then retries for ever,
/// unless `live.must_open` is set (core/media/live/live_source.hpp).
std::unique_ptr<Source> open_source(const std::string& url, const SourceOptions& options);

}  // namespace lensd

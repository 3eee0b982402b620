// Sources: where decoded pictures come from.
//
//   open(url) ──▶ Source ── next() on the decode thread ──▶ Picture in pinned host memory (or on the GPU)
//
// A Source belongs to the decode thread. FFmpeg's headers stay inside core/media. Decoders write straight
// into the pool's pinned buffers (get_buffer2): there is no host copy between decoder and upload. Pictures
// may outlive their source and be dropped on any thread.
//
// A picture with memory == device (hwdec) was written by work on the legacy default stream of the device's
// primary context: order other streams behind an event recorded there.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/image/picture_handle.hpp"
#include "core/media/live/live_status.hpp"

namespace lensd {

enum class HwDecode : uint8_t { automatic, cuda, off };

/// How a live source (network, camera, screen) is opened and watched; files look at none of it.
struct LiveOptions {
  std::string format;  ///< camera: "mjpeg", "yuyv422"…; network: the demuxer; empty: chosen by itself
  Extent size;         ///< camera, screen: asked for; empty: the device's own
  double rate = 0;     ///< camera, screen: frames a second asked for; 0: the device's own, screen 30
  std::string rtsp_transport = "tcp";  ///< tcp, udp, udp_multicast or http
  int64_t open_ns = 10'000'000'000;    ///< from the first packet to the first picture
  int64_t silence_ns = 3'000'000'000;  ///< without data for so long, the connection is given up
  int64_t stall_ns = 700'000'000;      ///< without a picture for so long: stalled
  bool low_latency = false;            ///< least delay, whatever it costs in robustness and throughput
  bool must_open = false;              ///< open_source() fails when there is no picture at first
  bool placeholders = true;            ///< deliver pictures that tell the reason while there are none
  std::vector<std::pair<std::string, std::string>> extra;  ///< further options of FFmpeg, by its names
};

struct SourceOptions {
  HwDecode hwdec = HwDecode::off;
  int device = 0;           ///< CUDA device for hwdec
  int decoder_threads = 0;  ///< 0: FFmpeg's choice
  int64_t start_ns = 0;
  bool pinned = false;  ///< frames are uploaded to a GPU: use page-locked buffers
  /// Set to true by any thread, a blocked open_source() or next() gives up (open_source() throws). May be
  /// null; must outlive the source.
  const std::atomic<bool>* cancel = nullptr;
  LiveOptions live;
};

/// What is known about an opened source; texts are for people.
struct SourceInfo {
  std::string url, name;                                ///< as given; a short name without secrets
  std::string container, codec, pixel_format, decoder;  ///< decoder: "software" or "NVDEC"
  PictureInfo picture;      ///< of the first frame, as announced; next() tells the truth
  double fps = 0;           ///< nominal; 0: not known
  int64_t duration_ns = 0;  ///< 0: not known
  int64_t frame_count = 0;  ///< as announced; 0: not known
  bool live = false, seekable = false, image = false, has_audio = false;
  int64_t bit_rate = 0;
};

/// What a frame request came to.
enum class FrameOutcome : uint8_t { ok, again, end_of_stream };

class Source {
 public:
  virtual ~Source() = default;

  virtual const SourceInfo& info() const = 0;

  /// The next picture in presentation order, upright information included. `again`: nothing yet, call again
  /// (after an interruption). Throws Error(bad_source) when decoding cannot go on.
  virtual FrameOutcome next(Picture& out) = 0;

  /// The next picture is the first with pts ≥ `position_ns` (exact, decodes from the key frame before).
  /// Frame indices follow from the position and the nominal rate. Decoding up to the position is done by
  /// next(). Throws Error(bad_source) when the source is not seekable.
  virtual void seek(int64_t position_ns) = 0;

  /// One sentence about stream_errors met so far (truncation, decode errors), empty when there was none.
  virtual std::string stream_errors() const = 0;

  /// What a live source is doing; any thread. For other sources `live` is false.
  virtual LiveStatus live_status() const { return {}; }

  /// Makes a blocked next() or seek() return soon; any thread. On a pipe, what is being read is lost.
  virtual void interrupt() noexcept = 0;
};

/// Opens a file, image, image sequence, "-" (standard input), "test:NAME" or a live source. Throws
/// Error(bad_source) with one clear sentence: missing file, empty file, directory, not media, no video
/// stream; Error(invalid_config) when an option does not fit the kind of source.
///
/// A live source (core/media/live/live_source.hpp) that is not up yet is waited for a second at most; then it
/// is returned `connecting` and tried again for ever, unless `live.must_open` is set.
std::unique_ptr<Source> open_source(const std::string& url, const SourceOptions& options);

}  // namespace lensd

// Streams the newest frame as JPEG. Encodes each frame once for all watchers, and only while there are
// watchers.
//
//   encoder thread ── encode ──▶ newest picture ── changed() ──▶ each watcher takes it when ready to send
//
// Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "core/control/control_target.hpp"
#include "core/control/http/http_message.hpp"

namespace lensd {

class PictureStream {
 public:
  /// Encodes the newest frame. Returns null if no frame was processed after `made_after_ns`. May throw Error.
  using Encode = std::function<std::shared_ptr<const EncodedPicture>(int64_t made_after_ns)>;
  static constexpr const char* kType = "multipart/x-mixed-replace; boundary=lensd-frame";

  /// Encodes at most `fps` times a second.
  PictureStream(Encode encode, int fps);
  ~PictureStream();
  PictureStream(const PictureStream&) = delete;
  PictureStream& operator=(const PictureStream&) = delete;

  /// Returns a response body of type kType with one JPEG per part. A slow client gets fewer pictures. A
  /// picture without a successor is sent twice. The body must not outlive this object.
  std::shared_ptr<HttpStream> watch();

 private:
  class Watcher;
  void run();
  void notify();

  const Encode encode_;
  const int64_t period_ns_;
  const std::chrono::milliseconds repeat_delay_;  ///< at least two periods: no repeats while frames arrive
  std::mutex mutex_;
  std::condition_variable wake_;
  std::shared_ptr<const EncodedPicture> picture_;
  struct Notified {
    std::function<void()> changed;
    int64_t notified_ns = 0;  ///< FrameInfo::processed_ns of the picture for which `changed` was last called
  };
  std::map<const Watcher*, Notified> watchers_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace lensd

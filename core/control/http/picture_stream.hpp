// The newest frame as a JPEG, again and again, encoded once for all who watch.
//
//   Encode ── a thread of its own, asleep while nobody watches ──▶ one JPEG ──▶ Watchers, one a connection
//
// A watcher belongs to the thread of its connection.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "core/control/encoded_picture.hpp"

namespace lensd {

class PictureStream {
 public:
  /// The newest frame; null where there is none that was made after that. Called on the stream's thread; may
  /// throw Error.
  using Encode = std::function<std::shared_ptr<const EncodedPicture>(int64_t made_after_ns)>;

  /// Encodes at most `fps` times a second.
  PictureStream(Encode encode, int fps);
  /// All watchers are gone by then.
  ~PictureStream();
  PictureStream(const PictureStream&) = delete;
  PictureStream& operator=(const PictureStream&) = delete;

  /// Wakes all who wait for a picture: there are no more. Returns at once.
  void stop();

  /// While it lives, frames are encoded.
  class Watcher {
   public:
    explicit Watcher(PictureStream& stream);
    ~Watcher();
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;

    /// The newest picture if it is another one than before; waits half a second for it.
    std::shared_ptr<const EncodedPicture> next();

   private:
    PictureStream& stream_;
    uint64_t seen_ = 0;
  };

 private:
  void loop();
  bool have_picture() const;

  const Encode encode_;
  const int64_t period_ns_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const EncodedPicture> jpeg_;
  uint64_t number_ = 0;  ///< of jpeg_
  int watchers_ = 0;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace lensd

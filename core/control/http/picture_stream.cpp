#include "core/control/http/picture_stream.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"

namespace lensd {

PictureStream::PictureStream(Encode encode, int fps)
    : encode_(std::move(encode)), period_ns_(1'000'000'000 / fps), thread_([this] { loop(); }) {}

PictureStream::~PictureStream() {
  stop();
  thread_.join();
}

void PictureStream::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
}

void PictureStream::loop() {
  int64_t made_ns = 0;
  while (!stopping_) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || watchers_ > 0; });
      if (stopping_) return;
    }
    const int64_t begin = now_ns();
    try {
      if (auto encoded = encode_(have_picture() ? made_ns : 0)) {
        made_ns = encoded->frame.processed_ns;
        const std::lock_guard lock(mutex_);
        jpeg_ = std::move(encoded), ++number_;
        changed_.notify_all();
      }
    } catch (const Error& e) {
      log::warn("stream: {}", e.what());
      std::this_thread::sleep_for(std::chrono::seconds(1));
    }
    const int64_t pause = period_ns_ - (now_ns() - begin);
    std::unique_lock lock(mutex_);
    // Never all of a processor, however slow the encoder.
    changed_.wait_for(lock, std::chrono::nanoseconds(std::max<int64_t>(pause, 5'000'000)),
                      [this] { return stopping_.load(); });
  }
}

bool PictureStream::have_picture() const {
  const std::lock_guard lock(mutex_);
  return jpeg_ != nullptr;
}

PictureStream::Watcher::Watcher(PictureStream& stream) : stream_(stream) {
  {
    const std::lock_guard lock(stream_.mutex_);
    ++stream_.watchers_;
  }
  stream_.changed_.notify_all();
}

PictureStream::Watcher::~Watcher() {
  const std::lock_guard lock(stream_.mutex_);
  if (--stream_.watchers_ == 0) stream_.jpeg_.reset();
}

std::shared_ptr<const EncodedPicture> PictureStream::Watcher::next() {
  std::unique_lock lock(stream_.mutex_);
  const auto fresh = [this] { return stream_.jpeg_ && stream_.number_ != seen_; };
  stream_.changed_.wait_for(lock, std::chrono::milliseconds(500),
                            [&] { return stream_.stopping_ || fresh(); });
  if (stream_.stopping_ || !fresh()) return nullptr;
  seen_ = stream_.number_;
  return stream_.jpeg_;
}

}  // namespace lensd

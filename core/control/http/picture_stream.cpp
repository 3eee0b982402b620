#include "core/control/http/picture_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/log.hpp"

namespace lensd {
namespace {

/// Minimum pause after encoding a picture, so that a slow encoder does not use a whole core.
constexpr int64_t kRestNs = 5'000'000;
constexpr int64_t kRetryNs = 1'000'000'000;
/// Minimum time after a picture until it is repeated.
constexpr auto kMinRepeat = std::chrono::milliseconds(100);

std::string part(const EncodedPicture& picture) {
  const std::string head = fmt::format(
      "--lensd-frame\r\nContent-Type: image/jpeg\r\nContent-Length: {}\r\nX-Lensd-Frame: {}\r\n\r\n",
      picture.bytes.size(), picture.frame.index);
  return head + picture.bytes + "\r\n";
}

}  // namespace

class PictureStream::Watcher final : public HttpStream {
 public:
  explicit Watcher(PictureStream& stream) : stream_(stream) {}
  ~Watcher() override { on_change(nullptr); }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  void on_change(std::function<void()> changed) override {
    const std::lock_guard lock(stream_.mutex_);
    if (!changed) {
      stream_.watchers_.erase(this);
      return;
    }
    stream_.watchers_[this] = {std::move(changed)};
    stream_.wake_.notify_all();
  }

  std::string take() override {
    std::shared_ptr<const EncodedPicture> picture;
    {
      const std::lock_guard lock(stream_.mutex_);
      picture = stream_.picture_;
    }
    if (!picture || picture->frame.processed_ns <= seen_ns_) return {};
    seen_ns_ = picture->frame.processed_ns;
    unrepeated_ = picture;
    return part(*picture);
  }

  /// Sends the last picture a second time, because browsers show a part only when the next one begins.
  std::string heartbeat() override {
    const auto picture = std::exchange(unrepeated_, nullptr);
    return picture ? part(*picture) : std::string();
  }
  std::chrono::milliseconds heartbeat_delay() const override {
    return unrepeated_ ? stream_.repeat_delay_ : HttpStream::heartbeat_delay();
  }

 private:
  PictureStream& stream_;
  int64_t seen_ns_ = 0;
  std::shared_ptr<const EncodedPicture> unrepeated_;
};

PictureStream::PictureStream(Encode encode, int fps)
    : encode_(std::move(encode)),
      period_ns_(1'000'000'000 / fps),
      repeat_delay_(std::max(kMinRepeat, std::chrono::milliseconds(2000 / fps))),
      thread_([this] { run(); }) {}

PictureStream::~PictureStream() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

std::shared_ptr<HttpStream> PictureStream::watch() {
  return std::make_shared<Watcher>(*this);
}

/// Notifies the watchers that have not been notified of the newest picture. Call with mutex_ locked.
void PictureStream::notify() {
  const int64_t newest = picture_ ? picture_->frame.processed_ns : 0;
  for (auto& [watcher, entry] : watchers_) {
    if (entry.notified_ns >= newest) continue;
    try {
      entry.changed();
      entry.notified_ns = newest;
    } catch (const std::exception& e) {  // such as a failed allocation; the next call tries again
      log::warn("stream: {}", e.what());
    }
  }
}

void PictureStream::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stop_ || !watchers_.empty(); });
    if (stop_) return;
    const int64_t begin = now_ns(), after_ns = picture_ ? picture_->frame.processed_ns : 0;
    int64_t due_ns = begin + period_ns_;
    lock.unlock();
    std::shared_ptr<const EncodedPicture> encoded;
    try {
      encoded = encode_(after_ns);
    } catch (const std::exception& e) {
      log::warn("stream: {}", e.what());
      due_ns = begin + kRetryNs;
    }
    due_ns = std::max(due_ns, now_ns() + kRestNs);
    lock.lock();
    if (encoded) picture_ = std::move(encoded);
    notify();
    wake_.wait_for(lock, std::chrono::nanoseconds(due_ns - now_ns()), [this] { return stop_; });
  }
}

}  // namespace lensd

// LiveSource with scripted connections that come and go.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/media/burst.hpp"
#include "core/media/live/live_audio.hpp"
#include "core/media/live/live_source.hpp"
#include "core/media/live/placeholder.hpp"
#include "tests/unit/common/nanoseconds.hpp"

namespace lensd {

/// Controls the connections of a test: whether they succeed, how many pictures they deliver, why they end.
struct LiveScript {
  std::mutex mutex;
  std::condition_variable changed;
  bool up = false;
  int opened = 0, alive = 0, pictures = 0;
  Extent size{64, 48};
  bool live = true, hang = false, release = false;
  int64_t stamp_jump_ns = 0;
  std::atomic<int64_t> data_wait_ns{INT64_MAX};
  ExitCode code = ExitCode::bad_source;    ///< of `end`
  std::string end;                         ///< why the connection ends; empty: stays open
  bool finish = false;                     ///< the connection ends as a file does
  std::string notice;                      ///< of each connection; empty: none
  std::list<std::vector<uint8_t>> memory;  ///< pixels; pictures may outlive their connection

  void set(const auto& change) {
    const std::lock_guard lock(mutex);
    change(*this);
    changed.notify_all();
  }
};

class ScriptedConnection final : public Source {
 public:
  ScriptedConnection(LiveScript& script, const std::atomic<bool>& cancel) : script_(script), cancel_(cancel) {
    std::unique_lock lock(script_.mutex);
    while (script_.hang && !script_.release) script_.changed.wait_for(lock, std::chrono::milliseconds(5));
    if (!script_.up) throw Error(ExitCode::bad_source, "script", "connection refused");
    ++script_.opened, ++script_.alive;
    info_.picture = Placeholder::default_info(script_.size);
    info_.codec = "script", info_.fps = 50, info_.live = script_.live;
    const auto area = static_cast<size_t>(script_.size.width) * static_cast<size_t>(script_.size.height);
    pixels_ = script_.memory.emplace_back(2 * area, uint8_t{128}).data();
  }
  ~ScriptedConnection() override {
    const std::lock_guard lock(script_.mutex);
    --script_.alive;
  }
  const SourceInfo& info() const override { return info_; }
  FrameOutcome next(Picture& out) override {
    std::unique_lock lock(script_.mutex);
    for (;;) {
      if (cancel_) return FrameOutcome::again;
      if (script_.finish) return FrameOutcome::end_of_stream;
      if (!script_.end.empty()) throw Error(script_.code, "script", script_.end);
      if (script_.pictures > 0) break;
      script_.changed.wait_for(lock, std::chrono::milliseconds(5));
    }
    --script_.pictures;
    PictureRef ref;
    ref.info = info_.picture;
    const auto area =
        static_cast<size_t>(info_.picture.extent.width) * static_cast<size_t>(info_.picture.extent.height);
    ref.planes = {pixels_, pixels_ + area, pixels_ + area + area / 4, nullptr};
    ref.pitch_bytes = {info_.picture.extent.width, info_.picture.extent.width / 2,
                       info_.picture.extent.width / 2, 0};
    FrameInfo frame;
    frame.index = count_, frame.pts_ns = count_ * 20 * msec + script_.stamp_jump_ns;
    frame.capture_ns = frame.stamp_ns = now_ns();
    ++count_;
    out = Picture(ref, frame, nullptr);
    return FrameOutcome::ok;
  }
  void seek(int64_t, int) override {}
  int64_t data_wait_ns() const noexcept override { return script_.data_wait_ns; }
  std::string stream_errors() const override { return {}; }
  std::vector<Notice> take_notices() override {
    const std::lock_guard lock(script_.mutex);
    return script_.notice.empty() ? std::vector<Notice>() : std::vector<Notice>{{true, script_.notice}};
  }
  void interrupt() noexcept override {}

 private:
  LiveScript& script_;
  const std::atomic<bool>& cancel_;
  SourceInfo info_;
  const uint8_t* pixels_ = nullptr;
  int64_t count_ = 0;
};

class LiveSourceTest : public testing::Test {
 protected:
  void TearDown() override {
    script->set([](LiveScript& x) { x.release = true; });
    source.reset();
  }
  void open(bool placeholders = true) {
    SourceOptions options;
    options.live.placeholders = placeholders;
    options.live.stall_ns = 100 * msec;
    options.live.audio = audio;
    options.live.low_latency = low_latency;
    source = std::make_unique<LiveSource>(
        "udp://127.0.0.1:1", options,
        [script = script](const std::atomic<bool>& cancel) {
          return std::make_unique<ScriptedConnection>(*script, cancel);
        },
        10 * msec);
  }
  /// Returns the next placeholder if `placeholder`, otherwise the next other picture. Fails after 20 s.
  Picture wait_for(bool placeholder) {
    Picture picture;
    for (const int64_t end = now_ns() + 20 * sec; now_ns() < end;)
      if (source->next(picture) == FrameOutcome::ok && picture.info.placeholder == placeholder)
        return picture;
    ADD_FAILURE() << "no such picture arrived";
    return {};
  }

  void expect_only_newest() {
    script->set([](LiveScript& x) { x.up = true, x.pictures = 50; });
    open(false);
    while (source->live_status().frames < 50) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(source->live_status().dropped, 50u - kBurstPictures);
  }

  // Shared with the reader thread, which may outlive the source.
  std::shared_ptr<LiveScript> script = std::make_shared<LiveScript>();
  std::unique_ptr<LiveSource> source;
  std::shared_ptr<LiveAudio> audio;
  bool low_latency = false;
};

}  // namespace lensd

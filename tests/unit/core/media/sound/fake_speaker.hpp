// A SoundOutput that stores what is heard, and when.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/clock.hpp"
#include "core/media/sound/sound_output.hpp"

namespace lensd::test {

/// An output that stores the written frames with the time at which they are heard.
struct FakeSpeaker {
  std::mutex mutex;
  SoundOutput::Link link = SoundOutput::Link::ready;
  bool running = false;
  int64_t next_ns = 0;  ///< when the next frame is heard
  int flushes = 0;
  int64_t flushed_ns = 0;  ///< time of the last flush
  std::vector<std::pair<int64_t, float>> heard;

  /// Returns the times of frames that are louder than `level`, after `from_ns`.
  std::vector<int64_t> loud(int64_t from_ns = 0, float level = 0.01f) {
    const std::lock_guard lock(mutex);
    std::vector<int64_t> times;
    for (const auto& [time, value] : heard)
      if (time >= from_ns && std::abs(value) > level) times.push_back(time);
    return times;
  }
};

class FakeOutput final : public SoundOutput {
 public:
  explicit FakeOutput(FakeSpeaker& speaker) : s_(speaker) {}
  Link link() override {
    const std::lock_guard lock(s_.mutex);
    return s_.link;
  }
  void start() override {
    const std::lock_guard lock(s_.mutex);
    if (!std::exchange(s_.running, true)) s_.next_ns = now_ns() + kDelay;
  }
  void stop() override {
    drop();
    const std::lock_guard lock(s_.mutex);
    s_.running = false;
  }
  void flush() override {
    drop();
    const std::lock_guard lock(s_.mutex);
    ++s_.flushes, s_.flushed_ns = now_ns();
  }
  std::optional<int64_t> next_heard_ns() override {
    const std::lock_guard lock(s_.mutex);
    return s_.running ? std::optional(s_.next_ns) : std::nullopt;
  }
  size_t writable() override {
    const std::lock_guard lock(s_.mutex);
    return room();
  }
  void write(const float* samples, size_t frames) override {
    const std::lock_guard lock(s_.mutex);
    EXPECT_LE(frames, room());
    for (size_t i = 0; i < frames; ++i)
      s_.heard.emplace_back(s_.next_ns + sound_ns(static_cast<double>(i)), samples[i * kSoundChannels]);
    s_.next_ns += sound_ns(static_cast<double>(frames));
  }

 private:
  static constexpr int64_t kDelay = 20'000'000;
  /// Returns the frames that can be written. Call with the mutex locked. Grows until the next write().
  size_t room() const {
    const int64_t ahead = s_.next_ns - now_ns();
    return s_.running && ahead < 100'000'000 ? static_cast<size_t>(sound_frames(100'000'000 - ahead)) : 0;
  }
  void drop() {
    const std::lock_guard lock(s_.mutex);
    const int64_t now = now_ns() + kDelay;
    std::erase_if(s_.heard, [&](const auto& one) { return one.first > now; });
    s_.next_ns = std::min(s_.next_ns, now);
    if (s_.next_ns < now) s_.next_ns = now;
  }
  FakeSpeaker& s_;
};

}  // namespace lensd::test

// A device or server that plays sound. Internal to core/media. Use from one thread.
//
// The timeline of an output runs from start() to stop() without a break: if frames are not written in time,
// silence is heard instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "core/media/sound/sound_format.hpp"

namespace lensd {

class SoundOutput {
 public:
  virtual ~SoundOutput() = default;

  enum class Link : uint8_t { connecting, ready, lost };
  /// Returns the state of the connection. Starts a new attempt one second after a failure.
  virtual Link link() = 0;

  /// Starts the timeline. Does nothing if it already runs.
  virtual void start() = 0;
  /// Discards all frames that were not heard yet and stops the timeline. The sound ends at once.
  virtual void stop() = 0;
  /// Discards all frames that were not heard yet. The timeline continues.
  virtual void flush() = 0;

  /// Returns the monotonic time at which the next written frame is heard; nullopt: not known yet.
  virtual std::optional<int64_t> next_heard_ns() = 0;
  /// Returns the number of frames that can be written now.
  virtual size_t writable() = 0;
  virtual void write(const float* samples, size_t frames) = 0;
};

/// Returns an output to PulseAudio or PipeWire. Does not block. `wake` is called on another thread when the
/// connection or the timing changes, or frames can be written.
std::unique_ptr<SoundOutput> make_pulse_output(std::function<void()> wake);

}  // namespace lensd

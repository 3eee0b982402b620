// A SoundOutput that plays through a PulseAudio server, or PipeWire's equivalent.
//
// libpulse's thread runs the connection; its callbacks only update the timing and wake the output thread. The
// stream has no prebuffer, so its timeline continues during an underrun, and the time at which a frame is
// heard stays a linear function of its index.
#include <pulse/pulseaudio.h>

#include <algorithm>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/log.hpp"
#include "core/media/sound/sound_output.hpp"

namespace lensd {
namespace {

constexpr uint32_t kFrameBytes = sizeof(float) * kSoundChannels;
/// 100 ms of sound wait in the server and the device. More would delay the start and changes of the volume;
/// less would make a loaded machine stutter.
constexpr uint32_t kTargetBytes = kFrameBytes * (kSoundRate / 1000) * 100;
constexpr uint32_t kRequestBytes = kFrameBytes * (kSoundRate / 1000) * 20;
constexpr int64_t kRetryNs = 1'000'000'000, kTimingEveryNs = 100'000'000;

class PulseOutput final : public SoundOutput {
 public:
  explicit PulseOutput(std::function<void()> wake) : wake_(std::move(wake)) {
    loop_ = pa_threaded_mainloop_new();
    if (loop_ && pa_threaded_mainloop_start(loop_) < 0) {
      pa_threaded_mainloop_free(loop_);
      loop_ = nullptr;
    }
  }
  ~PulseOutput() override {
    if (!loop_) return;
    {
      const Lock lock(loop_);
      disconnect();
    }
    pa_threaded_mainloop_stop(loop_);
    pa_threaded_mainloop_free(loop_);
  }

  Link link() override {
    if (!loop_) return Link::lost;
    const Lock lock(loop_);
    const bool gone = (context_ && !PA_CONTEXT_IS_GOOD(pa_context_get_state(context_))) ||
                      (stream_ && !PA_STREAM_IS_GOOD(pa_stream_get_state(stream_)));
    if (gone) {
      log::info("sound server: {}", pa_strerror(pa_context_errno(context_)));
      disconnect();
      lost_ = true, retry_ns_ = now_ns() + kRetryNs;
    }
    if (!context_ && now_ns() >= retry_ns_) connect();
    if (context_ && !stream_ && pa_context_get_state(context_) == PA_CONTEXT_READY) open_stream();
    if (stream_ && pa_stream_get_state(stream_) == PA_STREAM_READY) {
      lost_ = false;
      return Link::ready;
    }
    return lost_ ? Link::lost : Link::connecting;
  }

  void start() override {
    const Lock lock(loop_);
    if (running_ || !ready()) return;
    running_ = true;
    release(pa_stream_cork(stream_, 0, nullptr, nullptr));
    renew_timing();
  }
  void stop() override {
    const Lock lock(loop_);
    if (!running_ || !ready()) return;
    running_ = known_ = false;
    release(pa_stream_cork(stream_, 1, nullptr, nullptr));
    release(pa_stream_flush(stream_, nullptr, nullptr));
  }
  void flush() override {
    const Lock lock(loop_);
    if (!ready()) return;
    release(pa_stream_flush(stream_, nullptr, nullptr));
    if (running_) update_timing();  // libpulse does not know the write index until the result arrives
  }

  std::optional<int64_t> next_heard_ns() override {
    const Lock lock(loop_);
    if (!ready() || !running_) return std::nullopt;
    if (now_ns() - timing_ns_ > kTimingEveryNs) update_timing();
    const pa_timing_info* timing = pa_stream_get_timing_info(stream_);
    if (!known_ || !timing || timing->write_index_corrupt) return std::nullopt;
    return begin_ns_ + to_ns(timing->write_index);
  }
  size_t writable() override {
    const Lock lock(loop_);
    if (!ready() || !running_) return 0;
    const size_t bytes = pa_stream_writable_size(stream_);
    return bytes == static_cast<size_t>(-1) ? 0 : std::min(bytes, room()) / kFrameBytes;
  }
  void write(const float* samples, size_t frames) override {
    const Lock lock(loop_);
    if (ready()) pa_stream_write(stream_, samples, frames * kFrameBytes, nullptr, 0, PA_SEEK_RELATIVE);
  }

 private:
  class Lock {
   public:
    explicit Lock(pa_threaded_mainloop* loop) : loop_(loop) {
      if (loop_) pa_threaded_mainloop_lock(loop_);
    }
    ~Lock() {
      if (loop_) pa_threaded_mainloop_unlock(loop_);
    }
    Lock(const Lock&) = delete;

   private:
    pa_threaded_mainloop* loop_;
  };

  static void release(pa_operation* operation) {
    if (operation) pa_operation_unref(operation);
  }
  bool ready() const { return stream_ && pa_stream_get_state(stream_) == PA_STREAM_READY; }

  static int64_t to_ns(int64_t bytes) { return sound_ns(static_cast<double>(bytes / kFrameBytes)); }

  /// Returns the room up to the buffer's target length, in bytes. Use it as a limit, because the server also
  /// requests data for the whole time of an underrun, and a flush does not remove these requests. Without the
  /// limit, the stream would take that much of the following sound at once.
  size_t room() const {
    const pa_buffer_attr* buffer = pa_stream_get_buffer_attr(stream_);
    const pa_timing_info* timing = pa_stream_get_timing_info(stream_);
    if (!buffer || !timing || !known_ || timing->write_index_corrupt) return 0;
    const int64_t device_ns = static_cast<int64_t>(timing->sink_usec) * 1000;
    const int64_t read = sound_frames(now_ns() + device_ns - begin_ns_) * kFrameBytes;
    return static_cast<size_t>(std::max<int64_t>(read + buffer->tlength - timing->write_index, 0));
  }

  /// Requests the stream's timing: the server's read index and the device's latency.
  /// libpulse's interpolation needs seconds to recover from a device that starts late, so it is not used.
  void update_timing() {
    timing_ns_ = now_ns();
    if (timing_++ == 0) release(pa_stream_update_timing_info(stream_, on_timing, this));
  }
  /// Discards the timing of the previous timeline and requests the new one.
  void renew_timing() {
    known_ = false, read_from_ = -1;
    update_timing();
  }
  static void on_timing(pa_stream*, int success, void* self) {
    auto& output = *static_cast<PulseOutput*>(self);
    const bool again = std::exchange(output.timing_, 0) > 1;
    if (success) output.read_timing();
    if (again || !output.known_) output.update_timing();
    output.wake_();
  }
  void read_timing() {
    const pa_timing_info* timing = pa_stream_get_timing_info(stream_);
    if (!timing || timing->read_index_corrupt || !running_) return;
    // A suspended device needs time to start: the timeline begins when the read index moves.
    if (read_from_ < 0) read_from_ = timing->read_index;
    if (timing->read_index == read_from_ && !known_) return;
    timeval now{};
    pa_gettimeofday(&now);
    const auto age_ns = static_cast<int64_t>(pa_timeval_diff(&now, &timing->timestamp)) * 1000;
    const auto device_ns = static_cast<int64_t>(timing->sink_usec) * 1000;
    begin_ns_ = now_ns() - age_ns + device_ns - to_ns(timing->read_index);
    known_ = true;
  }

  void connect() {
    context_ = pa_context_new(pa_threaded_mainloop_get_api(loop_), "lensd");
    if (!context_) return;
    pa_context_set_state_callback(
        context_, [](pa_context*, void* self) { static_cast<PulseOutput*>(self)->wake_(); }, this);
    pa_context_connect(context_, nullptr, PA_CONTEXT_NOAUTOSPAWN, nullptr);
  }

  void open_stream() {
    const pa_sample_spec spec{PA_SAMPLE_FLOAT32NE, kSoundRate, kSoundChannels};
    constexpr auto kDefault = static_cast<uint32_t>(-1);
    const pa_buffer_attr buffer{kDefault, kTargetBytes, 0, kRequestBytes, kDefault};
    pa_proplist* properties = pa_proplist_new();
    pa_proplist_sets(properties, PA_PROP_MEDIA_ROLE, "video");
    stream_ = pa_stream_new_with_proplist(context_, "lensd", &spec, nullptr, properties);
    pa_proplist_free(properties);
    if (!stream_) return;
    pa_stream_set_state_callback(
        stream_, [](pa_stream*, void* self) { static_cast<PulseOutput*>(self)->wake_(); }, this);
    pa_stream_set_write_callback(
        stream_, [](pa_stream*, size_t, void* self) { static_cast<PulseOutput*>(self)->wake_(); }, this);
    const auto flags = static_cast<pa_stream_flags_t>(PA_STREAM_START_CORKED | PA_STREAM_ADJUST_LATENCY);
    pa_stream_connect_playback(stream_, nullptr, &buffer, flags, nullptr, nullptr);
  }

  void disconnect() {
    if (stream_) {
      pa_stream_set_state_callback(stream_, nullptr, nullptr);
      pa_stream_set_write_callback(stream_, nullptr, nullptr);
      pa_stream_disconnect(stream_);
      pa_stream_unref(stream_);
    }
    if (context_) {
      pa_context_set_state_callback(context_, nullptr, nullptr);
      pa_context_disconnect(context_);
      pa_context_unref(context_);
    }
    stream_ = nullptr, context_ = nullptr;
    running_ = known_ = false, timing_ = 0;
  }

  const std::function<void()> wake_;
  pa_threaded_mainloop* loop_ = nullptr;
  // Used with the loop locked.
  pa_context* context_ = nullptr;
  pa_stream* stream_ = nullptr;
  bool running_ = false;
  bool known_ = false;      ///< begin_ns_ belongs to the current timeline
  int64_t begin_ns_ = 0;    ///< monotonic time at which byte 0 of the stream was or would have been heard
  int64_t read_from_ = -1;  ///< read index in the first timing since start(); negative: none yet
  int timing_ = 0;          ///< number of update_timing() calls since the last answer
  int64_t timing_ns_ = 0;   ///< time of the newest update_timing() call
  bool lost_ = false;       ///< the connection was lost or could not be established
  int64_t retry_ns_ = 0;
};

}  // namespace

std::unique_ptr<SoundOutput> make_pulse_output(std::function<void()> wake) {
  return std::make_unique<PulseOutput>(std::move(wake));
}

}  // namespace lensd

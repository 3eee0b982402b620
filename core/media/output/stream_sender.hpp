// The thread that holds the connection of a stream. Internal to core/media.
//
//   push() on the encoder's thread ──▶ queue ──▶ connect, write, reconnect on the sender's thread
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/base/bounded_queue.hpp"
#include "core/media/output/audio_copy.hpp"
#include "core/media/stream_output.hpp"

namespace lensd {

/// Counters and news of a stream; they outlive its senders.
struct StreamTally {
  std::atomic<StreamOutput::State> state{StreamOutput::State::idle};
  std::atomic<int64_t> sent{0}, bytes{0}, connections{0};
  std::atomic<uint64_t> dropped{0};
  std::mutex mutex;  ///< guards the news
  std::string news;
  bool problem = false;

  void tell(bool is_problem, std::string text);
};

struct StreamTarget {
  std::string url, shown, muxer;
};
/// Throws Error(usage) when `url` is no stream target.
StreamTarget stream_target(const std::string& url);

class StreamSender {
 public:
  StreamSender(const StreamTarget& target, const AVCodecContext& encoder, std::string audio_from,
               StreamTally& tally);
  ~StreamSender() { finish(); }

  /// Takes the packet or drops and counts it; times in the encoder's time base. Never waits.
  void push(const AVPacket& packet);
  /// The source's time was `position_ns` at recording time `recording_ns`; see AudioCopy::follow().
  void follow(int64_t recording_ns, int64_t position_ns);
  /// A connection was made: begin with a key frame. Told once.
  bool wants_key() noexcept { return wants_key_.exchange(false, std::memory_order_relaxed); }
  void finish();

 private:
  struct Item {
    ff::PacketPtr packet;  ///< null: a jump
    int64_t recording_ns = 0, position_ns = 0;
  };
  struct OutputFree {
    void operator()(AVFormatContext* p) const noexcept;
  };
  using OutputPtr = std::unique_ptr<AVFormatContext, OutputFree>;

  void loop();
  OutputPtr connect(int& error);
  int send(AVFormatContext& output);
  int write(AVFormatContext& output, AVPacket& packet);
  void close(OutputPtr output, bool whole);
  void drain_stale();
  void lost(const std::string& why);
  bool wait(int64_t ns);
  void set_deadline(int64_t ns);
  static int interrupted(void* self);

  StreamTarget target_;
  std::string audio_from_;
  StreamTally& tally_;
  AVRational time_base_, frame_rate_;
  std::unique_ptr<AVCodecParameters, void (*)(AVCodecParameters*)> codec_;
  BoundedQueue<Item> queue_{256};
  bool skip_to_key_ = false;  // encoder's thread
  std::unique_ptr<AudioCopy> audio_;
  std::optional<int64_t> start_;  // of this connection, in the encoder's time base
  bool told_ = false;
  std::atomic<bool> wants_key_{false}, ending_{false};
  std::atomic<int64_t> deadline_ns_{0}, end_deadline_ns_{INT64_MAX};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
};

}  // namespace lensd

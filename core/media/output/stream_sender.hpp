// Connects to a stream's receiver and sends to it, on its own thread. Internal to core/media.
//
//   push() on the encoder's thread ──▶ queue ──▶ connect, write, reconnect on the sender's thread
//
// The thread owns what it uses, because it may still hang in a name lookup when finish() returns.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>

#include "core/base/bounded_queue.hpp"
#include "core/base/owned_thread.hpp"
#include "core/media/ffmpeg/interrupt.hpp"
#include "core/media/output/muxer.hpp"
#include "core/media/output/playlist_lock.hpp"
#include "core/media/output/stream_connection.hpp"
#include "core/media/stream_output.hpp"

namespace lensd {

/// State of a stream, shared by its successive senders. Thread-safe.
struct SharedStreamStatus {
  std::atomic<bool> source_ended{false};  ///< StreamOutput::source_ended() was called
  std::atomic<bool> connected{false};     ///< a connection was made
  // Playlists only.
  std::atomic<bool> incomplete{false};  ///< segments are missing
  std::atomic<int> unfinished{0};       ///< number of senders that have not written their end
  PlaylistLock playlist_lock;
  std::atomic<StreamOutput::State> state{StreamOutput::State::idle};
  std::atomic<int64_t> sent{0}, bytes{0};
  std::atomic<uint64_t> dropped{0};
  NoticeList notices;

  /// Why there is no connection; empty while there is one.
  std::string reason() const {
    const std::lock_guard lock(mutex_);
    return reason_;
  }
  void set_reason(std::string reason) {
    const std::lock_guard lock(mutex_);
    if (!reason.empty()) last_reason_ = reason;
    reason_ = std::move(reason);
  }
  /// The last reason that was not empty.
  std::string last_reason() const {
    const std::lock_guard lock(mutex_);
    return last_reason_;
  }

 private:
  mutable std::mutex mutex_;
  std::string reason_, last_reason_;
};

/// FFmpeg opens `url`. Messages contain `shown`, which has no secrets. `muxer`: FFmpeg's name of the
/// container.
struct StreamTarget {
  std::string url, shown, muxer;
  TlsCheck tls = TlsCheck::automatic;
};
/// Parses a stream target. Throws like check_stream_url().
StreamTarget stream_target(const std::string& url, TlsCheck tls = TlsCheck::automatic);

class StreamSender {
 public:
  StreamSender(const StreamTarget& target, const VideoEncoder& encoder, AudioSource audio_from,
               std::shared_ptr<SharedStreamStatus> status);
  ~StreamSender();

  /// Queues the packet, whose times are in the encoder's time base. If the queue is full, drops and counts
  /// this packet and all up to the next key frame. Does not block.
  void push(const AVPacket& packet);
  /// Queues a jump for AudioCopy::add_jump(). If the queue is full, the jump precedes the next packet that
  /// fits. Does not block.
  void add_jump(const SourceJump& jump);
  /// Returns true once per connection, because a new connection needs a key frame. Clears the request.
  bool take_key_request() noexcept;
  /// Sends the queued packets, for less than a second. Then joins the thread, or leaves it running in the
  /// background (core/base/owned_thread.hpp).
  void finish();

 private:
  class Worker;
  const std::shared_ptr<Worker> worker_;
  OwnedThread thread_;
};

/// The state of a StreamSender, shared with its thread.
class StreamSender::Worker {
 public:
  Worker(const StreamTarget& target, const VideoEncoder& encoder, AudioSource audio_from,
         std::shared_ptr<SharedStreamStatus> status);
  void push(const AVPacket& packet);
  void add_jump(const SourceJump& jump);
  bool take_key_request() noexcept { return key_requested_.exchange(false, std::memory_order_relaxed); }
  void end();
  void abandon_audio() noexcept { abandon_audio_ = true; }
  void run_until_end();

 private:
  struct Item {
    ff::PacketPtr packet;  ///< null: the item is a jump
    SourceJump jump = {};
  };

  bool push_jump();
  void run();
  std::unique_ptr<StreamConnection> connect(int& error);
  std::unique_ptr<StreamConnection> open_device(int& error);
  int send(StreamConnection& connection);
  void count_dropped() noexcept { status_->dropped.fetch_add(1, std::memory_order_relaxed); }
  void discard_queue();
  void report_lost(const std::string& reason);
  std::string reason_of(int error) const;
  bool is_hls() const { return target_.muxer == "hls"; }
  bool wait(int64_t ns);
  bool wait_for_retry();
  void connected();
  void check_stable();

  StreamTarget target_;
  AudioSource audio_from_;
  const std::shared_ptr<SharedStreamStatus> status_;
  const EncodedFormat format_;
  BoundedQueue<Item> queue_{256};
  // skip_to_key_ and jump_ are used by the encoder's thread only; audio_ to random_ by the sender's thread
  // only.
  bool skip_to_key_ = false;
  std::optional<Item> jump_;  // the last jump, until it is queued
  std::unique_ptr<AudioCopy> audio_;
  PlaylistLock::Share playlist_lock_;
  bool started_ = false;        // a key frame was written to this connection
  std::string refusal_;         // why the connection failed, if FFmpeg's error code does not tell the reason
  bool lost_reported_ = false;  // the current outage was reported
  bool stable_ = false;         // the current or last connection lasted
  bool short_lived_ = false;    // the last connection ended before it was stable
  int64_t connected_ns_ = 0, retry_ns_ = 0;
  std::minstd_rand random_;  // for jitter
  std::atomic<bool> key_requested_{false}, ending_{false}, abandon_audio_{false};
  IoDeadline deadline_{nullptr};
  std::mutex mutex_;
  std::condition_variable wake_;
};

}  // namespace lensd

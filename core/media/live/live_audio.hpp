// The audio of a live stream on its way from the connection to the sound, and the times of its pictures.
//
//   reader thread (Input, LiveReader) ── packets, arrivals ──▶ LiveAudio ── take() ──▶ sound's decode thread
//   decode thread (LiveSource) ◀── due_ns() ── LiveAudio ◀── publish() ── sound's decode thread
//
// A stream can be read only once, so its audio comes from the connection of the pictures. Both have the same
// clock. While no one takes the packets, the oldest are dropped. Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

#include "core/base/seq_lock.hpp"
#include "core/media/ffmpeg/ffmpeg.hpp"
#include "core/media/live/playout_delay.hpp"

namespace lensd {

class LiveAudio {
 public:
  /// `track`: number of the audio track, from 1; 0: the best one. Throws Error(runtime_failure) if out of
  /// memory.
  explicit LiveAudio(int track);

  int track() const noexcept { return track_; }

  // ---- reader thread
  /// Call for each new connection. `codec`: of its audio; null: it has none. `time_base`: of the packets.
  /// `unparsed`: packets may hold any part or number of frames.
  void connected(const AVCodecParameters* codec, AVRational time_base, bool unparsed);
  /// Takes a packet's content. Packets without data, of more than 1 MiB or with absurd times are dropped.
  void put(AVPacket& packet) noexcept;
  /// Call for each decoded picture. `stream_ns`: its timestamp in the stream.
  void picture(int64_t stream_ns, int64_t now_ns) noexcept;

  /// Call if a server plays only without its audio. Later connections do not ask for it.
  void set_refused() noexcept { refused_ = true; }
  bool refused() const noexcept { return refused_; }
  /// Returns true after set_unreadable(), until the source has connected again.
  bool unreadable() const noexcept { return unreadable_; }

  // ---- sound's decode thread, see live_sound.hpp
  struct Connection {
    uint32_t number = 0;         ///< 0: not connected yet
    ff::ParametersPtr codec;     ///< null: it has no audio
    AVRational time_base{0, 1};  ///< of the packets
    bool unparsed = false;
  };
  /// Returns the number of the current connection.
  uint32_t number() const;
  Connection connection() const;
  /// Moves the next packet of connection `number` to `out` and returns true. Returns false if none arrives in
  /// `wait_ns`, after wake(), or at once if there is a newer connection.
  bool take(AVPacket& out, uint32_t number, int64_t wait_ns);
  /// Makes take() return.
  void wake() noexcept;
  /// See PlayoutDelay.
  std::optional<int64_t> target_ns(int64_t output_ns) const;
  int64_t first_ns() const;
  /// Sets when sound is heard: timestamp T of connection `number` at T + `delay_ns`. Number 0: there is no
  /// sound.
  void publish(uint32_t number, int64_t delay_ns) noexcept;

  /// Call if packets can no longer be decoded although earlier ones could: another sender at the same address
  /// uses another codec, which demuxers do not notice. Makes the source connect again.
  void set_unreadable() noexcept { unreadable_ = true; }

  // ---- decode thread
  /// Returns the monotonic time at which the picture with timestamp `stream_ns` of connection `number` is
  /// due; 0: at once, because there is no sound.
  int64_t due_ns(uint32_t number, int64_t stream_ns) const noexcept;

 private:
  static constexpr size_t kPackets = 256;
  static constexpr int kMostBytes = 1 << 20;
  struct Playout {
    uint32_t number = 0;
    int64_t delay_ns = 0;
  };

  void drop_packets() noexcept;

  const int track_;
  std::atomic<bool> refused_{false}, unreadable_{false};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Connection connection_;
  std::array<ff::PacketPtr, kPackets> packets_;  ///< a ring
  size_t first_ = 0, count_ = 0;
  uint64_t wakes_ = 0;
  PlayoutDelay delay_;
  SeqLock<Playout> playout_;
};

}  // namespace lensd

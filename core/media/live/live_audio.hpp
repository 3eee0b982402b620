// Passes the audio of a live stream from the connection to the sound and to outputs, and computes when the
// stream's pictures are due.
//
//   reader thread (Input, LiveReader) ── packets, arrivals ──▶ LiveAudio ── take() ──▶ sound's decode thread
//                                                                  └─ next() ──▶ recordings, outputs
//   decode thread (LiveSource) ◀── due_ns() ── LiveAudio ◀── publish() ── sound's decode thread
//
// A stream can be read only once, so its audio comes from the connection of the pictures. Audio and pictures
// have the same clock. The packets of the last seconds are kept, since a picture may be recorded later than
// its sound arrives. Thread-safe.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "core/base/seq_lock.hpp"
#include "core/media/ffmpeg/ffmpeg.hpp"
#include "core/media/live/playout_delay.hpp"

namespace lensd {

class LiveAudio {
 public:
  /// `track`: number of the audio track, from 1; 0: the best one. Throws MemoryError if out of memory.
  explicit LiveAudio(int track);

  int track() const noexcept { return track_; }

  // ---- reader thread
  /// Call for each new connection, and if the format changes within one. `codec`: codec of the connection's
  /// audio; null if it has none. `time_base`: time base of the packets. `unparsed`: packets may hold any part
  /// or number of frames.
  void connected(const AVCodecParameters* codec, AVRational time_base, bool unparsed);
  /// Takes a packet's content. Drops packets without data, of more than 1 MiB or with implausible times.
  void put(AVPacket& packet) noexcept;
  /// Call for each decoded picture. `stream_ns`: its timestamp in the stream.
  void picture(int64_t stream_ns, int64_t now_ns) noexcept;

  /// Call if a server sends the stream only when no audio is requested. For ten minutes, new connections then
  /// request no audio.
  void set_refused() noexcept;
  bool refused() const noexcept;
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
  /// Returns connection `number`. Its codec is null if the number is unknown or older than the last four.
  Connection connection(uint32_t number) const;
  /// Sets `out` to the next packet of connection `number` and returns true. Returns false if none arrives in
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

  // ---- threads of recordings and outputs
  /// Keeps packets for this time plus four seconds, at most 16 MiB, for a recording that starts in the past.
  /// Without this call, packets are kept for four seconds.
  void keep(int64_t ns) noexcept;
  /// Copies a reference to the next packet of connection `number` to `out` and returns true. `place`: 0 for
  /// the oldest packet, then the value of the last call. Skips packets of older connections. Returns false at
  /// a packet of a newer connection, and if there is no packet.
  bool next(AVPacket& out, uint32_t number, uint64_t& place) const;
  /// Returns the place of the first packet that arrived in the last `ns`.
  uint64_t place_since(int64_t ns) const;
  /// Returns true if packets of connection `number` have arrived in the last second.
  bool flows(uint32_t number) const;

  // ---- decode thread
  /// Returns the monotonic time at which the picture with timestamp `stream_ns` of connection `number` is
  /// due; 0: at once, because there is no sound.
  int64_t due_ns(uint32_t number, int64_t stream_ns) const noexcept;

 private:
  struct Kept {
    ff::PacketPtr packet;
    uint32_t number = 0;  ///< Connection::number
    int64_t arrival_ns = 0;
  };
  struct Playout {
    uint32_t number = 0;
    int64_t delay_ns = 0;
  };

  const Kept* find(uint32_t number, uint64_t& place) const;
  void drop_old(int64_t now) noexcept;

  const int track_;
  std::atomic<int64_t> refused_until_ns_{0};
  std::atomic<bool> unreadable_{false};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Connection> connections_;  ///< the newest last; never empty
  std::deque<Kept> packets_;            ///< oldest first
  uint64_t first_place_ = 0;            ///< number of packets before packets_
  uint64_t sound_place_ = 0;            ///< place of take()
  int64_t bytes_ = 0, keep_ns_;
  uint64_t wakes_ = 0;
  PlayoutDelay delay_;
  SeqLock<Playout> playout_;
};

}  // namespace lensd

// Writes the packets of a recording to its files, on the caller's thread or on its own thread.
//
//   encoder's thread ── write() ──▶ packets in memory ──▶ Segments on the writer's thread ──▶ files
//
// A live source cannot wait while the disk is busy, so its packets wait in memory instead, up to 64 MiB.
// Until they are written, a crash loses them. With other sources the caller writes, and the source waits. An
// error of the writer's thread is thrown by the next call. Internal to core/media. Call from one thread only.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "core/base/owned_thread.hpp"
#include "core/media/output/files/segments.hpp"

namespace lensd {

class SegmentWriter {
 public:
  /// `own_thread`: queue the packets. Do not set it if the audio is read from a file, because the source
  /// would run ahead of the audio. `stop`, which may be null, limits all waits after it is set: packets that
  /// the disk does not take in time are then lost. Throws like Segments.
  SegmentWriter(const RecordSettings& settings, const RecordTarget& target, bool own_thread,
                const std::atomic<bool>* stop);
  /// Ignores errors if finish() was not called.
  ~SegmentWriter();
  SegmentWriter(const SegmentWriter&) = delete;
  SegmentWriter& operator=(const SegmentWriter&) = delete;

  const std::string& muxer() const noexcept;
  /// See Segments.
  bool take_key_request(int64_t ticks, AVRational time_base);
  /// Passes a jump to the stream's audio, in the order of the packets.
  void add_jump(const SourceJump& jump, const std::shared_ptr<const EncodedStream>& stream);

  /// Writes or queues a packet; see Segments::write(). Waits while the queue is full.
  void write(const AVPacket& packet, const std::shared_ptr<const EncodedStream>& stream, double age_s);
  /// See Segments::end_stream().
  void end_stream(int64_t end, AudioEnd audio_end);
  /// Waits until all packets are written, and for a limited time until the files are synced. Call after
  /// end_stream(), then call no other function than report(). Throws Error(runtime_failure) if something
  /// could not be written, or if the disk did not take the packets before the deadline that `stop` sets.
  void finish();

  /// Returns what is written so far.
  Recording::Report report() const;

 private:
  class Worker;
  struct Item;
  void post(Item item);
  void wait();

  const std::shared_ptr<Worker> worker_;
  const std::atomic<bool>* const stop_;
  const bool queued_;
  bool finished_ = false;
  int64_t stopped_ns_ = 0;  ///< time at which a wait has first seen `stop`; 0: not yet
  OwnedThread thread_;
};

}  // namespace lensd

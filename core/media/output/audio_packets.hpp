// The audio packets for AudioCopy, from a file that is opened a second time or from a live source. Internal
// to core/media. Use one object on one thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "core/media/audio_source.hpp"
#include "core/media/ffmpeg/ffmpeg.hpp"
#include "core/media/output/source_jump.hpp"

namespace lensd {

class AudioPackets {
 public:
  enum class Outcome : uint8_t { packet, none_yet, end };

  virtual ~AudioPackets() = default;
  /// Returns the codec; valid while the object exists.
  virtual const AVCodecParameters& codec() const = 0;
  /// Returns the time base of all packets.
  virtual AVRational time_base() const = 0;
  virtual Outcome read(AVPacket& out) = 0;
  /// Makes read() continue at `source_ns`, at most a few packets earlier. Returns false if the position does
  /// not change.
  virtual bool seek(const SourceJump& jump, int64_t source_ns) = 0;
  /// Returns true if packets of the last second may still arrive, because they are later than their pictures.
  virtual bool late() const { return false; }
  /// Returns true if the source may lose packets.
  virtual bool lossy() const { return false; }
};

/// Opens the source again for its audio. Returns null and logs the reason if that fails. Unless the source is
/// a regular file, `stop` interrupts opening and reading; it may be null and must outlive the object.
std::unique_ptr<AudioPackets> open_audio_file(const AudioSource& source, const std::atomic<bool>* stop);

/// Returns the audio of a live source's connections, from `source.connection` on. Packets of a connection
/// with another codec are skipped with a warning. Returns null if the connection has no audio.
std::unique_ptr<AudioPackets> open_live_audio(const AudioSource& source);

/// Detects that a live source's audio differs from the audio with which an output was opened.
class AudioChange {
 public:
  explicit AudioChange(std::shared_ptr<LiveAudio> audio) : audio_(std::move(audio)) {}
  /// Call when an output opens with audio of connection `number` (0: the newest one).
  void opened(uint32_t number);
  /// Returns true, once, if the frame is from a connection with audio that an open output cannot continue
  /// with.
  bool detect(const struct FrameInfo& frame);

 private:
  const std::shared_ptr<LiveAudio> audio_;  ///< null: not a live source
  uint32_t number_ = 0;
  ff::ParametersPtr codec_;
};

}  // namespace lensd

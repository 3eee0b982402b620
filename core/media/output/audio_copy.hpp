// Copies audio packets of the source into recordings and streams without decoding. Internal to core/media.
// Call from the muxer's thread only.
//
//   add_jump()     maps recording time to source time: at the first frame and after every jump
//   add_stream()   adds the audio to the next output, a file or a connection
//   begin_at()     sets the recording time that is time 0 of that output
//   copy_until()   writes the packets that are due before a picture
//   complete()     writes the packets up to the end of the output
//   detach()       drops later packets; call before the output is closed
//
// Damaged packets and those that overlap earlier ones are skipped. The destructor logs their number.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <optional>

#include "core/media/audio_source.hpp"
#include "core/media/ffmpeg/ffmpeg.hpp"
#include "core/media/output/audio_packets.hpp"
#include "core/media/output/source_jump.hpp"

namespace lensd {

/// Where the audio of a completed file ends: with the video, or with the source's audio.
enum class AudioEnd : uint8_t { video, source };

class AudioCopy {
 public:
  /// Opens the audio of `source`. Returns null if it has none. Returns null and logs the reason if the audio
  /// cannot be opened. Unless the source is a regular file, `stop` interrupts opening and reading, and no
  /// more audio follows. `stop` may be null and must outlive the object.
  static std::unique_ptr<AudioCopy> open(const AudioSource& source, const std::atomic<bool>* stop);
  ~AudioCopy();
  AudioCopy(const AudioCopy&) = delete;
  AudioCopy& operator=(const AudioCopy&) = delete;

  /// Adds an audio stream to `output` before its header is written. Returns false and logs the reason if the
  /// container does not support the codec, or if no packet has arrived that describes it.
  bool add_stream(AVFormatContext& output);
  /// Logs, once, that a container does not support the codec. Calls detach().
  void detach_unsupported(const AVOutputFormat& container);
  /// Maps recording time `start_ns` to time 0 of the output. Skips earlier audio.
  void begin_at(int64_t start_ns);
  /// Call before the output is closed. Drops later packets.
  void detach() { output_ = nullptr; }

  void add_jump(const SourceJump& jump);
  /// Writes the packets before recording time `time_ns`. Returns 0 or the muxer's AVERROR.
  int copy_until(int64_t time_ns);
  /// Writes the remaining packets of an output that ends at recording time `time_ns`. Those of a live source
  /// may arrive later than their pictures; waits for them for at most 0.7 s, unless `stop` is set. Returns 0
  /// or the muxer's AVERROR.
  int complete(int64_t time_ns, AudioEnd end, const std::atomic<bool>* stop);
  /// Returns true if the track can be described before its first packet, which may never come.
  bool may_be_silent() const noexcept;

 private:
  using Outcome = AudioPackets::Outcome;
  AudioCopy(std::unique_ptr<AudioPackets> packets, int64_t start_ns, bool waits);
  bool describe(const AVOutputFormat& container);
  void read_first();
  Outcome read();
  void drop_jump();
  void take_jump();
  int copy_segment(int64_t time_ns, int64_t source_end_ns);
  bool is_older_than_jump(int64_t source_ns);
  bool waits_for_jump(int64_t source_ns, int64_t time_ns) const;
  int64_t recording_time_ns(int64_t source_ns);
  int write(AVPacket& packet, int64_t recording_ns);
  int write_needed_packet(int64_t time_ns);

  const std::unique_ptr<AudioPackets> packets_;
  const int64_t first_wait_ns_;  ///< maximum wait for the first packet of a live source
  const int64_t start_ns_;       ///< AudioSource::start_ns
  const ff::ParametersPtr codec_;
  ff::FilterPtr filter_;  ///< removes the headers of ADTS packets; null for other codecs
  AVFormatContext* output_ = nullptr;
  AVStream* stream_ = nullptr;
  int64_t output_start_ns_ = 0;
  std::optional<int64_t> last_ticks_;  ///< time of the output's last audio packet
  ff::PacketPtr packet_ = ff::make_packet();
  ff::PacketPtr sample_ = ff::make_packet();  ///< first packet of a codec that needs_packet()
  std::deque<SourceJump> jumps_;
  bool started_ = false, pending_ = false, ended_ = false, refusal_logged_ = false;
  uint32_t connection_ = 0;  ///< SourceJump::connection of the last jump
  int64_t origin_ns_ = 0;    ///< source time of recording time 0
  /// Origin after a jump of the video's timestamps. Replaces origin_ns_ when the audio jumps, too.
  std::optional<int64_t> next_origin_ns_;
  std::optional<int64_t> last_source_ns_;  ///< source time of the last packet since the last seek
  int64_t begin_ns_ = 0;                   ///< recording time of the last seek; earlier packets are dropped
  // The following members belong to is_older_than_jump().
  bool older_than_jump_ = false;  ///< the packets that follow are from before the last jump
  int64_t jumped_ns_ = 0;         ///< monotonic time of that jump
  int64_t source_before_jump_ns_ = 0;
  uint32_t newest_connection_ = 0;           ///< the last connection with audio
  std::optional<int64_t> newest_source_ns_;  ///< source time of its last packet
  int64_t skipped_ = 0;  ///< number of packets that were damaged or overlapped earlier ones
};

}  // namespace lensd

// Decodes the audio of a file as stereo at 48 kHz, at any playback speed. Internal to core/media.
//
//   Input ── packets ──▶ FFmpeg decoder ──▶ libswresample ──▶ cut at the seek position
//         ──▶ TempoFilter ──▶ SoundBlock
//
// Damaged packets are skipped. After a jump of the timestamps, the sound continues without a gap, like the
// pictures. Times are relative to the first picture. Use from one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/media/input/input.hpp"
#include "core/media/sound/sound_codec.hpp"
#include "core/media/sound/sound_queue.hpp"
#include "core/media/sound/tempo_filter.hpp"

namespace lensd {

struct SoundSource {
  std::string url;
  int64_t origin_ns = 0;  ///< timestamp of the first picture in the file
  int track = 0;          ///< number of the audio track, from 1; 0: the best one
  LiveOptions live;       ///< for files on a server
};

class SoundDecoder {
 public:
  /// Opens the audio. `stop` must outlive this object. Throws Error(bad_source) if there is no such track or
  /// FFmpeg cannot open or decode it.
  SoundDecoder(const SoundSource& source, const StopFlags& stop);

  /// Makes read() continue with the frame at exactly `position_ns`, or with the first one after it, and
  /// change the tempo to `speed`. Throws Error(bad_source) if the source cannot be read again.
  void seek(int64_t position_ns, double speed);

  /// Decodes the next frames into `out`. Returns false at the end and after an interruption. Throws Error if
  /// the audio cannot be converted.
  bool read(SoundBlock& out);

  /// Returns the number of decoding errors since seek().
  int errors() const noexcept { return errors_; }

 private:
  void open();
  void move_to(size_t attempt);
  bool decode();
  bool convert(SoundBlock& out);
  void append(std::vector<float> samples, SoundBlock& out);
  void finish(SoundBlock& out);
  int64_t media_ns(int64_t ticks) const noexcept;
  int64_t after_jump(int64_t start, int64_t end);

  const SoundSource source_;
  const StopFlags& stop_;
  std::unique_ptr<Input> input_;
  ff::CodecPtr codec_;
  SoundResampler resampler_;
  std::unique_ptr<TempoFilter> tempo_;
  ff::FramePtr frame_ = ff::make_frame();
  ff::PacketPtr packet_ = ff::make_packet();
  double speed_ = 1;
  int64_t target_ns_ = 0;
  size_t attempt_ = 0;
  bool first_ = true;   ///< no frame was decoded since the last move_to()
  bool known_ = false;  ///< base_ns_ is known
  bool draining_ = false, ended_ = false;
  int64_t base_ns_ = 0;    ///< presentation time of the resampler's frame 0
  int64_t resampled_ = 0;  ///< frames since base_ns_
  int64_t tempo_ns_ = 0;   ///< presentation time of the tempo filter's frame 0
  int64_t tempo_out_ = 0;  ///< frames that the tempo filter returned
  struct Jump {
    int64_t start_ns, end_ns;  ///< start of the frame after the jump, end of the sound before it
  };
  std::optional<Jump> jump_;  ///< the jump before the last frame; nullopt: none
  int64_t shift_ns_ = 0;      ///< sum of the shifts after jumps back since the last move_to()
  /// Earliest position after such a jump. A seek to a later position decodes from the start of the file.
  int64_t first_jump_ns_ = INT64_MAX;
  int errors_ = 0;
};

}  // namespace lensd

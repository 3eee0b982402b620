// Steps of audio decoding for files and live streams. Internal to core/media.
//
//   AVCodecParameters ──▶ open_sound_codec() ──▶ decoder ── frames ──▶ SoundResampler ──▶ stereo at 48 kHz
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/media/ffmpeg/ffmpeg.hpp"

struct SwrContext;

namespace lensd {

/// Larger differences between timestamps and decoded samples are gaps; smaller ones are rounding.
inline constexpr int64_t kStampGapNs = 30'000'000;

/// Returns a decoder for an audio stream. `where` names the source in messages. Throws Error(bad_source) if
/// FFmpeg has no decoder or the parameters are invalid.
ff::CodecPtr open_sound_codec(const AVCodecParameters& parameters, AVRational time_base,
                              const std::string& where);

/// Returns false for frames without samples and damaged frames.
bool is_usable_sound(const AVFrame& frame) noexcept;

/// Converts decoded frames to the format of sound_format.hpp.
class SoundResampler {
 public:
  /// Returns true if configure() was called with a frame of the same format.
  bool fits(const AVFrame& frame) const noexcept;
  /// Prepares for frames like this one and discards all buffered samples. Throws Error(bad_source) if they
  /// cannot be converted.
  void configure(const AVFrame& frame, const std::string& where);
  /// Discards the configuration.
  void reset() noexcept { swr_.reset(); }
  explicit operator bool() const noexcept { return swr_ != nullptr; }

  /// Converts a frame that fits. Stores the samples in `samples` and returns true, or returns false.
  bool convert(const AVFrame& frame, std::vector<float>& samples);
  /// Returns the samples that are still buffered after the last frame.
  std::vector<float> finish();
  /// Returns the duration of the buffered samples in nanoseconds.
  int64_t delay_ns() const noexcept;
  /// Stretches the next `frames` output frames by `share` of their duration. Shortens them if `share` is
  /// negative.
  void stretch(double share, int frames) noexcept;

 private:
  struct Free {
    void operator()(SwrContext* swr) const noexcept;
  };
  std::unique_ptr<SwrContext, Free> swr_;
  int format_ = -1, rate_ = 0, channels_ = 0;  ///< of the input
  uint64_t speakers_ = 0;                      ///< of the input, see speakers_of() in sound_codec.cpp
};

}  // namespace lensd

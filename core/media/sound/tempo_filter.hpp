// Changes the speed of sound but not its pitch, with FFmpeg's filter atempo. Internal to core/media. Not
// thread-safe.
#pragma once

#include <string>
#include <vector>

#include "core/media/ffmpeg/ffmpeg.hpp"
#include "core/media/sound/sound_format.hpp"

struct AVFilterContext;
struct AVFilterGraph;

namespace lensd {

/// Returns the filters for a speed: "atempo=2,atempo=1.500000" for 3. Each stays in atempo's best range,
/// 0.5 to 2.
std::string tempo_chain(double speed);

/// Returns how far the output is ahead, in nanoseconds of input time: at output time t, input time
/// t · speed + result is heard. On average, each atempo is 10 ms ahead, half of the distance in which it
/// searches for similar waves (measured with beeps, FFmpeg 5.1).
int64_t tempo_ahead_ns(double speed);

class TempoFilter {
 public:
  /// Throws Error(runtime_failure) if FFmpeg cannot create the filters.
  explicit TempoFilter(double speed);
  ~TempoFilter();
  TempoFilter(const TempoFilter&) = delete;
  TempoFilter& operator=(const TempoFilter&) = delete;

  /// Filters interleaved frames and appends the available output to `out`. An empty `in` ends the input and
  /// appends the rest. Throws Error(runtime_failure) if FFmpeg fails.
  void run(const std::vector<float>& in, std::vector<float>& out);

 private:
  AVFilterGraph* graph_ = nullptr;
  AVFilterContext *input_ = nullptr, *output_ = nullptr;
  ff::FramePtr frame_ = ff::make_frame();
  int64_t fed_ = 0;  ///< input frames so far
};

}  // namespace lensd

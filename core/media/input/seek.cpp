// Exact seeking: to a key frame before the target, then decoding up to it.
//
// Demuxers find "the key frame before" by decoding time or by guessing a byte position, so that the first
// frame may lie behind the target. Then the demuxer is moved further back, in the end to the start.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "core/base/clock.hpp"
#include "core/base/log.hpp"
#include "core/media/input/ffmpeg_source.hpp"

namespace lensd {
namespace {

constexpr std::array<int64_t, 4> kFurtherBack = {0, 1'000'000'000, 5'000'000'000, 20'000'000'000};
constexpr int kFromStart = static_cast<int>(kFurtherBack.size());

/// Positions come as decimals of seconds and as frame times, rounded differently.
constexpr int64_t kToleranceNs = 1000;

}  // namespace

void FfmpegSource::seek(int64_t position_ns) {
  if (!info_.seekable) throw Error(ExitCode::bad_source, where_, "this source cannot seek");
  for (Picture& picture : ahead_) picture.reset();
  stream_errors_.sought();
  seek_ = {true, true, 0, std::max<int64_t>(position_ns, 0)};
  move_to(input_->seeks_by_time() ? 0 : kFromStart);
}

void FfmpegSource::move_to(int attempt) {
  for (; attempt < kFromStart; ++attempt) {
    const int64_t raw_ns =
        seek_.target_ns - kFurtherBack[static_cast<size_t>(attempt)] + timeline_.origin_ns().value_or(0);
    const int64_t stamp = av_rescale_q(raw_ns, {1, 1'000'000'000}, input_->stream()->time_base);
    if (av_seek_frame(input_->context(), input_->stream()->index, stamp, AVSEEK_FLAG_BACKWARD) >= 0) break;
  }
  seek_.attempt = attempt;
  seek_.first = true;
  if (attempt >= kFromStart) return restart();
  avcodec_flush_buffers(&decoder_->context());
  draining_ = false;
  timeline_.restart(seek_.target_ns);
}

void FfmpegSource::restart() {
  open();
  timeline_.restart(0);
}

bool FfmpegSource::retry_seek() {
  if (!seek_.active || !seek_.first || seek_.attempt >= kFromStart) return false;
  move_to(seek_.attempt + 1);
  return true;
}

bool FfmpegSource::reached(int64_t pts_ns) {
  const bool first = std::exchange(seek_.first, false);
  if (first && seek_.attempt < kFromStart && pts_ns > seek_.target_ns + timeline_.nominal_ns() / 2 &&
      pts_ns > 0) {
    move_to(seek_.attempt + 1);
    return false;
  }
  if (pts_ns + kToleranceNs < seek_.target_ns) return false;
  seek_.active = false;
  next_index_ = std::llround(to_s(pts_ns) * info_.fps);
  return true;
}

}  // namespace lensd

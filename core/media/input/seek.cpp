// Exact seeking of FfmpegSource: to a key frame before the target, then decoding up to the target.
//
// Demuxers find that key frame by decoding time or by an estimated byte position, so that the first frame may
// lie after the target. Then the demuxer moves further back, at last to the start.

#include <array>
#include <cmath>

#include "core/base/clock.hpp"
#include "core/media/input/ffmpeg_source.hpp"

namespace lensd {
namespace {

constexpr std::array<int64_t, 4> kFurtherBack = {0, 1'000'000'000, 5'000'000'000, 20'000'000'000};
constexpr int kFromStart = static_cast<int>(kFurtherBack.size());

/// Positions are decimal seconds or frame times, which round differently.
constexpr int64_t kToleranceNs = 1000;

}  // namespace

void FfmpegSource::seek(int64_t position_ns) {
  if (!info_.seekable) fail("this source cannot seek");
  for (Picture& picture : ahead_) picture.reset();
  stream_errors_.seek_done();
  seek_ = {true, true, 0, std::max<int64_t>(position_ns, 0)};
  move_to(input_->seeks_by_time() ? 0 : kFromStart);
}

void FfmpegSource::move_to(int attempt) {
  for (; attempt < kFromStart; ++attempt) {
    const int64_t raw_ns =
        seek_.target_ns - kFurtherBack[static_cast<size_t>(attempt)] + timestamps_.origin_ns().value_or(0);
    const int64_t stamp = ff::to_ticks(raw_ns, input_->stream()->time_base);
    if (av_seek_frame(input_->context(), input_->stream()->index, stamp, AVSEEK_FLAG_BACKWARD) >= 0) break;
  }
  seek_.attempt = attempt;
  seek_.first = true;
  if (attempt >= kFromStart) {
    open();
    return timestamps_.restart(0);
  }
  avcodec_flush_buffers(&decoder_->context());
  draining_ = false;
  timestamps_.restart(seek_.target_ns);
}

bool FfmpegSource::retry_seek() {
  if (!seek_.active || !seek_.first || seek_.attempt >= kFromStart) return false;
  move_to(seek_.attempt + 1);
  return true;
}

bool FfmpegSource::reached(int64_t pts_ns) {
  const bool first = std::exchange(seek_.first, false);
  if (first && seek_.attempt < kFromStart && pts_ns > seek_.target_ns + timestamps_.nominal_ns() / 2 &&
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

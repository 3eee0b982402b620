// A queue of decoded sound between the decode thread and the output thread.
//
//   SoundDecoder ── push() ──▶ SoundQueue ── front(), consume() ──▶ output thread
//
// Thread-safe; one producer and one consumer. The producer limits the queue's length.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/media/sound/sound_format.hpp"

namespace lensd {

/// Consecutive samples, after the change of tempo to the playback speed.
struct SoundBlock {
  int64_t media_ns = 0;        ///< presentation time of the first frame, on the pictures' clock
  std::vector<float> samples;  ///< interleaved
  size_t frames() const noexcept { return samples.size() / kSoundChannels; }
};

class SoundQueue {
 public:
  /// Removes all blocks. The following ones belong to `seek` and are played at `speed`.
  void restart(uint64_t seek, double speed) {
    const std::lock_guard lock(mutex_);
    blocks_.clear();
    seek_ = seek, speed_ = speed, used_ = frames_ = 0, ended_ = false, end_ns_ = 0;
  }
  void push(SoundBlock block) {
    const std::lock_guard lock(mutex_);
    if (block.frames() == 0) return;
    frames_ += block.frames();
    end_ns_ = block.media_ns + sound_ns(static_cast<double>(block.frames()) * speed_);
    blocks_.push_back(std::move(block));
  }
  /// Call after the last block.
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  /// Returns the number of queued frames.
  size_t frames() const {
    const std::lock_guard lock(mutex_);
    return frames_;
  }

  struct Front {
    int64_t media_ns = 0;  ///< presentation time of the next frame
    size_t frames = 0;     ///< number of frames up to the end of the block
  };
  /// Returns the presentation time and the number of the frames that consume() returns next. Returns nullopt
  /// if no frames of `seek` are queued.
  std::optional<Front> front(uint64_t seek) const {
    const std::lock_guard lock(mutex_);
    if (seek != seek_ || blocks_.empty()) return std::nullopt;
    const SoundBlock& block = blocks_.front();
    const double media = static_cast<double>(used_) * speed_;
    return Front{block.media_ns + sound_ns(media), block.frames() - used_};
  }
  /// Returns true if all blocks of `seek` were consumed and no more follow.
  bool over(uint64_t seek) const {
    const std::lock_guard lock(mutex_);
    return seek == seek_ && ended_ && blocks_.empty();
  }
  /// Returns the presentation time at which the blocks of `seek` end; INT64_MAX if more follow; 0 if there
  /// were none.
  int64_t end_ns(uint64_t seek) const {
    const std::lock_guard lock(mutex_);
    return seek == seek_ && ended_ ? end_ns_ : INT64_MAX;
  }
  /// Removes up to `frames` frames of the front block of `seek` and appends them to `out`, unless it is null.
  /// Returns their number.
  size_t consume(uint64_t seek, size_t frames, std::vector<float>* out) {
    const std::lock_guard lock(mutex_);
    if (seek != seek_ || blocks_.empty()) return 0;
    const SoundBlock& block = blocks_.front();
    frames = frames < block.frames() - used_ ? frames : block.frames() - used_;
    const float* from = block.samples.data() + used_ * kSoundChannels;
    if (out) out->insert(out->end(), from, from + frames * kSoundChannels);
    used_ += frames, frames_ -= frames;
    if (used_ == block.frames()) blocks_.pop_front(), used_ = 0;
    return frames;
  }

 private:
  mutable std::mutex mutex_;
  std::deque<SoundBlock> blocks_;
  uint64_t seek_ = 0;
  double speed_ = 1;
  size_t used_ = 0;    ///< consumed frames of the front block
  size_t frames_ = 0;  ///< frames that were not consumed
  bool ended_ = false;
  int64_t end_ns_ = 0;  ///< presentation time of the end of the last pushed block
};

}  // namespace lensd

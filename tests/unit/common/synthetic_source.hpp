// A source without FFmpeg for pipeline tests: pictures are generated once and delivered repeatedly.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/device/memory.hpp"
#include "core/media/source.hpp"

namespace lensd {

/// Delivers `frames` RGB pictures of random content, each for `duration_ns`; picture i depends only on
/// i % kDistinct. next() throws at picture `fail_at`, if not negative. The memory is page-locked if
/// use_pinned_memory() was called before.
class SyntheticSource final : public Source {
 public:
  SyntheticSource(Extent extent, int64_t frames, int64_t fail_at = -1, int64_t duration_ns = kDuration)
      : frames_(frames), fail_at_(fail_at), duration_ns_(duration_ns) {
    info_.url = info_.name = "synthetic";
    info_.fps = 1e9 / static_cast<double>(duration_ns), info_.frame_count = frames;
    info_.duration_ns = frames * duration_ns, info_.seekable = true;
    info_.picture = picture_info(extent);
    for (auto& pixels : pixels_) {
      std::mt19937 random(static_cast<uint32_t>(&pixels - pixels_.data()));
      pixels = MemoryBlock(MemoryKind::pinned,
                           static_cast<size_t>(extent.width) * 3 * static_cast<size_t>(extent.height));
      for (size_t i = 0; i < pixels.size(); ++i) pixels.data()[i] = static_cast<uint8_t>(random());
    }
  }

  static constexpr int64_t kDuration = 10'000'000;
  static constexpr size_t kDistinct = 7;

  static PictureInfo picture_info(Extent extent) {
    PictureInfo info;
    info.extent = extent;
    info.format = {.model = ColourModel::rgb,
                   .depth = 8,
                   .plane_count = 1,
                   .components = {{{0, 3, 0, 0}, {0, 3, 1, 0}, {0, 3, 2, 0}, {}}}};
    return info;
  }

  /// Sets the duration of info(), for example to that of a file that still grows.
  void announce_duration(int64_t ns) { info_.duration_ns = ns; }

  /// Makes the source a still image. Use it with one frame.
  void make_still() { info_.image = true; }

  /// Delivers pictures whose duration is stated as `kDuration`, as from containers without durations.
  void forget_durations() { stated_ns_ = kDuration; }

  /// next() waits at this picture until `go` is true, as for a server that sends no data.
  void wait_at(int64_t picture, const std::atomic<bool>& go) { wait_at_ = picture, go_ = &go; }

  /// How long wait_at() waits for data; otherwise the decoder works. INT64_MAX: not known.
  std::atomic<int64_t> data_wait{INT64_MAX};
  int64_t data_wait_ns() const noexcept override { return data_wait; }

  PixelAspect aspect;
  PixelAspect pixel_aspect() const override { return aspect; }

  const SourceInfo& info() const override { return info_; }

  FrameOutcome next(Picture& out) override {
    while (next_ == wait_at_ && !*go_ && !interrupted_)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (next_ == fail_at_) throw Error(ExitCode::bad_source, "synthetic", "cannot go on");
    if (next_ >= frames_) return FrameOutcome::end_of_stream;
    PictureRef ref;
    ref.info = info_.picture;
    ref.planes[0] = pixels_[static_cast<size_t>(next_) % kDistinct].data();
    ref.pitch_bytes[0] = info_.picture.extent.width * 3;
    FrameInfo frame;
    frame.index = next_, frame.pts_ns = next_ * duration_ns_, frame.duration_ns = stated_ns_,
    frame.capture_ns = now_ns();
    out = Picture(ref, frame, nullptr);
    ++next_;
    return FrameOutcome::ok;
  }

  using Source::seek;
  void seek(int64_t position_ns, int back) override {
    next_ = std::max<int64_t>(0, (position_ns + duration_ns_ - 1) / duration_ns_ - back);
  }
  std::string stream_errors() const override { return {}; }
  void interrupt() noexcept override { interrupted_ = true; }

 private:
  SourceInfo info_;
  int64_t frames_, next_ = 0, fail_at_, duration_ns_, stated_ns_ = duration_ns_;
  int64_t wait_at_ = -1;
  const std::atomic<bool>* go_ = nullptr;
  std::atomic<bool> interrupted_{false};
  std::array<MemoryBlock, kDistinct> pixels_;
};

}  // namespace lensd

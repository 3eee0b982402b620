// Times of CUDA events on the host's clock. Included by core/graph/exec/cuda_executor.cpp only.
//
// CUDA tells times between two events as a float of milliseconds, which after an hour is good for a quarter
// of a millisecond only. So the event that others are measured from is replaced by a newer one every second,
// and the drift of the device's clock against the host's is taken out as it shows. One thread; never waits.
#pragma once

#include <cmath>
#include <utility>

#include "core/base/clock.hpp"
#include "core/device/cuda_handles.hpp"
#include "core/graph/trace/clock_bounds.hpp"

namespace lensd {

class GpuClock {
 public:
  /// Waits for the stream, once.
  explicit GpuClock(const cuda::Stream& stream) {
    origin_.record(stream);
    LENSD_CUDA_CHECK(cudaEventSynchronize(origin_.get()));
    origin_ns_ = renewed_ns_ = now_ns();
  }

  /// Nanoseconds from one recorded and passed event to another.
  static int64_t elapsed(const cuda::Event& from, const cuda::Event& to) {
    float ms = 0;
    LENSD_CUDA_CHECK(cudaEventElapsedTime(&ms, from.get(), to.get()));
    return std::llround(static_cast<double>(ms) * 1e6);
  }

  /// When the event passed, which must be a matter of seconds ago.
  int64_t at(const cuda::Event& event) const { return origin_ns_ + elapsed(origin_, event); }

  /// Keeps this clock with the host's: work between the two events was asked for and seen to be finished at
  /// these times of the host.
  void agree(const cuda::Event& first, const cuda::Event& last, int64_t asked_ns, int64_t seen_ns) {
    origin_ns_ += clock_correction({asked_ns, seen_ns, at(first), at(last)});
  }

  /// To be called now and then: takes a newer origin.
  void renew(const cuda::Stream& stream) {
    if (renewing_) {
      if (!next_.passed()) return;
      origin_ns_ += elapsed(origin_, next_);
      std::swap(origin_, next_);
      renewing_ = false;
    } else if (const int64_t now = now_ns(); now - renewed_ns_ > kLifeNs) {
      next_.record(stream);
      renewing_ = true, renewed_ns_ = now;
    }
  }

 private:
  static constexpr int64_t kLifeNs = 1'000'000'000;
  cuda::Event origin_{cuda::Timing::on}, next_{cuda::Timing::on};
  int64_t origin_ns_ = 0, renewed_ns_ = 0;
  bool renewing_ = false;
};

}  // namespace lensd

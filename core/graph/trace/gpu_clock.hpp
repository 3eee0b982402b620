// Converts times of CUDA events to the host clock. Included by cuda_executor.cpp only.
//
// CUDA returns the time between two events as a float of milliseconds; after an hour its resolution is 0.25
// ms. The origin event is therefore replaced every second, and the drift between the device clock and the
// host clock is corrected. Call from one thread only. Does not block, except the constructor.
#pragma once

#include <cmath>
#include <utility>

#include "core/base/clock.hpp"
#include "core/device/cuda_handles.hpp"
#include "core/graph/trace/clock_bounds.hpp"

namespace lensd {

class GpuClock {
 public:
  explicit GpuClock(const cuda::Stream& stream) {
    origin_.record(stream);
    LENSD_CUDA_CHECK(cudaEventSynchronize(origin_.get()));
    origin_ns_ = refreshed_ns_ = now_ns();
  }

  /// Returns the nanoseconds between two completed events.
  static int64_t elapsed(const cuda::Event& from, const cuda::Event& to) {
    float ms = 0;
    LENSD_CUDA_CHECK(cudaEventElapsedTime(&ms, from.get(), to.get()));
    return std::llround(static_cast<double>(ms) * 1e6);
  }

  /// Returns the host time of an event that completed within the last few seconds.
  int64_t host_ns(const cuda::Event& event) const { return origin_ns_ + elapsed(origin_, event); }

  /// Corrects the drift. `queued_ns` and `seen_ns` are the host times when the host queued `first` and
  /// noticed the end of `last`.
  void correct(const cuda::Event& first, const cuda::Event& last, int64_t queued_ns, int64_t seen_ns) {
    origin_ns_ += clock_correction({queued_ns, seen_ns, host_ns(first), host_ns(last)});
  }

  /// Replaces the origin event every second. Call regularly.
  void refresh_origin(const cuda::Stream& stream) {
    if (pending_) {
      if (!next_.passed()) return;
      origin_ns_ += elapsed(origin_, next_);
      std::swap(origin_, next_);
      pending_ = false;
    } else if (const int64_t now = now_ns(); now - refreshed_ns_ > kMaxAgeNs) {
      next_.record(stream);
      pending_ = true, refreshed_ns_ = now;
    }
  }

 private:
  static constexpr int64_t kMaxAgeNs = 1'000'000'000;
  cuda::Event origin_{cuda::Timing::on}, next_{cuda::Timing::on};
  int64_t origin_ns_ = 0, refreshed_ns_ = 0;
  bool pending_ = false;  ///< next_ is recorded, but has not replaced the origin yet
};

}  // namespace lensd

// CUDA streams and events as move-only handles. Included by core/device, core/graph/cuda_executor.* and
// ui/cuda_texture.* only.
//
// A handle belongs to one thread at a time; recording and waiting may happen on different threads as long as
// the record is ordered before the wait by the program.
#pragma once

#include <utility>

#include "core/device/cuda_check.hpp"

namespace lensd::cuda {

class Stream {
 public:
  Stream() { LENSD_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() {
    if (stream_) cudaStreamDestroy(stream_);
  }
  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }
  cudaStream_t get() const noexcept { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

enum class Timing { off, on };

class Event {
 public:
  explicit Event(Timing timing = Timing::off) {
    LENSD_CUDA_CHECK(
        cudaEventCreateWithFlags(&event_, timing == Timing::on ? cudaEventDefault : cudaEventDisableTiming));
  }
  ~Event() {
    if (event_) cudaEventDestroy(event_);
  }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  cudaEvent_t get() const noexcept { return event_; }

  void record(const Stream& stream) { LENSD_CUDA_CHECK(cudaEventRecord(event_, stream.get())); }
  /// True once the recorded work has finished; never waits.
  bool passed() const {
    const cudaError_t status = cudaEventQuery(event_);
    if (status == cudaErrorNotReady) return false;
    LENSD_CUDA_CHECK(status);
    return true;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Work queued on `stream` after this call waits on the device for `event`.
inline void wait(const Stream& stream, const Event& event) {
  LENSD_CUDA_CHECK(cudaStreamWaitEvent(stream.get(), event.get(), 0));
}

}  // namespace lensd::cuda

// CUDA streams and events as move-only handles. Included by core/device, core/graph/cuda_*.cpp and
// ui/cuda_texture.* only.
//
// A handle belongs to one thread at a time; recording and waiting may happen on different threads as long as
// the record is ordered before the wait by the program.
#pragma once

#include <exception>
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

/// An instantiated CUDA graph.
class GraphExec {
 public:
  GraphExec() = default;
  /// Instantiates what `record` queues on `stream` and uploads it. The stream captures for this thread only;
  /// still a hardware decoder that comes or goes on another thread may break a capture off, so that `record`
  /// may be called again.
  template <class F>
  GraphExec(const Stream& stream, F record) {
    cudaGraph_t graph = capture(stream, record);
    for (int again = 0; !graph && again < kCaptures; ++again) graph = capture(stream, record);
    if (!graph) LENSD_CUDA_CHECK(cudaErrorStreamCaptureInvalidated);
    const cudaError_t status = cudaGraphInstantiate(&exec_, graph, 0);
    cudaGraphDestroy(graph);
    LENSD_CUDA_CHECK(status);
    LENSD_CUDA_CHECK(cudaGraphUpload(exec_, stream.get()));
  }
  ~GraphExec() {
    if (exec_) cudaGraphExecDestroy(exec_);
  }
  GraphExec(GraphExec&& other) noexcept : exec_(std::exchange(other.exec_, nullptr)) {}
  GraphExec& operator=(GraphExec&& other) noexcept {
    std::swap(exec_, other.exec_);
    return *this;
  }
  explicit operator bool() const noexcept { return exec_ != nullptr; }
  void launch(const Stream& stream) const { LENSD_CUDA_CHECK(cudaGraphLaunch(exec_, stream.get())); }

 private:
  static constexpr int kCaptures = 100;

  /// Null when the capture was broken off from elsewhere.
  template <class F>
  static cudaGraph_t capture(const Stream& stream, F& record) {
    LENSD_CUDA_CHECK(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
    cudaGraph_t graph = nullptr;
    std::exception_ptr failure;
    try {
      record();
    } catch (...) {
      failure = std::current_exception();
    }
    const cudaError_t status = cudaStreamEndCapture(stream.get(), &graph);
    if (!failure && status == cudaSuccess) return graph;
    if (graph) cudaGraphDestroy(graph);
    cudaGetLastError();
    if (status == cudaErrorStreamCaptureInvalidated) return nullptr;
    if (failure) std::rethrow_exception(failure);
    LENSD_CUDA_CHECK(status);
    return nullptr;
  }

  cudaGraphExec_t exec_ = nullptr;
};

/// Work queued on `stream` after this call waits on the device for `event`.
inline void wait(const Stream& stream, const Event& event) {
  LENSD_CUDA_CHECK(cudaStreamWaitEvent(stream.get(), event.get(), 0));
}

}  // namespace lensd::cuda

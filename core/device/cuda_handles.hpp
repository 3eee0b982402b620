// CUDA streams, events and graphs as move-only handles. Calls throw Error(runtime_failure) on CUDA errors.
//
// A handle belongs to one thread at a time. An event may be recorded and waited for on different threads if
// the program orders the record before the wait.
#pragma once

#include <exception>
#include <utility>

#include "core/device/cuda_check.hpp"

namespace lensd::cuda {

/// Owns a CUDA object, or is empty.
template <class T, cudaError_t (*destroy)(T)>
class Handle {
 public:
  Handle() = default;
  ~Handle() {
    if (object_) destroy(object_);
  }
  Handle(Handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  T get() const noexcept { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }

 protected:
  T object_ = nullptr;
};

class Stream : public Handle<cudaStream_t, cudaStreamDestroy> {
 public:
  Stream() { LENSD_CUDA_CHECK(cudaStreamCreateWithFlags(&object_, cudaStreamNonBlocking)); }
};

enum class Timing { off, on };

class Event : public Handle<cudaEvent_t, cudaEventDestroy> {
 public:
  explicit Event(Timing timing = Timing::off) {
    LENSD_CUDA_CHECK(
        cudaEventCreateWithFlags(&object_, timing == Timing::on ? cudaEventDefault : cudaEventDisableTiming));
  }

  void record(const Stream& stream) { LENSD_CUDA_CHECK(cudaEventRecord(object_, stream.get())); }
  /// Returns true if the recorded work has finished. Does not block.
  bool passed() const {
    const cudaError_t status = cudaEventQuery(object_);
    if (status == cudaErrorNotReady) return false;
    LENSD_CUDA_CHECK(status);
    return true;
  }
};

/// An instantiated CUDA graph.
class GraphExec : public Handle<cudaGraphExec_t, cudaGraphExecDestroy> {
 public:
  GraphExec() = default;
  /// Captures the work that `record` queues on `stream`, then instantiates and uploads the graph. If another
  /// thread starts or ends a hardware decoder, this may invalidate the capture, even in thread-local mode.
  /// The capture, including the call of `record`, is then repeated up to kCaptures times.
  template <class F>
  GraphExec(const Stream& stream, F record) {
    cudaGraph_t graph = capture(stream, record);
    for (int again = 0; !graph && again < kCaptures; ++again) graph = capture(stream, record);
    if (!graph) LENSD_CUDA_CHECK(cudaErrorStreamCaptureInvalidated);
    const cudaError_t status = cudaGraphInstantiate(&object_, graph, 0);
    cudaGraphDestroy(graph);
    LENSD_CUDA_CHECK(status);
    LENSD_CUDA_CHECK(cudaGraphUpload(object_, stream.get()));
  }
  void launch(const Stream& stream) const { LENSD_CUDA_CHECK(cudaGraphLaunch(object_, stream.get())); }

 private:
  static constexpr int kCaptures = 100;

  /// Captures once. Returns null if another thread invalidated the capture.
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
};

/// Makes work queued on `stream` after this call wait for `event` on the device.
inline void wait(const Stream& stream, const Event& event) {
  LENSD_CUDA_CHECK(cudaStreamWaitEvent(stream.get(), event.get(), 0));
}

}  // namespace lensd::cuda

// How long work takes on the GPU without the time to submit it.
#pragma once

#include <algorithm>
#include <vector>

#include "core/device/cuda_handles.hpp"

namespace lensd::bench {

inline constexpr int kFrames = 20;  // in a captured graph
inline constexpr int kReplays = 25;

/// Median seconds a frame of `queue(frame number)`, captured kFrames times into one graph.
template <class Queue>
double graph_time(Queue queue, const cuda::Stream& stream) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t replay = nullptr;
  LENSD_CUDA_CHECK(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < kFrames; ++i) queue(static_cast<size_t>(i));
  LENSD_CUDA_CHECK(cudaStreamEndCapture(stream.get(), &graph));
  LENSD_CUDA_CHECK(cudaGraphInstantiate(&replay, graph, 0));
  cuda::Event begin(cuda::Timing::on), end(cuda::Timing::on);
  std::vector<double> times;
  for (int i = 0; i < kReplays + 3; ++i) {
    begin.record(stream);
    LENSD_CUDA_CHECK(cudaGraphLaunch(replay, stream.get()));
    end.record(stream);
    LENSD_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
    float ms = 0;
    LENSD_CUDA_CHECK(cudaEventElapsedTime(&ms, begin.get(), end.get()));
    if (i >= 3) times.push_back(ms * 1e-3 / kFrames);  // the first ones warm up
  }
  LENSD_CUDA_CHECK(cudaGraphExecDestroy(replay));
  LENSD_CUDA_CHECK(cudaGraphDestroy(graph));
  std::nth_element(times.begin(), times.begin() + kReplays / 2, times.end());
  return times[kReplays / 2];
}

}  // namespace lensd::bench

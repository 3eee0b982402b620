// Measures GPU time without launch overhead.
#pragma once

#include <vector>

#include "app/commands/bench/bench_rig.hpp"
#include "core/device/cuda_handles.hpp"

namespace lensd::bench {

inline constexpr int kFrames = 20;  // frames in a captured graph
inline constexpr int kReplays = 25;

/// Captures `queue(0)` to `queue(kFrames - 1)` in one CUDA graph and replays it. Returns the median time per
/// frame in seconds.
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
    if (i >= 3) times.push_back(ms * 1e-3 / kFrames);  // the first three warm up
  }
  LENSD_CUDA_CHECK(cudaGraphExecDestroy(replay));
  LENSD_CUDA_CHECK(cudaGraphDestroy(graph));
  return median(std::move(times));
}

}  // namespace lensd::bench

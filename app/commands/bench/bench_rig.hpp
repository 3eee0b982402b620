// Measures a filter, a scope or the source's conversion. Cold runs rotate buffers, so that none is in a
// cache.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/device/memory.hpp"
#include "core/device/workers.hpp"
#include "core/graph/filter.hpp"

namespace lensd::bench {

/// What to measure: a filter of the registry, a scope, or the source node if `picture` is set.
struct Subject {
  std::string label;
  std::unique_ptr<Filter> filter;
  ImageFormat format;
  const PictureInfo* picture = nullptr;
  int precision = 8;                              ///< bits per sample of the source node's output: 8 or 16
  std::vector<std::vector<uint8_t>> tracks = {};  ///< a TrackTable per frame, repeated; empty: no tracks
  /// The subject is a scope. Its input is a gradient with a little noise, because a scope takes several times
  /// as long on pure noise as on a picture. Its result is the statistics.
  bool is_scope = false;
};

FilterInputs inputs_of(const Subject& subject, Backend backend);

/// Returns 32 successive TrackTables with 1000 tracks that move in circles by about 3 pixels per frame.
std::vector<std::vector<uint8_t>> circling_tracks(Extent picture);

/// Median time per frame in seconds; a frame's time is the sum of its passes.
struct Timing {
  double cold = 0, warm = 0;
  double bytes = 0;  ///< minimum number of bytes read plus written; see PassSpec::bytes
};

/// Measures on `threads` CPU threads. Cold runs rotate over buffers; see rotation().
Timing time_cpu(Subject& subject, int threads, size_t cache_bytes);
/// Measures memcpy on `threads` CPU threads. It reads and writes `bytes` in total.
Timing time_cpu_copy(double bytes, int threads, size_t cache_bytes);

/// Measures on the GPU, with a CUDA graph of kFrames frames. Sets `matches_cpu` to true if a frame without a
/// previous frame equals cpu_result(), or if the filter passes its input through.
Timing time_cuda(Subject& subject, size_t cache_bytes, bool& matches_cpu);
/// Measures a device-to-device copy that reads and writes `bytes` in total.
Timing time_cuda_copy(double bytes, size_t cache_bytes);

/// Input (noise; scopes: see Subject) and output of a frame in host or device memory. Rows are aligned to 256
/// bytes.
struct FrameBuffers {
  MemoryBlock in, out;
  ConstImageRef in_ref;
  ImageRef out_ref;
  PictureRef picture;
};
FrameBuffers make_buffers(const Subject& subject, const Layout& layout, MemoryKind kind);
/// Returns the buffers that cold runs rotate over; see rotation().
std::vector<FrameBuffers> rotating_buffers(const Subject& subject, const Layout& layout, MemoryKind kind,
                                           size_t cache_bytes, size_t most);
/// Returns the CPU's result for a frame without a previous frame: the output image without padding between
/// rows, or the counts of a scope.
std::vector<uint8_t> cpu_result(Subject& subject);
/// Returns the number of buffers that cold runs rotate over: together more than twice `cache_bytes`, but at
/// least 2 and at most `most` buffers.
size_t rotation(size_t frame_bytes, size_t cache_bytes, size_t most);
double median(std::vector<double> values);

/// A filter with the memory of its passes on one backend.
struct FilterRun {
  FilterRun(Filter& f, const FilterInputs& inputs);
  /// Returns the arguments of all passes, without images, frame and tracks.
  PassArgs args() const;

  Filter& filter;
  Layout layout;
  size_t state_stride;  ///< bytes from one half of `state` to the other
  MemoryBlock state, stats, block;
  std::vector<uint8_t> host_block;
  std::vector<MemoryBlock> scratch;
  std::vector<uint8_t*> scratch_pointers;
};

/// A FilterRun with CPU worker threads.
class CpuRun : public FilterRun {
 public:
  CpuRun(Filter& f, const FilterInputs& inputs, int threads);
  /// Clears the statistics and runs the passes of a frame. Returns the time of each pass in seconds.
  const std::vector<double>& run(const PassArgs& args);

 private:
  Workers workers_;
  size_t worker_stride_;
  MemoryBlock worker_;
  PassArgs args_;
  const PassSpec* pass_ = nullptr;  ///< the running pass
  std::vector<double> seconds_;
};

}  // namespace lensd::bench

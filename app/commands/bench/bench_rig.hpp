// One filter on one format, ready to be timed again and again over rotating buffers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/device/memory.hpp"
#include "core/graph/filter.hpp"

namespace lensd::bench {

/// What is timed: a filter of the registry, or the source node when `picture` is set.
struct Subject {
  std::string label;
  std::unique_ptr<Filter> filter;
  ImageFormat format;
  const PictureInfo* picture = nullptr;
  std::vector<std::vector<uint8_t>> tracks = {};  ///< for readers of tracks: TrackTables, over and over
};

/// Tables of 1000 tracks that go round in circles, 3 pixels a frame.
std::vector<std::vector<uint8_t>> circling_tracks(Extent picture);

/// Measured times of one frame in seconds, the sum of all passes.
struct Timing {
  double cold = 0, warm = 0;
  double bytes = 0;  ///< fewest bytes read and written, as the passes declare
};

/// Median over many runs on `threads` CPU threads; cold rotates over buffers of more than twice
/// `cache_bytes`.
Timing time_cpu(Subject& subject, int threads, size_t cache_bytes);
/// The same for memcpy of `bytes` to and fro, read plus written.
Timing time_cpu_copy(double bytes, int threads, size_t cache_bytes);

/// On the GPU: 20 frames captured into a graph, its time divided by 20. `matches_cpu` tells whether the last
/// output was equal to the CPU's.
Timing time_cuda(Subject& subject, size_t cache_bytes, bool& matches_cpu);
Timing time_cuda_copy(double bytes, size_t cache_bytes);

/// A frame's memory, host or device: inputs are noise. Rows start at multiples of 256 bytes.
struct FrameBuffers {
  MemoryBlock in, out;
  ConstImageRef in_ref;
  ImageRef out_ref;
  PictureRef picture;
};
FrameBuffers make_buffers(const Subject& subject, const Layout& layout, MemoryKind kind);
/// The output of one frame by the CPU, tight rows.
std::vector<uint8_t> cpu_output(Subject& subject);

}  // namespace lensd::bench

// Helpers of the pipeline tests: options, synthetic sources, hashes of frames.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "app/pipeline/pipeline.hpp"
#include "kernels/registry.hpp"
#include "tests/unit/common/synthetic_source.hpp"

namespace lensd {

constexpr const char* kChain = "median=radius=1,gaussian=sigma=1.6,grayscale";

inline PipelineOptions options(const std::string& chain, int threads = 2) {
  PipelineOptions o;
  o.executor = {.threads = threads, .frames = 6};
  o.graph = parse_chain(chain, registry());
  return o;
}

/// Returns options() for playback at the source's rate.
inline PipelineOptions paced(const std::string& chain) {
  PipelineOptions o = options(chain);
  o.paced = true;
  return o;
}

/// The same, paused at the first frame.
inline PipelineOptions paused(const std::string& chain) {
  PipelineOptions o = paced(chain);
  o.paused = true;
  return o;
}

inline std::unique_ptr<Source> source(int64_t frames, Extent extent = {160, 120}) {
  return std::make_unique<SyntheticSource>(extent, frames);
}

inline uint64_t hash(ConstImageRef image) {
  uint64_t h = 1469598103934665603u;  // FNV-1a
  for (int y = 0; y < image.height(); ++y)
    for (size_t x = 0; x < image.row_bytes(); ++x) h = (h ^ image.row(y)[x]) * 1099511628211u;
  return h;
}

/// Starts the pipeline and returns the hashes of all its frames.
inline std::vector<uint64_t> run_all(Pipeline& pipeline) {
  pipeline.start();
  std::vector<uint64_t> hashes;
  while (Frame frame = pipeline.next_frame()) {
    frame.wait_ready();
    EXPECT_EQ(frame.info.index, static_cast<int64_t>(hashes.size()));
    EXPECT_LT(0, frame.info.taken_ns);
    EXPECT_LE(frame.info.taken_ns, frame.info.processed_ns);
    if (frame.info.published_ns != 0) {
      EXPECT_LE(frame.info.processed_ns, frame.info.published_ns);
    }
    hashes.push_back(hash(frame.image()));
  }
  pipeline.check();
  return hashes;
}

inline std::vector<uint64_t> run_all(const std::string& chain, int threads, int64_t frames,
                                     Backend backend = Backend::cpu) {
  PipelineOptions o = options(chain, threads);
  o.backend = backend;
  Pipeline pipeline(source(frames), o, registry());
  return run_all(pipeline);
}

}  // namespace lensd

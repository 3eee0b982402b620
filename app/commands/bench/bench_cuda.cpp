
#include "app/commands/bench/bench_rig.hpp"
#include "app/commands/bench/graph_time.hpp"

namespace lensd::bench {
namespace {

/// Copies the result of a GPU frame to the host, in the format of cpu_result().
std::vector<uint8_t> cuda_result(const Subject& subject, const FilterRun& run, const ImageRef& out) {
  if (subject.is_scope) {
    std::vector<uint8_t> counts(run.stats.size());
    LENSD_CUDA_CHECK(cudaMemcpy(counts.data(), run.stats.data(), counts.size(), cudaMemcpyDeviceToHost));
    return counts;
  }
  std::vector<uint8_t> pixels(out.row_bytes() * static_cast<size_t>(out.height()));
  LENSD_CUDA_CHECK(cudaMemcpy2D(pixels.data(), out.row_bytes(), out.data,
                                static_cast<size_t>(out.pitch_bytes), out.row_bytes(),
                                static_cast<size_t>(out.height()), cudaMemcpyDeviceToHost));
  return pixels;
}

}  // namespace

Timing time_cuda(Subject& subject, size_t cache_bytes, bool& matches_cpu) {
  const FilterRun run(*subject.filter, inputs_of(subject, Backend::cuda));
  const Layout& layout = run.layout;
  const std::vector<FrameBuffers> frames =
      rotating_buffers(subject, layout, MemoryKind::device, cache_bytes, kFrames);
  const size_t count = frames.size();
  // All timed frames read the same previous state. This costs as much as a state that changes. The frame that
  // is compared with the CPU's has no previous state.
  MemoryBlock frame_block(MemoryKind::device, sizeof(FrameBlock));
  const auto set_frame = [&](uint32_t state_index, uint32_t reset) {
    const FrameBlock value{.state_index = state_index, .reset = reset};
    LENSD_CUDA_CHECK(cudaMemcpy(frame_block.data(), &value, sizeof(value), cudaMemcpyHostToDevice));
  };
  std::vector<MemoryBlock> tracks;
  for (const auto& table : subject.tracks) {
    tracks.emplace_back(MemoryKind::device, table.size());
    LENSD_CUDA_CHECK(cudaMemcpy(tracks.back().data(), table.data(), table.size(), cudaMemcpyHostToDevice));
  }

  cuda::Stream stream;
  const auto queue = [&](const FrameBuffers& frame, size_t number) {
    PassArgs args = run.args();
    if (!tracks.empty())
      args.tracks = reinterpret_cast<const TrackTable*>(tracks[number % tracks.size()].data());
    args.in = {&frame.in_ref, 1}, args.out = frame.out_ref, args.picture = &frame.picture;
    args.frame = reinterpret_cast<const FrameBlock*>(frame_block.data());
    for (const PassSpec& pass : layout.passes) launch_pass(run.filter, pass, args, stream.get());
  };
  // Build up the state of filters that read tracks. The number of frames must be even, so that the timed
  // frames (state_index 0) read the newest state.
  for (size_t i = 0; i < tracks.size(); ++i) {
    set_frame(i % 2, i == 0);
    queue(frames[0], i);
    LENSD_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
  }
  set_frame(0, 0);
  Timing timing;
  for (const PassSpec& pass : layout.passes) timing.bytes += pass.bytes;
  timing.cold = graph_time([&](size_t i) { queue(frames[i % count], i); }, stream);
  timing.warm = graph_time([&](size_t i) { queue(frames[0], i); }, stream);

  set_frame(0, 1);
  LENSD_CUDA_CHECK(cudaMemset(run.stats.data(), 0, run.stats.size()));
  queue(frames[0], 0);
  LENSD_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
  matches_cpu = layout.passes_through || cuda_result(subject, run, frames[0].out_ref) == cpu_result(subject);
  return timing;
}

Timing time_cuda_copy(double bytes, size_t cache_bytes) {
  const auto half = static_cast<size_t>(bytes / 2);
  const size_t count = rotation(2 * half, cache_bytes, kFrames);
  std::vector<MemoryBlock> blocks;
  for (size_t i = 0; i < 2 * count; ++i) {
    blocks.emplace_back(MemoryKind::device, half);
    LENSD_CUDA_CHECK(cudaMemset(blocks.back().data(), static_cast<int>(17 * i + 1), half));
  }
  cuda::Stream stream;
  const auto queue = [&](size_t i) {
    LENSD_CUDA_CHECK(cudaMemcpyAsync(blocks[2 * i + 1].data(), blocks[2 * i].data(), half,
                                     cudaMemcpyDeviceToDevice, stream.get()));
  };
  return {graph_time([&](size_t i) { queue(i % count); }, stream),
          graph_time([&](size_t) { queue(0); }, stream), bytes};
}

}  // namespace lensd::bench

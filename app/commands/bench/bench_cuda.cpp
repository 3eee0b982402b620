#include <algorithm>

#include "app/commands/bench/bench_rig.hpp"
#include "app/commands/bench/graph_time.hpp"

namespace lensd::bench {
namespace {

size_t rotation(size_t frame_bytes, size_t cache_bytes) {
  return std::clamp<size_t>(2 * cache_bytes / std::max<size_t>(1, frame_bytes) + 2, 2, kFrames);
}

}  // namespace

Timing time_cuda(Subject& subject, size_t cache_bytes, bool& matches_cpu) {
  Filter& filter = *subject.filter;
  const Layout layout = filter.configure({.images = {&subject.format, subject.picture ? 0u : 1u},
                                          .picture = subject.picture,
                                          .backend = Backend::cuda});
  std::vector<FrameBuffers> frames;
  frames.push_back(make_buffers(subject, layout, MemoryKind::device));
  const size_t count = rotation(frames[0].in.size() + frames[0].out.size(), cache_bytes);
  while (frames.size() < count) frames.push_back(make_buffers(subject, layout, MemoryKind::device));
  std::vector<MemoryBlock> scratch;
  std::vector<uint8_t*> scratch_pointers;
  for (const size_t bytes : layout.scratch_bytes) {
    scratch.emplace_back(MemoryKind::device, bytes);
    scratch_pointers.push_back(scratch.back().data());
  }
  const size_t state_stride = align_up(layout.state_bytes, 256);
  MemoryBlock state(MemoryKind::device, 2 * state_stride), stats(MemoryKind::device, layout.stats_bytes);
  // Every frame is timed with the same past, which costs what a moving one does; what is checked in the end
  // is a first frame, which has none.
  MemoryBlock block(MemoryKind::device, filter.block_bytes()),
      frame_block(MemoryKind::device, sizeof(FrameBlock));
  const auto set_frame = [&](uint32_t half, uint32_t fresh) {
    const FrameBlock value{.state_index = half, .reset = fresh};
    LENSD_CUDA_CHECK(cudaMemcpy(frame_block.data(), &value, sizeof(value), cudaMemcpyHostToDevice));
  };
  std::vector<uint8_t> host_block(filter.block_bytes());
  filter.fill_block(host_block.data());
  LENSD_CUDA_CHECK(cudaMemset(state.data(), 0, state.size()));
  LENSD_CUDA_CHECK(cudaMemset(stats.data(), 0, stats.size()));
  LENSD_CUDA_CHECK(cudaMemcpy(block.data(), host_block.data(), host_block.size(), cudaMemcpyHostToDevice));

  std::vector<MemoryBlock> tracks;
  for (const auto& table : subject.tracks) {
    tracks.emplace_back(MemoryKind::device, table.size());
    LENSD_CUDA_CHECK(cudaMemcpy(tracks.back().data(), table.data(), table.size(), cudaMemcpyHostToDevice));
  }

  cuda::Stream stream;
  const auto queue = [&](const FrameBuffers& frame, size_t number) {
    PassArgs args;
    if (!tracks.empty())
      args.tracks = reinterpret_cast<const TrackTable*>(tracks[number % tracks.size()].data());
    args.in = {&frame.in_ref, 1}, args.out = frame.out_ref, args.picture = &frame.picture;
    args.block = block.data(), args.host_block = host_block.data(), args.scratch = scratch_pointers;
    args.frame = reinterpret_cast<const FrameBlock*>(frame_block.data());
    args.state = state.data(), args.state_bytes = state_stride, args.stats = stats.data();
    for (size_t pass = 0; pass < layout.passes.size(); ++pass)
      launch_pass(filter, layout, pass, args, stream.get());
  };
  // What has a past gets one first, an even number of frames long.
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
  LENSD_CUDA_CHECK(cudaMemset(stats.data(), 0, stats.size()));
  queue(frames[0], 0);
  LENSD_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
  const ImageRef out = frames[0].out_ref;
  std::vector<uint8_t> pixels(out.row_bytes() * static_cast<size_t>(out.height()));
  LENSD_CUDA_CHECK(cudaMemcpy2D(pixels.data(), out.row_bytes(), out.data,
                                static_cast<size_t>(out.pitch_bytes), out.row_bytes(),
                                static_cast<size_t>(out.height()), cudaMemcpyDeviceToHost));
  matches_cpu = layout.passes_through || pixels == cpu_output(subject);
  return timing;
}

Timing time_cuda_copy(double bytes, size_t cache_bytes) {
  const auto half = static_cast<size_t>(bytes / 2);
  const size_t count = rotation(2 * half, cache_bytes);
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

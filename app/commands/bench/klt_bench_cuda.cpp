#include "app/commands/bench/graph_time.hpp"
#include "app/commands/bench/klt_bench.hpp"

namespace lensd::bench {

KltTimes time_klt_cuda(const KltSetting& setting) {
  Klt klt;
  set_up(klt, setting);
  const ImageFormat format{setting.format, kKltExtent};
  const FilterRun run(klt, {.images = {&format, 1}, .backend = Backend::cuda});
  const cuda::Stream stream;
  const auto uploaded = [](const void* from, size_t bytes) {
    MemoryBlock block(MemoryKind::device, bytes);
    LENSD_CUDA_CHECK(cudaMemcpy(block.data(), from, bytes, cudaMemcpyHostToDevice));
    return block;
  };
  // Times frame 0 or 1. Returns the seconds that each pass adds to the time of the passes before it.
  const auto time = [&](uint32_t index) {
    const Image& image = klt_pictures(setting.format)[index];
    const FrameBlock frame{.index = index, .state_index = index, .reset = index == 0 ? 1u : 0u};
    const MemoryBlock pixels = uploaded(image.pixels.data(), image.pixels.size());
    const MemoryBlock frame_block = uploaded(&frame, sizeof(frame));
    LENSD_CUDA_CHECK(cudaDeviceSynchronize());  // `stream` does not wait for the default stream
    const ConstImageRef in{pixels.data(), static_cast<std::ptrdiff_t>(image.format.row_bytes()),
                           image.format};
    PassArgs args = run.args();
    args.in = {&in, 1}, args.frame = reinterpret_cast<const FrameBlock*>(frame_block.data());
    const auto time_of_first = [&](size_t passes) {
      const auto queue = [&](size_t) {
        LENSD_CUDA_CHECK(cudaMemsetAsync(run.stats.data(), 0, run.stats.size(), stream.get()));
        for (size_t i = 0; i < passes; ++i) launch_pass(klt, run.layout.passes[i], args, stream.get());
      };
      return graph_time(queue, stream);
    };
    std::vector<double> added;
    double before = time_of_first(0);
    for (size_t passes = 1; passes <= run.layout.passes.size(); ++passes) {
      const double now = time_of_first(passes);
      added.push_back(now - std::exchange(before, now));
    }
    return added;
  };
  const auto alive = [&] {
    TrackTable table;
    LENSD_CUDA_CHECK(cudaMemcpy(&table, run.stats.data(), sizeof(table), cudaMemcpyDeviceToHost));
    return table.alive;
  };
  KltTimes times;
  for (const PassSpec& pass : run.layout.passes) times.passes.emplace_back(pass.name);
  times.first = time(0), times.found = alive();
  times.later = time(1), times.followed = alive();
  return times;
}

}  // namespace lensd::bench

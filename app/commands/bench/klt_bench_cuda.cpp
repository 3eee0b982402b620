#include <cstring>

#include "app/commands/bench/graph_time.hpp"
#include "app/commands/bench/klt_bench.hpp"
#include "core/device/memory.hpp"

namespace lensd::bench {
namespace {

/// Device memory for the passes; see KltRun of the CPU.
class KltDeviceRun {
 public:
  explicit KltDeviceRun(const KltSetting& setting) {
    set_up(klt_, setting);
    const ImageFormat format{PixelFormat::gray8, kKltExtent};
    layout_ = klt_.configure({.images = {&format, 1}, .backend = Backend::cuda});
    state_stride_ = align_up(layout_.state_bytes, 256);
    const auto device = [](size_t bytes) { return MemoryBlock(MemoryKind::device, bytes); };
    state_ = device(2 * state_stride_), stats_ = device(layout_.stats_bytes),
    block_ = device(klt_.block_bytes());
    LENSD_CUDA_CHECK(cudaMemset(state_.data(), 0, state_.size()));
    for (const size_t bytes : layout_.scratch_bytes) {
      scratch_.push_back(device(bytes));
      scratch_pointers_.push_back(scratch_.back().data());
    }
    host_block_.resize(klt_.block_bytes());
    klt_.fill_block(host_block_.data());
    upload(block_, host_block_.data(), host_block_.size());
    for (uint32_t i = 0; i < 2; ++i) {
      const Image& image = klt_pictures()[i];
      pictures_[i] = device(image.pixels.size());
      upload(pictures_[i], image.pixels.data(), image.pixels.size());
      in_[i] = {pictures_[i].data(), image.width(), image.format};
      const FrameBlock frame{.index = i, .state_index = i, .reset = i == 0 ? 1u : 0u};
      frames_[i] = device(sizeof(frame));
      upload(frames_[i], &frame, sizeof(frame));
    }
    LENSD_CUDA_CHECK(cudaDeviceSynchronize());
  }

  /// Queues a frame's passes before `end`.
  void queue(uint32_t index, size_t end) {
    LENSD_CUDA_CHECK(cudaMemsetAsync(stats_.data(), 0, stats_.size(), stream_.get()));
    PassArgs args;
    args.in = {&in_[index], 1};
    args.block = block_.data(), args.host_block = host_block_.data(), args.scratch = scratch_pointers_;
    args.frame = reinterpret_cast<const FrameBlock*>(frames_[index].data());
    args.state = state_.data(), args.state_bytes = state_stride_, args.stats = stats_.data();
    for (size_t pass = 0; pass < end; ++pass) launch_pass(klt_, layout_, pass, args, stream_.get());
  }
  /// What each pass adds to those before it.
  std::vector<double> times(uint32_t index) {
    std::vector<double> added;
    double before = graph_time([&](size_t) { queue(index, 0); }, stream_);
    for (size_t pass = 0; pass < layout_.passes.size(); ++pass) {
      const double now = graph_time([&](size_t) { queue(index, pass + 1); }, stream_);
      added.push_back(now - before);
      before = now;
    }
    return added;
  }
  uint32_t alive() {
    LENSD_CUDA_CHECK(cudaStreamSynchronize(stream_.get()));
    TrackTable table;
    LENSD_CUDA_CHECK(cudaMemcpy(&table, stats_.data(), sizeof(table), cudaMemcpyDeviceToHost));
    return table.alive;
  }
  const Layout& layout() const { return layout_; }

 private:
  static void upload(MemoryBlock& to, const void* from, size_t bytes) {
    LENSD_CUDA_CHECK(cudaMemcpy(to.data(), from, bytes, cudaMemcpyHostToDevice));
  }

  Klt klt_;
  Layout layout_;
  size_t state_stride_ = 0;
  MemoryBlock state_, stats_, block_, pictures_[2], frames_[2];
  std::vector<MemoryBlock> scratch_;
  std::vector<uint8_t*> scratch_pointers_;
  std::vector<uint8_t> host_block_;
  ConstImageRef in_[2];
  cuda::Stream stream_;
};

}  // namespace

KltTimes time_klt_cuda(const KltSetting& setting) {
  KltDeviceRun run(setting);
  KltTimes times;
  for (const PassSpec& pass : run.layout().passes) times.passes.emplace_back(pass.name);
  times.first = run.times(0);
  times.found = run.alive();
  times.later = run.times(1);
  times.followed = run.alive();
  return times;
}

}  // namespace lensd::bench

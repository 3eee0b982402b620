
#include "core/device/cuda_handles.hpp"
#include "core/device/memory.hpp"
#include "tests/filters/harness.hpp"

namespace lensd::test {
namespace {

class CudaRig final : public Rig {
 public:
  CudaRig(Filter& filter, const FilterInputs& inputs, Placement placement)
      : filter_(filter), placement_(placement), layout_(filter.configure(inputs)) {
    has_state = layout_.state_bytes > 0;
    const auto device = [](size_t bytes) { return MemoryBlock(MemoryKind::device, bytes); };
    for (const ImageFormat& f : inputs.images) {
      in_.push_back(device(bytes_of(f, placement)));
      refs_.push_back({in_.back().data() + offset_of(f, placement),
                       static_cast<std::ptrdiff_t>(pitch_of(f, placement)), f});
    }
    for (const size_t bytes : layout_.scratch_bytes) {
      scratch_.push_back(device(bytes));
      scratch_pointers_.push_back(scratch_.back().data());
    }
    out_ = device(bytes_of(layout_.output, placement));
    state_stride_ = align_up(layout_.state_bytes, 256);
    state_ = device(2 * state_stride_), frame_ = device(sizeof(FrameBlock)),
    stats_ = device(layout_.stats_bytes), block_ = device(filter.block_bytes());
    LENSD_CUDA_CHECK(cudaMemset(state_.data(), 0, state_.size()));
    host_block_.resize(filter.block_bytes());
  }
  ~CudaRig() override {
    if (replay_) cudaGraphExecDestroy(replay_);
  }

  using Rig::run;
  RunOutput run(const std::vector<Image>& in, const RunExtras& extras) override {
    for (size_t i = 0; i < in.size(); ++i) {
      std::vector<uint8_t> host(bytes_of(in[i].format, placement_));
      unpack(in[i], placement_, host.data());
      copy(in_[i].data(), host.data(), host.size());
    }
    RunOutput result{Image(layout_.output), {}};
    std::vector<uint8_t> host(bytes_of(layout_.output, placement_));
    unpack(result.image, placement_, host.data());
    copy(out_.data(), host.data(), host.size());
    filter_.fill_block(host_block_.data());
    copy(block_.data(), host_block_.data(), host_block_.size());
    const FrameBlock frame = next_frame(extras);
    copy(frame_.data(), &frame, sizeof(frame));
    if (!extras.tracks.empty()) {
      tracks_ = MemoryBlock(MemoryKind::device, extras.tracks.size());
      copy(tracks_.data(), extras.tracks.data(), extras.tracks.size());
    }
    const PictureRef planes = upload(extras.picture);
    LENSD_CUDA_CHECK(cudaMemset(stats_.data(), 0, stats_.size()));
    // The copies above used the default stream, for which a non-blocking stream does not wait.
    LENSD_CUDA_CHECK(cudaDeviceSynchronize());
    if (replay_)
      LENSD_CUDA_CHECK(cudaGraphLaunch(replay_, stream_.get()));
    else
      queue(extras.picture ? &planes : nullptr);
    LENSD_CUDA_CHECK(cudaStreamSynchronize(stream_.get()));
    copy(host.data(), out_.data(), host.size());
    result.guards_untouched = pack(host.data(), placement_, result.image);
    if (layout_.passes_through) result.image = in[0];
    std::vector<uint8_t> stats(layout_.stats_bytes);
    copy(stats.data(), stats_.data(), stats.size());
    filter_.read_stats(stats.data(), result.stats);
    result.stats_bytes = std::move(stats);
    return result;
  }

  void capture() override {
    cudaGraph_t graph = nullptr;
    filter_.fill_block(host_block_.data());
    LENSD_CUDA_CHECK(cudaStreamBeginCapture(stream_.get(), cudaStreamCaptureModeThreadLocal));
    queue(nullptr);
    LENSD_CUDA_CHECK(cudaStreamEndCapture(stream_.get(), &graph));
    LENSD_CUDA_CHECK(cudaGraphInstantiate(&replay_, graph, 0));
    LENSD_CUDA_CHECK(cudaGraphDestroy(graph));
  }

 private:
  static void copy(void* to, const void* from, size_t bytes) {
    LENSD_CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
  }

  /// Copies host planes to device memory row by row. Rows are aligned as in `placement_`, since kernels load
  /// words if rows are aligned.
  PictureRef upload(const PictureRef* picture) {
    if (!picture) return {};
    PictureRef planes = *picture;
    planes.memory = MemoryKind::device;
    for (int p = 0; p < picture->info.format.plane_count; ++p) {
      const auto i = static_cast<size_t>(p);
      const size_t row = picture->info.plane_row_bytes(p),
                   pitch = align_up(row, 256) + (placement_.aligned_rows ? 0 : 2);
      const int rows = picture->info.plane_rows(p);
      plane_[i] = MemoryBlock(MemoryKind::device, pitch * static_cast<size_t>(rows));
      for (int y = 0; y < rows; ++y)
        copy(plane_[i].data() + static_cast<size_t>(y) * pitch,
             picture->planes[i] + y * picture->pitch_bytes[i], row);
      planes.planes[i] = plane_[i].data(), planes.pitch_bytes[i] = static_cast<std::ptrdiff_t>(pitch);
    }
    return planes;
  }

  void queue(const PictureRef* picture) {
    PassArgs args;
    args.in = refs_;
    args.out = {out_.data() + offset_of(layout_.output, placement_),
                static_cast<std::ptrdiff_t>(pitch_of(layout_.output, placement_)), layout_.output};
    args.block = block_.data(), args.host_block = host_block_.data();
    args.scratch = scratch_pointers_;
    args.frame = reinterpret_cast<const FrameBlock*>(frame_.data());
    args.state = state_.data(), args.state_bytes = state_stride_;
    args.stats = stats_.data(), args.picture = picture;
    if (tracks_) args.tracks = reinterpret_cast<const TrackTable*>(tracks_.data());
    for (const PassSpec& pass : layout_.passes) launch_pass(filter_, pass, args, stream_.get());
  }

  Filter& filter_;
  Placement placement_;
  cuda::Stream stream_;
  Layout layout_;
  std::vector<MemoryBlock> in_, scratch_;
  std::vector<ConstImageRef> refs_;
  std::vector<uint8_t*> scratch_pointers_;
  MemoryBlock out_, state_, frame_, tracks_, stats_, block_, plane_[4];
  size_t state_stride_ = 0;
  std::vector<uint8_t> host_block_;
  cudaGraphExec_t replay_ = nullptr;
};

}  // namespace

std::unique_ptr<Rig> make_cuda_rig(Filter& filter, const FilterInputs& inputs, Placement placement) {
  return std::make_unique<CudaRig>(filter, inputs, placement);
}

}  // namespace lensd::test

// The CUDA executor: copy stream, compute stream, return stream, ordered by events.
//
//   copy     upload n+1 ─────────▶│          decoded planes and parameter blocks, pinned → device
//   compute  │ graph of n ───────▶│          waits for upload n; intermediate images are shared by all frames
//   return   │ statistics, host frames of n−1, "slot is free" signal
//
// Each output frame has a slot with its own upload buffer, parameter block and events. The host learns that a
// slot is free from a host function at the end of the return stream (an atomic store), never from a CUDA call
// that waits. CUDA calls per frame: see docs/architecture.md.

#include <cstring>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/graph/cuda_slot.hpp"
#include "core/graph/executor.hpp"
#include "core/graph/stats_board.hpp"

namespace lensd {
namespace {

struct Step {
  PlanNode* node = nullptr;
  PassArgs args;
  std::vector<ConstImageRef> in;
  std::vector<uint8_t*> scratch;
  std::vector<int> scopes, labels;
};

class CudaExecutor final : public Executor, public DeviceFrameSync {
 public:
  CudaExecutor(const ExecutorOptions& options, Profiler& profiler, Timeline& timeline)
      : options_(options), profiler_(profiler), timeline_(timeline) {
    LENSD_CUDA_CHECK(cudaSetDevice(options_.device));
    copy_ = cuda::Stream(), compute_ = cuda::Stream(), return_ = cuda::Stream();
    copy_track_ = timeline.track("cuda copy stream"), compute_track_ = timeline.track("cuda compute stream");
    // Anchors GPU times to the host's clock: once, before the first frame.
    origin_.record(compute_);
    LENSD_CUDA_CHECK(cudaEventSynchronize(origin_.get()));
    origin_ns_ = now_ns();
  }

  ~CudaExecutor() override { drain(); }

  Backend backend() const override { return Backend::cuda; }
  Plan* plan() override { return plan_.get(); }
  DeviceFrameSync* device_sync() override { return this; }

  void install(std::unique_ptr<Plan> plan) override {
    LENSD_CUDA_CHECK(cudaSetDevice(options_.device));
    const MemoryKind kind = options_.host_frames ? MemoryKind::pinned : MemoryKind::device;
    auto pool = pool_ && pool_->format() == plan->output ? pool_ : make_pool(plan->output, kind);
    MemoryBlock arena(MemoryKind::device, plan->arena_bytes), state(MemoryKind::device, plan->state_bytes),
        stats(MemoryKind::device, plan->stats_bytes);
    size_t passes = 0;
    for (const PlanNode& node : plan->nodes) passes += node.layout.passes.size();
    std::vector<std::unique_ptr<CudaSlot>> slots;
    for (int i = 0; i < pool->capacity(); ++i) {
      slots.push_back(make_slot(*plan, passes));
      slots.back()->sync = &sync_of(*pool, i);
    }

    drain();  // a new plan is set-up: what the old one queued may still read its memory
    pool_ = std::move(pool), slots_ = std::move(slots);
    arena_ = std::move(arena), state_ = std::move(state), stats_ = std::move(stats);
    steps_ = resolve(*plan);
    stats_board_.install(*plan);
    plan_ = std::move(plan);
    reset_state();
  }

  Frame run(const Picture& picture) override {
    Frame frame = pool_->acquire();
    if (!frame) return frame;
    CudaSlot& slot = *slots_[static_cast<size_t>(frame.slot())];
    slot.sync->busy.wait(1, std::memory_order_acquire);  // a frame that its reader gave back before it was finished
    collect(slot);

    frame.info = picture.info;
    slot.frame = picture.info.index;
    slot.picture = picture.share();
    const bool timed = picture.info.index % options_.timing_interval == 0;
    PictureRef planes = upload(slot, picture.planes, timed);
    compute(slot, frame, planes, timed);
    give_back(slot, frame);
    release_uploaded_pictures();
    frame.info.processed_ns = now_ns();
    return frame;
  }

  void reset_state() override {
    LENSD_CUDA_CHECK(cudaMemsetAsync(state_.data(), 0, state_.size(), compute_.get()));
  }
  std::vector<NodeStatistics> statistics() const override { return stats_board_.read(); }
  void close() override {
    if (pool_) pool_->close();
  }

  void wait_ready(CudaStream stream, const Frame& frame) override {
    LENSD_CUDA_CHECK(cudaStreamWaitEvent(stream, sync_of(frame).computed.get(), 0));
  }
  void reading_done(CudaStream stream, const Frame& frame) override {
    SlotSync& sync = sync_of(frame);
    LENSD_CUDA_CHECK(cudaEventRecord(sync.read.get(), stream));
    sync.was_read = true;  // ordered before the next run() on this slot by the frame's release
  }

 private:
  using SyncSet = std::vector<SlotSync>;

  std::shared_ptr<FramePool> make_pool(ImageFormat format, MemoryKind kind) const {
    auto pool = FramePool::make(format, kind, options_.frames);
    pool->attach(std::make_shared<SyncSet>(static_cast<size_t>(pool->capacity())));
    return pool;
  }
  static SlotSync& sync_of(const FramePool& pool, int slot) {
    return (*static_cast<SyncSet*>(pool.attachment()))[static_cast<size_t>(slot)];
  }
  static SlotSync& sync_of(const Frame& frame) {
    return (*static_cast<SyncSet*>(frame.attachment()))[static_cast<size_t>(frame.slot())];
  }

  std::unique_ptr<CudaSlot> make_slot(const Plan& plan, size_t passes) const {
    auto slot = std::make_unique<CudaSlot>();
    slot->upload = MemoryBlock(MemoryKind::device, upload_bytes(plan.picture));
    slot->host_block = MemoryBlock(MemoryKind::pinned, plan.block_bytes);
    slot->device_block = MemoryBlock(MemoryKind::device, plan.block_bytes);
    if (options_.host_frames)
      slot->device_image = MemoryBlock(MemoryKind::device, output_pitch(plan) * static_cast<size_t>(plan.output.extent.height));
    slot->host_stats = MemoryBlock(MemoryKind::pinned, plan.stats_bytes);
    for (size_t i = 0; i <= passes; ++i) slot->timing.marks.emplace_back(cuda::Timing::on);
    return slot;
  }

  static size_t output_pitch(const Plan& plan) { return align_up(plan.output.row_bytes(), kDeviceAlignment); }
  static size_t upload_pitch(const PictureInfo& info, int plane) { return align_up(info.plane_row_bytes(plane), kDeviceAlignment); }
  static size_t upload_bytes(const PictureInfo& info) {
    size_t total = 0;
    for (int p = 0; p < info.format.plane_count; ++p) total += upload_pitch(info, p) * static_cast<size_t>(info.plane_rows(p));
    return total;
  }

  std::vector<Step> resolve(Plan& plan) {
    std::vector<Step> steps;
    std::vector<std::string> active{"decode", "upload", "download", "present", "encode"};
    upload_scope_ = profiler_.scope("upload", "copy", static_cast<double>(upload_bytes(plan.picture)), 0, true);
    upload_label_ = timeline_.label("upload");
    for (PlanNode& node : plan.nodes) {
      Step& step = steps.emplace_back();
      step.node = &node;
      for (const int input : node.inputs) {
        const PlanNode& from = plan.nodes[static_cast<size_t>(input)];
        step.in.push_back({arena_.data() + from.image_offset, from.pitch_bytes, from.layout.output});
      }
      for (const size_t offset : node.scratch_offsets) step.scratch.push_back(arena_.data() + offset);
      step.args.out = {arena_.data() + node.image_offset, node.pitch_bytes, node.layout.output};
      step.args.state = state_.data() + node.state_offset, step.args.stats = stats_.data() + node.stats_offset;
      for (const PassSpec& pass : node.layout.passes) {
        step.scopes.push_back(profiler_.scope(node.id, pass.name, pass.bytes, pass.operations, true));
        step.labels.push_back(timeline_.label(node.id + "/" + pass.name));
      }
      active.push_back(node.id);
    }
    for (Step& step : steps) step.args.in = step.in, step.args.scratch = step.scratch;
    profiler_.deactivate_all_but(active);
    return steps;
  }

  /// Queues the copies of the planes and of the parameter blocks; the planes as the kernels will see them.
  PictureRef upload(CudaSlot& slot, const PictureRef& source, bool timed) {
    PictureRef planes = source;
    cuda::wait(copy_, slot.sync->computed);  // the slot's last frame has been computed
    if (timed) slot.timing.upload_begin.record(copy_);
    if (source.memory != MemoryKind::device) {
      size_t offset = 0;
      for (int p = 0; p < source.info.format.plane_count; ++p) {
        const auto plane = static_cast<size_t>(p);
        const size_t pitch = upload_pitch(source.info, p), row_bytes = source.info.plane_row_bytes(p);
        const int rows = source.info.plane_rows(p);
        const std::ptrdiff_t from_pitch = source.pitch_bytes[plane];
        uint8_t* to = slot.upload.data() + offset;
        // A bottom-up picture is copied from its lowest address and stays bottom-up.
        const uint8_t* from = from_pitch < 0 ? source.planes[plane] + from_pitch * (rows - 1) : source.planes[plane];
        LENSD_CUDA_CHECK(cudaMemcpy2DAsync(to, pitch, from, static_cast<size_t>(from_pitch < 0 ? -from_pitch : from_pitch),
                                           row_bytes, static_cast<size_t>(rows), cudaMemcpyHostToDevice, copy_.get()));
        planes.planes[plane] = from_pitch < 0 ? to + pitch * static_cast<size_t>(rows - 1) : to;
        planes.pitch_bytes[plane] = from_pitch < 0 ? -static_cast<std::ptrdiff_t>(pitch) : static_cast<std::ptrdiff_t>(pitch);
        offset += pitch * static_cast<size_t>(rows);
      }
      planes.memory = MemoryKind::device;
    } else {
      // A hardware decoder's picture: FFmpeg queued its copies on the legacy default stream.
      LENSD_CUDA_CHECK(cudaEventRecord(decoded_.get(), cudaStreamLegacy));
      cuda::wait(copy_, decoded_);
    }
    std::memcpy(slot.host_block.data(), plan_->blocks.data(), plan_->block_bytes);
    LENSD_CUDA_CHECK(cudaMemcpyAsync(slot.device_block.data(), slot.host_block.data(), plan_->block_bytes,
                                     cudaMemcpyHostToDevice, copy_.get()));
    if (timed) slot.timing.upload_end.record(copy_);
    slot.uploaded.record(copy_);
    return planes;
  }

  void compute(CudaSlot& slot, Frame& frame, const PictureRef& planes, bool timed) {
    cuda::wait(compute_, slot.uploaded);
    if (slot.sync->was_read) cuda::wait(compute_, slot.sync->read);
    slot.sync->was_read = false;
    if (plan_->stats_bytes > 0)
      LENSD_CUDA_CHECK(cudaMemsetAsync(stats_.data(), 0, plan_->stats_bytes, compute_.get()));
    size_t mark = 0;
    if (timed) slot.timing.marks[mark++].record(compute_);
    for (Step& step : steps_) {
      step.args.picture = &planes;
      step.args.block = slot.device_block.data() + step.node->block_offset;
      step.args.host_block = slot.host_block.data() + step.node->block_offset;
      if (step.node->writes_output) {
        step.args.out = frame.image();
        if (options_.host_frames)
          step.args.out = {slot.device_image.data(), static_cast<std::ptrdiff_t>(output_pitch(*plan_)), plan_->output};
      }
      for (size_t i = 0; i < step.scopes.size(); ++i) {
        step.args.pass = static_cast<int>(i);
        step.node->filter->launch(step.args, compute_.get());
        if (timed) slot.timing.marks[mark++].record(compute_);
      }
    }
    slot.timing.pending = timed;
    slot.timing.frame = slot.frame;
    if (plan_->stats_bytes > 0)
      LENSD_CUDA_CHECK(cudaMemcpyAsync(slot.host_stats.data(), stats_.data(), plan_->stats_bytes, cudaMemcpyDeviceToHost,
                                       compute_.get()));
    slot.stats_pending = plan_->stats_bytes > 0;
    slot.sync->computed.record(compute_);
  }

  /// Brings a host frame home and signals the end of the slot's work.
  void give_back(CudaSlot& slot, Frame& frame) {
    cuda::wait(return_, slot.sync->computed);
    if (options_.host_frames) {
      const ImageRef to = frame.image();
      LENSD_CUDA_CHECK(cudaMemcpy2DAsync(to.data, static_cast<size_t>(to.pitch_bytes), slot.device_image.data(),
                                         output_pitch(*plan_), to.row_bytes(), static_cast<size_t>(to.height()),
                                         cudaMemcpyDeviceToHost, return_.get()));
    }
    slot.sync->busy.store(1, std::memory_order_relaxed);
    pool_->set_pending(frame.slot());
    Signal& signal = signals_[static_cast<size_t>(frame.slot())];
    signal = {slot.sync, pool_.get(), frame.slot()};
    LENSD_CUDA_CHECK(cudaLaunchHostFunc(return_.get(), &CudaExecutor::on_finished, &signal));
  }

  struct Signal {
    SlotSync* sync;
    FramePool* pool;
    int index;
  };
  static void on_finished(void* opaque) {
    const Signal signal = *static_cast<Signal*>(opaque);
    signal.pool->set_ready(signal.index);
    signal.sync->busy.store(0, std::memory_order_release);
    signal.sync->busy.notify_all();
  }

  /// Pictures whose upload has passed go back to the decoder; asks, never waits.
  void release_uploaded_pictures() {
    for (auto& slot : slots_) {
      if (!slot->picture) continue;
      const bool on_device = slot->picture.planes.memory == MemoryKind::device;
      if ((on_device ? slot->sync->computed : slot->uploaded).passed()) slot->picture.reset();
    }
  }

  /// Timings and statistics of the slot's finished frame.
  void collect(CudaSlot& slot) {
    slot.picture.reset();
    if (slot.stats_pending) stats_board_.publish(slot.frame, slot.host_stats.data());
    slot.stats_pending = false;
    if (!slot.timing.pending) return;
    slot.timing.pending = false;
    const auto elapsed = [](const cuda::Event& from, const cuda::Event& to) {
      float ms = 0;
      LENSD_CUDA_CHECK(cudaEventElapsedTime(&ms, from.get(), to.get()));
      return static_cast<int64_t>(static_cast<double>(ms) * 1e6);
    };
    const auto since_origin = [&](const cuda::Event& event) { return origin_ns_ + elapsed(origin_, event); };
    const SlotTiming& t = slot.timing;
    profiler_.record(upload_scope_, elapsed(t.upload_begin, t.upload_end));
    timeline_.record(copy_track_, upload_label_, t.frame, since_origin(t.upload_begin), since_origin(t.upload_end));
    size_t mark = 0;
    for (const Step& step : steps_)
      for (size_t i = 0; i < step.scopes.size(); ++i, ++mark) {
        profiler_.record(step.scopes[i], elapsed(t.marks[mark], t.marks[mark + 1]));
        timeline_.record(compute_track_, step.labels[i], t.frame, since_origin(t.marks[mark]), since_origin(t.marks[mark + 1]));
      }
  }

  /// Waits for everything queued: tear-down and change of plan only.
  void drain() noexcept {
    cudaStreamSynchronize(copy_.get());
    cudaStreamSynchronize(compute_.get());
    cudaStreamSynchronize(return_.get());
  }

  ExecutorOptions options_;
  Profiler& profiler_;
  Timeline& timeline_;
  int copy_track_ = 0, compute_track_ = 0, upload_scope_ = 0, upload_label_ = 0;
  cuda::Stream copy_, compute_, return_;
  cuda::Event origin_{cuda::Timing::on}, decoded_;
  int64_t origin_ns_ = 0;
  std::unique_ptr<Plan> plan_;
  std::shared_ptr<FramePool> pool_;
  std::vector<std::unique_ptr<CudaSlot>> slots_;
  std::array<Signal, 64> signals_{};
  std::vector<Step> steps_;
  MemoryBlock arena_, state_, stats_;
  StatsBoard stats_board_;
};

}  // namespace

std::unique_ptr<Executor> make_cuda_executor(const ExecutorOptions& options, Profiler& profiler, Timeline& timeline) {
  if (const CudaStatus status = probe_cuda(options.device); !status.available)
    throw Error(ExitCode::unavailable, "--backend=cuda", status.reason, "--backend=cpu gives the same output");
  use_pinned_memory();
  return std::make_unique<CudaExecutor>(options, profiler, timeline);
}

}  // namespace lensd

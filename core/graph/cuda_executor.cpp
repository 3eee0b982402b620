// The CUDA executor: copy stream, compute stream, return stream, ordered by events.
//
//   copy     upload n+1 ─────────▶│          decoded planes and parameter blocks, pinned → device
//   compute  │ graph of n ───────▶│          one captured CUDA graph; waits for upload n
//   return   │ statistics, host frames of n−1, "slot is free" signal
//
// Each output frame has a slot with its own upload buffer, parameter block, events and captured graphs (a
// plain one and, for sampled frames, one with an event around each pass). Kernels read their parameters from
// the block, so that tuning changes bytes, not graphs. The host learns that a slot is free from a host
// function at the end of the return stream (an atomic store), never from a CUDA call that waits. CUDA calls
// per frame: see docs/architecture.md.

#include <cstring>
#include <mutex>
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
  std::vector<size_t> reads_output;  ///< inputs that are the output frame, another one in each slot
  std::vector<uint8_t*> scratch;
  std::vector<int> scopes, labels;
};

/// Output frames carry their order with the GPU's work; see SlotSync.
using SyncSet = std::vector<SlotSync>;

struct CudaPlan final : PreparedPlan {
  /// The plan's last work on the GPU may still be running: memory and graphs go after it.
  ~CudaPlan() override {
    if (used) cudaEventSynchronize(last_use.get());
  }
  std::shared_ptr<FramePool> pool;
  std::vector<std::unique_ptr<CudaSlot>> slots;
  std::vector<Step> steps;
  MemoryBlock arena, state, stats;
  std::shared_ptr<StatsBuffer> finished_stats;
  cuda::Event last_use;
  bool used = false;
};

/// Makes `device` current before any other member is made.
struct CurrentDevice {
  explicit CurrentDevice(int device) { LENSD_CUDA_CHECK(cudaSetDevice(device)); }
};

class CudaExecutor final : public Executor, public DeviceFrameSync {
 public:
  CudaExecutor(const ExecutorOptions& options, Profiler& profiler, Timeline& timeline)
      : options_(options), profiler_(profiler), timeline_(timeline), current_(options.device) {
    copy_track_ = timeline.track("cuda copy stream"), compute_track_ = timeline.track("cuda compute stream");
    upload_label_ = timeline.label("upload");
    upload_scope_ = profiler.scope("upload", "copy", 0, 0, true);
    // Anchors GPU times to the host's clock: once, before the first frame.
    origin_.record(compute_);
    LENSD_CUDA_CHECK(cudaEventSynchronize(origin_.get()));
    origin_ns_ = now_ns();
  }

  ~CudaExecutor() override {
    for (const cuda::Stream* stream : {&copy_, &compute_, &return_}) cudaStreamSynchronize(stream->get());
  }

  Backend backend() const override { return Backend::cuda; }
  Plan* plan() override { return now_ ? now_->plan.get() : nullptr; }
  DeviceFrameSync* device_sync() override { return this; }
  int64_t captures() const override { return captures_.load(std::memory_order_relaxed); }

  std::unique_ptr<PreparedPlan> prepare(std::unique_ptr<Plan> plan) override {
    LENSD_CUDA_CHECK(cudaSetDevice(options_.device));
    auto next = std::make_unique<CudaPlan>();
    next->pool = FramePool::make(plan->output, options_.host_frames ? MemoryKind::pinned : MemoryKind::device,
                                 options_.frames);
    auto sync = std::make_shared<SyncSet>(static_cast<size_t>(next->pool->capacity()));
    next->pool->attach(sync);
    next->arena = MemoryBlock(MemoryKind::device, plan->arena_bytes);
    next->state = MemoryBlock(MemoryKind::device, plan->state_bytes);
    next->stats = MemoryBlock(MemoryKind::device, plan->stats_bytes);
    next->finished_stats = std::make_shared<StatsBuffer>(*plan);
    size_t passes = 0;
    for (const PlanNode& node : plan->nodes) passes += node.layout.passes.size();
    for (int i = 0; i < next->pool->capacity(); ++i) {
      next->slots.push_back(make_slot(*plan, passes));
      next->slots.back()->sync = &(*sync)[static_cast<size_t>(i)];
      next->slots.back()->signal = {next->slots.back()->sync,
                                    next->pool.get(),
                                    i,
                                    next->slots.back()->host_stats.data(),
                                    next->finished_stats.get(),
                                    -1};
    }
    next->plan = std::move(plan);
    resolve(*next);
    return next;
  }

  std::unique_ptr<PreparedPlan> adopt(std::unique_ptr<PreparedPlan> prepared) override {
    LENSD_CUDA_CHECK(cudaSetDevice(options_.device));
    std::unique_ptr<CudaPlan> next(static_cast<CudaPlan*>(prepared.release()));
    stats_board_.install(next->finished_stats);
    profiler_.deactivate_all_but(active_rows(*next->plan));
    if (now_) {
      cuda::wait(return_, copy_done());
      now_->last_use.record(return_);  // the return stream ends every frame
      now_->used = true;
    }
    {
      const std::lock_guard lock(close_mutex_);
      if (closed_) next->pool->close();
      std::swap(now_, next);
    }
    reset_state();
    return next;
  }

  Frame run(const Picture& picture) override {
    Frame frame = now_->pool->acquire();
    if (!frame) return frame;
    CudaSlot& slot = *now_->slots[static_cast<size_t>(frame.slot())];
    slot.sync->busy.wait(
        1, std::memory_order_acquire);  // a frame that its reader gave back before it was finished
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
    LENSD_CUDA_CHECK(cudaMemsetAsync(now_->state.data(), 0, now_->state.size(), compute_.get()));
  }
  std::vector<NodeStatistics> statistics() const override { return stats_board_.read(); }
  bool read_scope(const Tap& tap, ScopeReading& reading) const override {
    return stats_board_.read_scope(tap, reading);
  }
  void close() override {
    const std::lock_guard lock(close_mutex_);
    closed_ = true;
    if (now_) now_->pool->close();
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
  static SlotSync& sync_of(const Frame& frame) {
    return (*static_cast<SyncSet*>(frame.attachment()))[static_cast<size_t>(frame.slot())];
  }

  std::unique_ptr<CudaSlot> make_slot(const Plan& plan, size_t passes) const {
    auto slot = std::make_unique<CudaSlot>();
    slot->upload = MemoryBlock(MemoryKind::device, upload_bytes(plan.picture));
    slot->host_block = MemoryBlock(MemoryKind::pinned, plan.block_bytes);
    slot->device_block = MemoryBlock(MemoryKind::device, plan.block_bytes);
    if (options_.host_frames)
      slot->device_image = MemoryBlock(MemoryKind::device,
                                       output_pitch(plan) * static_cast<size_t>(plan.output.extent.height));
    slot->host_stats = MemoryBlock(MemoryKind::pinned, plan.stats_bytes);
    for (size_t i = 0; i <= passes; ++i) slot->timing.marks.emplace_back(cuda::Timing::on);
    return slot;
  }

  static size_t output_pitch(const Plan& plan) { return align_up(plan.output.row_bytes(), kDeviceAlignment); }
  static size_t upload_pitch(const PictureInfo& info, int plane) {
    return align_up(info.plane_row_bytes(plane), kDeviceAlignment);
  }
  static size_t upload_bytes(const PictureInfo& info) {
    size_t total = 0;
    for (int p = 0; p < info.format.plane_count; ++p)
      total += upload_pitch(info, p) * static_cast<size_t>(info.plane_rows(p));
    return total;
  }

  void resolve(CudaPlan& next) {
    Plan& plan = *next.plan;
    profiler_.scope("upload", "copy", static_cast<double>(upload_bytes(plan.picture)), 0, true);
    for (PlanNode& node : plan.nodes) {
      Step& step = next.steps.emplace_back();
      step.node = &node;
      for (const int input : node.inputs) {
        const PlanNode& from = plan.nodes[static_cast<size_t>(input)];
        if (from.writes_output) step.reads_output.push_back(step.in.size());
        step.in.push_back({next.arena.data() + from.image_offset, from.pitch_bytes, from.layout.output});
      }
      for (const size_t offset : node.scratch_offsets) step.scratch.push_back(next.arena.data() + offset);
      step.args.out = {next.arena.data() + node.image_offset, node.pitch_bytes, node.layout.output};
      step.args.state = next.state.data() + node.state_offset,
      step.args.stats = next.stats.data() + node.stats_offset;
      for (const PassSpec& pass : node.layout.passes) {
        step.scopes.push_back(profiler_.scope(node.id, pass.name, pass.bytes, pass.operations, true));
        step.labels.push_back(timeline_.label(node.id + "/" + pass.name));
      }
    }
    for (Step& step : next.steps) step.args.in = step.in, step.args.scratch = step.scratch;
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
        const uint8_t* from =
            from_pitch < 0 ? source.planes[plane] + from_pitch * (rows - 1) : source.planes[plane];
        LENSD_CUDA_CHECK(
            cudaMemcpy2DAsync(to, pitch, from, static_cast<size_t>(from_pitch < 0 ? -from_pitch : from_pitch),
                              row_bytes, static_cast<size_t>(rows), cudaMemcpyHostToDevice, copy_.get()));
        planes.planes[plane] = from_pitch < 0 ? to + pitch * static_cast<size_t>(rows - 1) : to;
        planes.pitch_bytes[plane] =
            from_pitch < 0 ? -static_cast<std::ptrdiff_t>(pitch) : static_cast<std::ptrdiff_t>(pitch);
        offset += pitch * static_cast<size_t>(rows);
      }
      planes.memory = MemoryKind::device;
    } else {
      // A hardware decoder's picture: FFmpeg queued its copies on the legacy default stream.
      LENSD_CUDA_CHECK(cudaEventRecord(decoded_.get(), cudaStreamLegacy));
      cuda::wait(copy_, decoded_);
    }
    std::memcpy(slot.host_block.data(), now_->plan->blocks.data(), now_->plan->block_bytes);
    LENSD_CUDA_CHECK(cudaMemcpyAsync(slot.device_block.data(), slot.host_block.data(),
                                     now_->plan->block_bytes, cudaMemcpyHostToDevice, copy_.get()));
    if (timed) slot.timing.upload_end.record(copy_);
    slot.uploaded.record(copy_);
    return planes;
  }

  void compute(CudaSlot& slot, Frame& frame, const PictureRef& planes, bool timed) {
    cuda::wait(compute_, slot.uploaded);
    if (slot.sync->was_read) cuda::wait(compute_, slot.sync->read);
    slot.sync->was_read = false;
    // A hardware decoder's planes are elsewhere in every frame, so their conversion stays outside the graph.
    const bool source_inside = slot.picture.planes.memory != MemoryKind::device;
    point_steps_at(slot, frame, planes);
    const CapturedPlan& captured = find_or_capture(slot, planes, source_inside);
    if (!source_inside) launch_steps(slot, 0, 1, timed ? Marks::ordinary : Marks::none);
    (timed ? captured.timed : captured.plain).launch(compute_);
    slot.timing.pending = timed;
    slot.timing.frame = slot.frame;
    slot.sync->computed.record(compute_);
  }

  void point_steps_at(CudaSlot& slot, const Frame& frame, const PictureRef& planes) {
    const auto pitch = static_cast<std::ptrdiff_t>(output_pitch(*now_->plan));
    const ImageRef output =
        options_.host_frames ? ImageRef{slot.device_image.data(), pitch, now_->plan->output} : frame.image();
    for (Step& step : now_->steps) {
      step.args.picture = &planes;
      step.args.block = slot.device_block.data() + step.node->block_offset;
      step.args.host_block = slot.host_block.data() + step.node->block_offset;
      if (step.node->writes_output) step.args.out = output;
      for (const size_t i : step.reads_output) step.in[i] = output;
    }
  }

  /// What the launches of this frame depend on besides the plan.
  uint64_t variant() const {
    uint64_t hash = 1469598103934665603u;  // FNV-1a over the filters' variants
    for (const Step& step : now_->steps) hash = (hash ^ step.node->filter->variant()) * 1099511628211u;
    return hash;
  }

  /// The slot's graphs for this frame. Capturing is set-up: it happens on the first frames of a plan and when
  /// a parameter asks for launch shapes that were not used before.
  const CapturedPlan& find_or_capture(CudaSlot& slot, const PictureRef& planes, bool source_inside) {
    const uint64_t wanted = variant();
    for (const CapturedPlan& c : slot.captured)
      if (c.variant == wanted && c.source_inside == source_inside &&
          (!source_inside || (c.planes == planes.planes && c.pitches == planes.pitch_bytes)))
        return c;
    if (slot.captured.size() == CudaSlot::kMaxCaptured) slot.captured.erase(slot.captured.begin());
    CapturedPlan& c = slot.captured.emplace_back();
    c.variant = wanted, c.planes = planes.planes, c.pitches = planes.pitch_bytes,
    c.source_inside = source_inside;
    const size_t first = source_inside ? 0 : 1;
    c.plain = cuda::GraphExec(capture_, [&] { record_graph(slot, first, Marks::none); });
    c.timed = cuda::GraphExec(capture_, [&] { record_graph(slot, first, Marks::external); });
    captures_.fetch_add(2, std::memory_order_relaxed);
    return c;
  }

  enum class Marks { none, ordinary, external };

  void record_graph(CudaSlot& slot, size_t first, Marks marks) {
    if (now_->plan->stats_bytes > 0)
      LENSD_CUDA_CHECK(cudaMemsetAsync(now_->stats.data(), 0, now_->plan->stats_bytes, capture_.get()));
    launch_steps(slot, first, now_->steps.size(), marks, capture_);
    if (now_->plan->stats_bytes > 0)
      LENSD_CUDA_CHECK(cudaMemcpyAsync(slot.host_stats.data(), now_->stats.data(), now_->plan->stats_bytes,
                                       cudaMemcpyDeviceToHost, capture_.get()));
  }

  void launch_steps(CudaSlot& slot, size_t first, size_t last, Marks marks) {
    launch_steps(slot, first, last, marks, compute_);
  }
  void launch_steps(CudaSlot& slot, size_t first, size_t last, Marks marks, const cuda::Stream& stream) {
    size_t mark = 0;
    for (size_t i = 0; i < first; ++i) mark += now_->steps[i].scopes.size();
    const auto set_mark = [&] {
      const unsigned flags = marks == Marks::external ? cudaEventRecordExternal : cudaEventRecordDefault;
      if (marks != Marks::none)
        LENSD_CUDA_CHECK(cudaEventRecordWithFlags(slot.timing.marks[mark].get(), stream.get(), flags));
      ++mark;
    };
    set_mark();
    for (size_t i = first; i < last; ++i) {
      Step& step = now_->steps[i];
      for (size_t pass = 0; pass < step.scopes.size(); ++pass) {
        step.args.pass = static_cast<int>(pass);
        step.node->filter->launch(step.args, stream.get());
        set_mark();
      }
    }
  }

  /// Brings a host frame home and signals the end of the slot's work.
  void give_back(CudaSlot& slot, Frame& frame) {
    cuda::wait(return_, slot.sync->computed);
    if (options_.host_frames) {
      const ImageRef to = frame.image();
      LENSD_CUDA_CHECK(cudaMemcpy2DAsync(
          to.data, static_cast<size_t>(to.pitch_bytes), slot.device_image.data(), output_pitch(*now_->plan),
          to.row_bytes(), static_cast<size_t>(to.height()), cudaMemcpyDeviceToHost, return_.get()));
    }
    slot.signal.frame = slot.frame;
    slot.sync->busy.store(1, std::memory_order_relaxed);
    now_->pool->set_pending(frame.slot());
    LENSD_CUDA_CHECK(cudaLaunchHostFunc(return_.get(), &CudaExecutor::on_finished, &slot.signal));
  }

  static void on_finished(void* opaque) {
    const SlotSignal signal = *static_cast<const SlotSignal*>(opaque);
    signal.pool->set_ready(signal.index);
    signal.finished_stats->publish(signal.frame, signal.host_stats);
    signal.sync->busy.store(0, std::memory_order_release);
    signal.sync->busy.notify_all();
  }

  /// Pictures whose upload has passed go back to the decoder; asks, never waits.
  void release_uploaded_pictures() {
    for (auto& slot : now_->slots) {
      if (!slot->picture) continue;
      const bool on_device = slot->picture.planes.memory == MemoryKind::device;
      if ((on_device ? slot->sync->computed : slot->uploaded).passed()) slot->picture.reset();
    }
  }

  /// Timings of the slot's finished frame.
  void collect(CudaSlot& slot) {
    slot.picture.reset();
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
    timeline_.record(copy_track_, upload_label_, t.frame, since_origin(t.upload_begin),
                     since_origin(t.upload_end));
    size_t mark = 0;
    for (const Step& step : now_->steps)
      for (size_t i = 0; i < step.scopes.size(); ++i, ++mark) {
        profiler_.record(step.scopes[i], elapsed(t.marks[mark], t.marks[mark + 1]));
        timeline_.record(compute_track_, step.labels[i], t.frame, since_origin(t.marks[mark]),
                         since_origin(t.marks[mark + 1]));
      }
  }

  /// An event behind everything on the copy stream.
  const cuda::Event& copy_done() {
    copied_.record(copy_);
    return copied_;
  }

  ExecutorOptions options_;
  Profiler& profiler_;
  Timeline& timeline_;
  CurrentDevice current_;
  int copy_track_ = 0, compute_track_ = 0, upload_scope_ = 0, upload_label_ = 0;
  cuda::Stream copy_, compute_, return_, capture_;
  std::atomic<int64_t> captures_{0};
  cuda::Event origin_{cuda::Timing::on}, decoded_, copied_;
  int64_t origin_ns_ = 0;
  std::unique_ptr<CudaPlan> now_;
  std::mutex close_mutex_;  ///< close() may come from any thread; run() never takes it
  bool closed_ = false;
  StatsBoard stats_board_;
};

}  // namespace

std::unique_ptr<Executor> make_cuda_executor(const ExecutorOptions& options, Profiler& profiler,
                                             Timeline& timeline) {
  if (const CudaStatus status = probe_cuda(options.device); !status.available)
    throw Error(ExitCode::unavailable, "--backend=cuda", status.reason,
                "--backend=cpu gives the same output");
  use_pinned_memory();
  return std::make_unique<CudaExecutor>(options, profiler, timeline);
}

}  // namespace lensd

// The CUDA executor: copy stream, compute stream, return stream, ordered by events.
//
//   copy     upload n+1 ─────────▶│          decoded planes and parameter blocks, pinned → device
//   compute  │ graph of n ───────▶│          one captured CUDA graph; waits for upload n
//   return   │ statistics, host frames of n−1, "slot is free" signal
//
// Each output frame has a slot with its own upload buffer, parameter block, events and captured graphs (a
// plain one and, for sampled frames, one with an event around each pass). Kernels read their parameters from
// the block, so that tuning changes bytes, not graphs; graphs are captured when a plan is prepared. The host
// learns that a slot is free from a host function at the end of the return stream (an atomic store), never
// from a CUDA call that waits. CUDA calls per frame: see docs/architecture.md.

#include <cstring>
#include <mutex>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/graph/cuda_slot.hpp"
#include "core/graph/executor.hpp"
#include "core/graph/gpu_clock.hpp"
#include "core/graph/stats_board.hpp"
#include "core/graph/steps.hpp"

namespace lensd {
namespace {

/// Output frames carry their order with the GPU's work; see SlotSync.
using SyncSet = std::vector<SlotSync>;

struct PassIndex {
  size_t step = 0;
  int pass = 0;
};

/// Passes that read the picture come first, so that they can be launched before the graph.
std::vector<PassIndex> launch_order(const std::vector<Step>& steps, size_t& early) {
  std::vector<PassIndex> first, rest;
  for (size_t s = 0; s < steps.size(); ++s)
    for (size_t p = 0; p < steps[s].scopes.size(); ++p)
      (steps[s].node->layout.passes[p].reads_picture ? first : rest).push_back({s, static_cast<int>(p)});
  early = first.size();
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

struct CudaPlan final : PreparedPlan {
  /// The plan's last work on the GPU may still be running: memory and graphs go after it.
  ~CudaPlan() override {
    if (used) cudaEventSynchronize(last_use.get());
  }
  std::shared_ptr<FramePool> pool;
  std::vector<std::unique_ptr<CudaSlot>> slots;
  std::vector<Step> steps;
  std::vector<PassIndex> order;  ///< all passes as they are launched
  size_t early = 0;              ///< the first of `order` that read the picture
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
    next->pool = FramePool::make({.images = plan->frame_images,
                                  .kind = options_.host_frames ? MemoryKind::pinned : MemoryKind::device,
                                  .capacity = options_.frames,
                                  .side_bytes = plan->stats_bytes,
                                  .tracks_offset = plan->tracks_offset,
                                  .views = plan->views});
    auto sync = std::make_shared<SyncSet>(static_cast<size_t>(next->pool->capacity()));
    next->pool->attach(sync);
    next->arena = MemoryBlock(MemoryKind::device, plan->arena_bytes);
    next->state = MemoryBlock(MemoryKind::device, plan->state_bytes);
    next->stats = MemoryBlock(MemoryKind::device, plan->stats_bytes);
    next->finished_stats = std::make_shared<StatsBuffer>(*plan);
    profiler_.scope("upload", "copy", static_cast<double>(upload_bytes(plan->picture)), 0, true);
    next->steps = resolve_steps(*plan, {next->arena.data(), next->state.data()}, profiler_, timeline_, true);
    next->order = launch_order(next->steps, next->early);
    for (int i = 0; i < next->pool->capacity(); ++i) {
      next->slots.push_back(make_slot(*plan, *next->pool, i, next->order.size()));
      CudaSlot& slot = *next->slots.back();
      slot.sync = &(*sync)[static_cast<size_t>(i)];
      slot.signal = {slot.sync, next->pool.get(), i, next->pool->side_data(i), next->finished_stats.get(),
                     -1};
    }
    next->plan = std::move(plan);
    const cuda::Stream stream;  // of its own: the process thread may be capturing as well
    for (const auto& slot : next->slots)
      capture(*next, *slot, uploaded_planes(*slot, next->plan->picture, false), true, stream);
    LENSD_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
    return next;
  }

  std::unique_ptr<PreparedPlan> adopt(std::unique_ptr<PreparedPlan> prepared) override {
    LENSD_CUDA_CHECK(cudaSetDevice(options_.device));
    std::unique_ptr<CudaPlan> next(static_cast<CudaPlan*>(prepared.release()));
    stats_board_.install(next->finished_stats);
    profiler_.deactivate_all_but(active_rows(*next->plan));
    LENSD_CUDA_CHECK(cudaMemsetAsync(next->state.data(), 0, next->state.size(), compute_.get()));
    if (now_) {
      for (const StateCopy& copy : carry_over(now_->steps, next->steps))
        LENSD_CUDA_CHECK(cudaMemcpyAsync(next->state.data() + copy.to, now_->state.data() + copy.from,
                                         copy.bytes, cudaMemcpyDeviceToDevice, compute_.get()));
      carried_.record(compute_);
      cuda::wait(return_, carried_);
      cuda::wait(return_, copy_done());
      now_->last_use.record(return_);  // the return stream ends every frame
      now_->used = true;
    }
    {
      const std::lock_guard lock(close_mutex_);
      if (closed_) next->pool->close();
      std::swap(now_, next);
    }
    return next;
  }

  Frame run(const Picture& picture, bool again) override {
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
    tick(now_->steps, picture.info, again, now_->plan->blocks.data());
    PictureRef planes = upload(slot, picture.planes, timed);
    compute(slot, planes, timed);
    give_back(slot, frame);
    release_uploaded_pictures();
    frame.info.processed_ns = now_ns();
    return frame;
  }

  void reset_state() override {
    for (Step& step : now_->steps) step.clock.cut();
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
    // Several pictures of a frame may be read on streams of their own: the event stands for the last one,
    // which follows the others.
    if (sync.was_read) LENSD_CUDA_CHECK(cudaStreamWaitEvent(stream, sync.read.get(), 0));
    LENSD_CUDA_CHECK(cudaEventRecord(sync.read.get(), stream));
    sync.was_read = true;  // ordered before the next run() on this slot by the frame's release
  }
  void copy_to_host(const Frame& frame, int image, int x, int y, ImageRef to) override {
    const std::lock_guard lock(download_mutex_);
    LENSD_CUDA_CHECK(cudaSetDevice(options_.device));
    const ImageRef from = frame.image(image);
    cuda::wait(download_, sync_of(frame).computed);
    LENSD_CUDA_CHECK(cudaMemcpy2DAsync(to.data, static_cast<size_t>(to.pitch_bytes),
                                       from.row(y) + static_cast<std::ptrdiff_t>(x) * from.channels(),
                                       static_cast<size_t>(from.pitch_bytes), to.row_bytes(),
                                       static_cast<size_t>(to.height()), cudaMemcpyDefault, download_.get()));
    LENSD_CUDA_CHECK(cudaStreamSynchronize(download_.get()));
  }

 private:
  static SlotSync& sync_of(const Frame& frame) {
    return (*static_cast<SyncSet*>(frame.attachment()))[static_cast<size_t>(frame.slot())];
  }

  std::unique_ptr<CudaSlot> make_slot(const Plan& plan, const FramePool& pool, int index,
                                      size_t passes) const {
    auto slot = std::make_unique<CudaSlot>();
    slot->upload = MemoryBlock(MemoryKind::device, upload_bytes(plan.picture));
    slot->host_block = MemoryBlock(MemoryKind::pinned, plan.block_bytes);
    slot->device_block = MemoryBlock(MemoryKind::device, plan.block_bytes);
    for (int i = 0; i < static_cast<int>(plan.frame_images.size()); ++i) {
      ImageRef image = pool.image(index, i);
      if (options_.host_frames) {
        slot->device_memory.emplace_back(
            MemoryKind::device, static_cast<size_t>(image.pitch_bytes) * static_cast<size_t>(image.height()));
        image.data = slot->device_memory.back().data();
      }
      slot->images.push_back(image);
    }
    for (size_t i = 0; i <= passes; ++i) slot->timing.marks.emplace_back(cuda::Timing::on);
    return slot;
  }

  static size_t upload_pitch(const PictureInfo& info, int plane) {
    return align_up(info.plane_row_bytes(plane), kDeviceAlignment);
  }
  static size_t upload_bytes(const PictureInfo& info) {
    size_t total = 0;
    for (int p = 0; p < info.format.plane_count; ++p)
      total += upload_pitch(info, p) * static_cast<size_t>(info.plane_rows(p));
    return total;
  }

  /// Where the planes of such pictures lie in the slot once they are uploaded. A bottom-up picture stays so.
  static PictureRef uploaded_planes(const CudaSlot& slot, const PictureInfo& info, bool bottom_up) {
    PictureRef planes;
    planes.info = info, planes.memory = MemoryKind::device;
    size_t offset = 0;
    for (int p = 0; p < info.format.plane_count; ++p) {
      const auto plane = static_cast<size_t>(p);
      const size_t pitch = upload_pitch(info, p), rows = static_cast<size_t>(info.plane_rows(p));
      uint8_t* const begin = slot.upload.data() + offset;
      planes.planes[plane] = bottom_up ? begin + pitch * (rows - 1) : begin;
      planes.pitch_bytes[plane] =
          bottom_up ? -static_cast<std::ptrdiff_t>(pitch) : static_cast<std::ptrdiff_t>(pitch);
      offset += pitch * rows;
    }
    return planes;
  }

  /// Queues the copies of the planes and of the parameter blocks; the planes as the kernels will see them.
  PictureRef upload(CudaSlot& slot, const PictureRef& source, bool timed) {
    PictureRef planes = source;
    cuda::wait(copy_, slot.sync->computed);  // the slot's last frame has been computed
    if (timed) slot.timing.asked_ns = now_ns(), slot.timing.upload_begin.record(copy_);
    if (source.memory != MemoryKind::device) {
      planes = uploaded_planes(slot, source.info, source.pitch_bytes[0] < 0);
      for (int p = 0; p < source.info.format.plane_count; ++p) {
        const auto plane = static_cast<size_t>(p);
        const size_t row_bytes = source.info.plane_row_bytes(p), pitch = upload_pitch(source.info, p);
        const int rows = source.info.plane_rows(p);
        // Copied from the lowest address to the lowest address, whichever way the rows run.
        const auto lowest = [&](const uint8_t* first, std::ptrdiff_t step) {
          return step < 0 ? first + step * (rows - 1) : first;
        };
        const std::ptrdiff_t from_pitch = source.pitch_bytes[plane];
        LENSD_CUDA_CHECK(
            cudaMemcpy2DAsync(const_cast<uint8_t*>(lowest(planes.planes[plane], planes.pitch_bytes[plane])),
                              pitch, lowest(source.planes[plane], from_pitch),
                              static_cast<size_t>(from_pitch < 0 ? -from_pitch : from_pitch), row_bytes,
                              static_cast<size_t>(rows), cudaMemcpyHostToDevice, copy_.get()));
      }
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

  void compute(CudaSlot& slot, const PictureRef& planes, bool timed) {
    cuda::wait(compute_, slot.uploaded);
    if (slot.sync->was_read) cuda::wait(compute_, slot.sync->read);
    slot.sync->was_read = false;
    // A hardware decoder's planes are elsewhere in every frame: what reads them stays outside the graph.
    const bool source_inside = slot.picture.planes.memory != MemoryKind::device;
    point_at_slot(*now_, slot, planes);
    const CapturedPlan& captured = find_or_capture(slot, planes, source_inside);
    if (!source_inside)
      launch_passes(*now_, slot, 0, now_->early, timed ? Marks::ordinary : Marks::none, compute_);
    (timed ? captured.timed : captured.plain).launch(compute_);
    slot.timing.pending = timed;
    slot.timing.frame = slot.frame;
    slot.sync->computed.record(compute_);
  }

  /// Points the plan's passes at what lies in the slot.
  static void point_at_slot(CudaPlan& plan, const CudaSlot& slot, const PictureRef& planes) {
    point_at(plan.steps,
             {slot.images, plan.stats.data(), slot.device_block.data(), slot.host_block.data(), &planes});
  }

  /// The slot's graphs for pictures of this shape. There are some from the start for ordinary pictures;
  /// others (bottom-up rows, pictures that a hardware decoder left on the GPU) are captured for all slots
  /// when the first one comes.
  const CapturedPlan& find_or_capture(CudaSlot& slot, const PictureRef& planes, bool source_inside) {
    const bool bottom_up = planes.pitch_bytes[0] < 0;
    for (const CapturedPlan& c : slot.captured)
      if (c.source_inside == source_inside && (!source_inside || c.bottom_up == bottom_up)) return c;
    for (const auto& each : now_->slots)
      capture(*now_, *each, uploaded_planes(*each, planes.info, bottom_up), source_inside, capture_);
    point_at_slot(*now_, slot, planes);
    return slot.captured.back();
  }

  /// Captures the plan's passes for a slot whose pictures lie as `planes` say.
  void capture(CudaPlan& plan, CudaSlot& slot, const PictureRef& planes, bool source_inside,
               const cuda::Stream& stream) {
    point_at_slot(plan, slot, planes);
    CapturedPlan& c = slot.captured.emplace_back();
    c.bottom_up = planes.pitch_bytes[0] < 0, c.source_inside = source_inside;
    const size_t first = source_inside ? 0 : plan.early;
    c.plain = cuda::GraphExec(stream, [&] { record_graph(plan, slot, first, Marks::none, stream); });
    c.timed = cuda::GraphExec(stream, [&] { record_graph(plan, slot, first, Marks::external, stream); });
    captures_.fetch_add(2, std::memory_order_relaxed);
  }

  enum class Marks { none, ordinary, external };

  void record_graph(CudaPlan& plan, CudaSlot& slot, size_t first, Marks marks, const cuda::Stream& stream) {
    const size_t bytes = plan.plan->stats_bytes;
    if (bytes > 0) LENSD_CUDA_CHECK(cudaMemsetAsync(plan.stats.data(), 0, bytes, stream.get()));
    launch_passes(plan, slot, first, plan.order.size(), marks, stream);
    if (bytes > 0)
      LENSD_CUDA_CHECK(cudaMemcpyAsync(plan.pool->side_data(slot.signal.index), plan.stats.data(), bytes,
                                       cudaMemcpyDeviceToHost, stream.get()));
  }

  /// Passes `first` up to `last` of the launch order, with marks before the first and after each.
  static void launch_passes(CudaPlan& plan, CudaSlot& slot, size_t first, size_t last, Marks marks,
                            const cuda::Stream& stream) {
    const auto set_mark = [&](size_t i) {
      const unsigned flags = marks == Marks::external ? cudaEventRecordExternal : cudaEventRecordDefault;
      if (marks != Marks::none)
        LENSD_CUDA_CHECK(cudaEventRecordWithFlags(slot.timing.marks[i].get(), stream.get(), flags));
    };
    set_mark(first);
    for (size_t i = first; i < last; ++i) {
      Step& step = plan.steps[plan.order[i].step];
      step.args.pass = plan.order[i].pass;
      step.node->filter->launch(step.args, stream.get());
      set_mark(i + 1);
    }
  }

  /// Brings a host frame home and signals the end of the slot's work.
  void give_back(CudaSlot& slot, Frame& frame) {
    cuda::wait(return_, slot.sync->computed);
    if (options_.host_frames) {
      for (int i = 0; i < frame.images(); ++i) {
        const ImageRef to = frame.image(i), from = slot.images[static_cast<size_t>(i)];
        LENSD_CUDA_CHECK(cudaMemcpy2DAsync(
            to.data, static_cast<size_t>(to.pitch_bytes), from.data, static_cast<size_t>(from.pitch_bytes),
            to.row_bytes(), static_cast<size_t>(to.height()), cudaMemcpyDeviceToHost, return_.get()));
      }
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
    signal.sync->finished_ns = now_ns();
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
    const SlotTiming& t = slot.timing;
    gpu_clock_.agree(t.upload_begin, t.marks.back(), t.asked_ns, slot.sync->finished_ns);
    const int64_t upload_begin = gpu_clock_.at(t.upload_begin);
    const int64_t upload = GpuClock::elapsed(t.upload_begin, t.upload_end);
    profiler_.record(upload_scope_, upload);
    timeline_.record(copy_track_, upload_label_, t.frame, upload_begin, upload_begin + upload);
    int64_t begin = gpu_clock_.at(t.marks[0]);
    for (size_t i = 0; i < now_->order.size(); ++i) {
      const auto [s, pass] = now_->order[i];
      const Step& step = now_->steps[s];
      const auto p = static_cast<size_t>(pass);
      const int64_t duration = GpuClock::elapsed(t.marks[i], t.marks[i + 1]);
      profiler_.record(step.scopes[p], duration);
      timeline_.record(compute_track_, step.labels[p], t.frame, begin, begin + duration);
      begin += duration;
    }
    gpu_clock_.renew(compute_);
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
  cuda::Stream copy_, compute_, return_, capture_, download_;
  std::mutex download_mutex_;
  std::atomic<int64_t> captures_{0};
  cuda::Event decoded_, copied_, carried_;
  GpuClock gpu_clock_{compute_};
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

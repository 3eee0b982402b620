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
#include "core/graph/exec/cuda_plan.hpp"
#include "core/graph/exec/cuda_upload.hpp"
#include "core/graph/trace/gpu_clock.hpp"

namespace lensd {
namespace {

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
    auto next = make_cuda_plan(std::move(plan), options_, profiler_, timeline_);
    const cuda::Stream stream;  // of its own: the process thread may be capturing as well
    count_captures(capture(*next, next->plan->picture, false, true, stream));
    LENSD_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
    return next;
  }

  std::unique_ptr<PreparedPlan> swap_in(std::unique_ptr<PreparedPlan> prepared) override {
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
    for (BoundNode& step : now_->steps) step.clock.cut();
  }
  std::vector<NodeStatistics> statistics() const override { return stats_board_.read(); }
  bool read_scope(const ScopeRequest& scope, ScopeReading& reading) const override {
    return stats_board_.read_scope(scope, reading);
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

  /// Queues the copies of the planes and of the parameter blocks; the planes as the kernels will see them.
  PictureRef upload(CudaSlot& slot, const PictureRef& source, bool timed) {
    PictureRef planes = source;
    cuda::wait(copy_, slot.sync->computed);  // the slot's last frame has been computed
    if (timed) slot.timing.asked_ns = now_ns(), slot.timing.upload_begin.record(copy_);
    if (source.memory != MemoryKind::device) {
      planes = uploaded_planes(slot.upload, source.info, source.pitch_bytes[0] < 0);
      copy_planes(source, planes, copy_);
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

  /// The slot's graphs for pictures of this shape. There are some from the start for ordinary pictures;
  /// others (bottom-up rows, pictures that a hardware decoder left on the GPU) are captured for all slots
  /// when the first one comes.
  const CapturedPlan& find_or_capture(CudaSlot& slot, const PictureRef& planes, bool source_inside) {
    const bool bottom_up = planes.pitch_bytes[0] < 0;
    for (const CapturedPlan& c : slot.captured)
      if (c.source_inside == source_inside && (!source_inside || c.bottom_up == bottom_up)) return c;
    count_captures(capture(*now_, planes.info, bottom_up, source_inside, capture_));
    point_at_slot(*now_, slot, planes);
    return slot.captured.back();
  }

  void count_captures(int graphs) { captures_.fetch_add(graphs, std::memory_order_relaxed); }

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
      const BoundNode& step = now_->steps[s];
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

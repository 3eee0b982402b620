// The CUDA executor: copy stream, compute stream, return stream, ordered by events.
//
//   copy     upload n+1 ─────────▶│          decoded planes and parameter blocks, pinned → device
//   compute  │ graph of n ───────▶│          one captured CUDA graph; waits for upload n
//   return   │ host frames of n−1, then a callback that signals the end
//
// Each output frame has a slot with its own parameter block, events and captured graphs: a plain one, and one
// with an event around each pass for timed frames. Slots share the large buffers (CudaBuffers). Graphs are
// captured when a plan is prepared, or with the first picture of another layout; see find_or_capture().
// Kernels read their parameters from the block, so a change of a live parameter needs no new graph. The
// callback publishes the statistics and marks the slot as free with an atomic store; no CUDA call waits.
// After an error of the device it marks the frame as failed, so that nobody waits for it.
// docs/architecture.md lists the CUDA calls per frame.

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/graph/exec/cuda_plan.hpp"
#include "core/graph/exec/cuda_upload.hpp"
#include "core/graph/exec/executor_base.hpp"
#include "core/graph/trace/gpu_clock.hpp"

namespace lensd {
namespace {

constexpr int kMaxInFlight = 8;

/// Makes `device` current before other members create streams and events.
struct CurrentDevice {
  explicit CurrentDevice(int device) { LENSD_CUDA_CHECK(cudaSetDevice(device)); }
};

class CudaExecutor final : public ExecutorBase<CudaPlan>, public DeviceFrameSync {
 public:
  CudaExecutor(const ExecutorOptions& options, Profiler& profiler, Timeline& timeline)
      : ExecutorBase(profiler),
        options_(options),
        timeline_(timeline),
        device_(options.device),
        in_flight_(static_cast<size_t>(std::clamp(options.in_flight, 1, kMaxInFlight))) {
    copy_track_ = timeline.track("cuda copy stream"), compute_track_ = timeline.track("cuda compute stream");
    upload_label_ = timeline.label("upload");
  }

  ~CudaExecutor() override {
    cudaSetDevice(options_.device);
    for (const cuda::Stream* stream : {&copy_, &compute_, &return_}) cudaStreamSynchronize(stream->get());
    current_.reset();
  }

  DeviceFrameSync* device_sync() override { return this; }
  size_t device_bytes() const override { return current_ ? current_->device_bytes : 0; }
  int64_t captures() const override { return captures_.load(std::memory_order_relaxed); }

  void use_device() override { LENSD_CUDA_CHECK(cudaSetDevice(options_.device)); }

  std::unique_ptr<PreparedPlan> prepare(std::unique_ptr<Plan> plan) override {
    use_device();
    auto next = make_cuda_plan(std::move(plan), options_, profiler_, timeline_, old_pools_);
    const cuda::Stream stream;  // not capture_: the process thread may be capturing too
    count_captures(capture(*next, next->plan->picture, false, true, stream));
    LENSD_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
    return next;
  }

  void swap_in(std::unique_ptr<PreparedPlan>& plan) override {
    use_device();
    std::shared_ptr<FramePool> old_pool = current_ ? current_->pool : nullptr;
    try {
      carry_over(static_cast<CudaPlan&>(*plan));
      set_current(plan);
    } catch (...) {
      cudaStreamSynchronize(compute_.get());  // `plan` may be freed, and copies into it may be queued
      cudaGetLastError();
      throw;
    }
    queued_ = {};
    try {
      if (old_pool) old_pools_.add(std::move(old_pool));
    } catch (const std::bad_alloc&) {
      // The pool is freed together with its plan, or by its last reader.
    }
  }

  void wait_for_room() override {
    if (const SlotSync* oldest = queued_[next_queued_]) oldest->busy.wait(1, std::memory_order_acquire);
  }

  Frame run(const Picture& picture, bool again) override {
    wait_for_room();
    Frame frame = current_->pool->acquire();
    if (!frame) return frame;
    CudaSlot& slot = *current_->slots[static_cast<size_t>(frame.slot())];
    // A reader may release a frame before the GPU has finished it.
    slot.sync->busy.wait(1, std::memory_order_acquire);
    collect_timings(slot);

    frame.info = picture.info;
    slot.signal.frame = picture.info.index;
    slot.picture = picture.share();
    const bool timed = picture.info.index % options_.timing_interval == 0;
    write_frame_blocks(current_->nodes, picture.info, again, current_->plan->blocks.data());
    try {
      const PictureRef planes = upload(slot, picture.planes, timed);
      compute(slot, planes, timed);
      return_frame(slot, frame);
    } catch (...) {
      abandon(slot);
      throw;
    }
    queued_[next_queued_] = slot.sync;
    next_queued_ = (next_queued_ + 1) % in_flight_;
    release_uploaded_pictures();
    frame.info.processed_ns = now_ns();
    return frame;
  }

  void wait_ready(CudaStream stream, const Frame& frame) override {
    LENSD_CUDA_CHECK(cudaStreamWaitEvent(stream, sync_of(frame).computed.get(), 0));
  }
  void reading_done(CudaStream stream, const Frame& frame) override {
    SlotSync& sync = sync_of(frame);
    // Images of a frame may be read on different streams. The last reader's stream waits for the earlier
    // reads, so one event covers all of them.
    if (sync.was_read) LENSD_CUDA_CHECK(cudaStreamWaitEvent(stream, sync.read.get(), 0));
    LENSD_CUDA_CHECK(cudaEventRecord(sync.read.get(), stream));
    sync.was_read = true;  // the frame's release orders this store before the slot's next run()
  }
  void copy_to_host(const Frame& frame, int image, int x, int y, ImageRef to) override {
    const std::lock_guard lock(download_mutex_);
    use_device();
    const ImageRef from = frame.image(image);
    cuda::wait(download_, sync_of(frame).computed);
    LENSD_CUDA_CHECK(cudaMemcpy2DAsync(to.data, static_cast<size_t>(to.pitch_bytes),
                                       from.row(y) + static_cast<std::ptrdiff_t>(x) * from.pixel_bytes(),
                                       static_cast<size_t>(from.pitch_bytes), to.row_bytes(),
                                       static_cast<size_t>(to.height()), cudaMemcpyDefault, download_.get()));
    LENSD_CUDA_CHECK(cudaStreamSynchronize(download_.get()));
  }

 private:
  /// Queues the initialisation of the state of `next`, and the event after which the current plan is unused.
  void carry_over(CudaPlan& next) {
    LENSD_CUDA_CHECK(cudaMemsetAsync(next.state.data(), 0, next.state.size(), compute_.get()));
    if (!current_) return;
    for (const StateCopy& copy : carry_state_over(*current_, next))
      LENSD_CUDA_CHECK(cudaMemcpyAsync(next.state.data() + copy.to, current_->state.data() + copy.from,
                                       copy.bytes, cudaMemcpyDeviceToDevice, compute_.get()));
    carried_.record(compute_), copied_.record(copy_);
    cuda::wait(return_, carried_), cuda::wait(return_, copied_);
    current_->last_use.record(return_);  // every frame's last work is on the return stream
    current_->used = true;
  }

  /// Returns true if the display no longer reads frames of the pool, or the GPU has failed.
  static bool unread(const FramePool& pool, int device) {
    cudaSetDevice(device);  // otherwise this thread would create a context on device 0
    const auto& set = *static_cast<const SyncSet*>(pool.attachment());
    const auto reading = [](const SlotSync& sync) {
      return sync.was_read && cudaEventQuery(sync.read.get()) == cudaErrorNotReady;
    };
    const bool none = std::ranges::none_of(set, reading);
    cudaGetLastError();  // clears cudaErrorNotReady
    return none;
  }

  static SlotSync& sync_of(const Frame& frame) {
    return (*static_cast<SyncSet*>(frame.attachment()))[static_cast<size_t>(frame.slot())];
  }

  /// Queues the copies of the planes, unless they are on the GPU, and of the parameter blocks. Returns the
  /// planes that the kernels read.
  PictureRef upload(CudaSlot& slot, const PictureRef& source, bool timed) {
    PictureRef planes = source;
    CudaBuffers& buffers = *slot.buffers;
    if (buffers.computed)
      cuda::wait(copy_, *buffers.computed);  // kernels of an earlier frame read the upload
    if (timed) slot.timing.queued_ns = now_ns(), slot.timing.upload_begin.record(copy_);
    if (source.memory != MemoryKind::device) {
      planes = uploaded_planes(buffers.upload, source.info, source.pitch_bytes[0] < 0);
      copy_planes(source, planes, copy_);
    } else {
      // FFmpeg queued a hardware decoder's copies on the legacy default stream.
      LENSD_CUDA_CHECK(cudaEventRecord(decoded_.get(), cudaStreamLegacy));
      cuda::wait(copy_, decoded_);
    }
    std::memcpy(slot.host_block.data(), current_->plan->blocks.data(), current_->plan->block_bytes);
    LENSD_CUDA_CHECK(cudaMemcpyAsync(slot.device_block.data(), slot.host_block.data(),
                                     current_->plan->block_bytes, cudaMemcpyHostToDevice, copy_.get()));
    if (timed) slot.timing.upload_end.record(copy_);
    slot.uploaded.record(copy_);
    return planes;
  }

  void compute(CudaSlot& slot, const PictureRef& planes, bool timed) {
    cuda::wait(compute_, slot.uploaded);
    if (slot.sync->was_read) cuda::wait(compute_, slot.sync->read);
    slot.sync->was_read = false;
    if (options_.host_frames) cuda::wait(compute_, slot.buffers->returned);
    // The addresses of a hardware decoder's planes change with every frame. Passes that read them therefore
    // stay outside the graph.
    const bool source_inside = slot.picture.planes.memory != MemoryKind::device;
    bind_slot(*current_, slot, planes);
    const CapturedPlan& captured = find_or_capture(slot, planes, source_inside);
    if (!source_inside)
      launch_passes(*current_, slot, 0, current_->picture_passes, timed ? Marks::ordinary : Marks::none,
                    compute_);
    (timed ? captured.timed : captured.plain).launch(compute_);
    slot.timing.pending = timed;
    slot.timing.frame = slot.signal.frame;
    slot.sync->computed.record(compute_);
    slot.buffers->computed = &slot.sync->computed;
  }

  /// Returns the slot's graphs for pictures of this layout. prepare() captures the graphs for top-down
  /// pictures in host memory that are interlaced like the plan's picture. Graphs for other pictures
  /// (bottom-up, hardware-decoded, interlaced unlike the plan's picture) are captured for all slots when the
  /// first such picture arrives.
  const CapturedPlan& find_or_capture(CudaSlot& slot, const PictureRef& planes, bool source_inside) {
    const bool bottom_up = planes.pitch_bytes[0] < 0, field_chroma = planes.info.has_field_chroma();
    for (const CapturedPlan& c : slot.captured) {
      const bool same_layout = c.bottom_up == bottom_up && c.field_chroma == field_chroma;
      if (c.source_inside == source_inside && (!source_inside || same_layout)) return c;
    }
    count_captures(capture(*current_, planes.info, bottom_up, source_inside, capture_));
    bind_slot(*current_, slot, planes);
    return slot.captured.back();
  }

  void count_captures(int graphs) { captures_.fetch_add(graphs, std::memory_order_relaxed); }

  /// Queues the copy to the host frame, then the signal that the slot's work has finished.
  void return_frame(CudaSlot& slot, Frame& frame) {
    cuda::wait(return_, slot.sync->computed);
    if (options_.host_frames) {
      for (int i = 0; i < frame.images(); ++i) {
        const ImageRef to = frame.image(i), from = slot.images[static_cast<size_t>(i)];
        LENSD_CUDA_CHECK(cudaMemcpy2DAsync(
            to.data, static_cast<size_t>(to.pitch_bytes), from.data, static_cast<size_t>(from.pitch_bytes),
            to.row_bytes(), static_cast<size_t>(to.height()), cudaMemcpyDeviceToHost, return_.get()));
      }
      slot.buffers->returned.record(return_);
    }
    slot.sync->busy.store(1, std::memory_order_relaxed);
    current_->pool->set_pending(frame.slot());
    // After a device error, CUDA calls a stream callback with the error, but does not call a host function.
    LENSD_CUDA_CHECK(cudaStreamAddCallback(return_.get(), &CudaExecutor::on_finished, &slot.signal, 0));
  }

  /// Frees the slot of a frame that could not be queued completely: no callback follows. Waits for the part
  /// that was queued, because the next frame of the slot writes the same memory.
  void abandon(CudaSlot& slot) {
    for (const cuda::Stream* stream : {&copy_, &compute_, &return_}) cudaStreamSynchronize(stream->get());
    cudaGetLastError();
    slot.timing.pending = false;  // some of its events may not be recorded
    current_->pool->set_failed(slot.signal.index);
    slot.sync->busy.store(0, std::memory_order_release);
    slot.sync->busy.notify_all();
  }

  static void CUDART_CB on_finished(cudaStream_t, cudaError_t status, void* opaque) {
    const SlotSignal signal = *static_cast<const SlotSignal*>(opaque);
    if (status == cudaSuccess) {
      signal.pool->set_ready(signal.index);
      signal.finished_stats->publish(signal.frame, signal.host_stats);
    } else {
      signal.pool->set_failed(signal.index);
    }
    signal.sync->finished_ns = now_ns();
    signal.sync->busy.store(0, std::memory_order_release);
    signal.sync->busy.notify_all();
  }

  /// Releases the pictures that the GPU no longer reads. Does not block.
  void release_uploaded_pictures() {
    for (auto& slot : current_->slots) {
      if (!slot->picture) continue;
      const bool on_device = slot->picture.planes.memory == MemoryKind::device;
      if ((on_device ? slot->sync->computed : slot->uploaded).passed()) slot->picture.reset();
    }
  }

  /// Releases the picture of the slot's last frame, which has finished. Records its timings if it was timed.
  void collect_timings(CudaSlot& slot) {
    slot.picture.reset();
    if (!slot.timing.pending) return;
    slot.timing.pending = false;
    const SlotTiming& t = slot.timing;
    gpu_clock_.correct(t.upload_begin, t.marks.back(), t.queued_ns, slot.sync->finished_ns);
    const int64_t upload_begin = gpu_clock_.host_ns(t.upload_begin);
    const int64_t upload = GpuClock::elapsed(t.upload_begin, t.upload_end);
    profiler_.record(current_->upload_scope, upload);
    timeline_.record(copy_track_, upload_label_, t.frame, upload_begin, upload_begin + upload);
    int64_t begin = gpu_clock_.host_ns(t.marks[0]);
    for (size_t i = 0; i < current_->order.size(); ++i) {
      const auto [node_index, pass] = current_->order[i];
      const BoundNode& node = current_->nodes[node_index];
      const int64_t duration = GpuClock::elapsed(t.marks[i], t.marks[i + 1]);
      profiler_.record(node.scopes[pass], duration);
      timeline_.record(compute_track_, *node.labels[pass], t.frame, begin, begin + duration);
      begin += duration;
    }
    gpu_clock_.refresh_origin(compute_);
  }

  ExecutorOptions options_;
  Timeline& timeline_;
  CurrentDevice device_;
  const size_t in_flight_;
  std::array<const SlotSync*, kMaxInFlight> queued_ = {};  ///< the newest `in_flight_` frames of this plan
  size_t next_queued_ = 0;                                 ///< index of the oldest one
  int copy_track_ = 0, compute_track_ = 0, upload_label_ = 0;
  cuda::Stream copy_, compute_, return_, capture_, download_;
  std::mutex download_mutex_;
  std::atomic<int64_t> captures_{0};
  cuda::Event decoded_, copied_, carried_;
  OldFramePools old_pools_{
      [device = options_.device](const FramePool& pool) { return unread(pool, device); }};
  GpuClock gpu_clock_{compute_};
};

}  // namespace

std::unique_ptr<Executor> make_cuda_executor(const ExecutorOptions& options, Profiler& profiler,
                                             Timeline& timeline) {
  if (const CudaStatus status = probe_cuda(options.device); !status.available)
    throw Error(ExitCode::unavailable, "--backend=cuda", status.reason,
                "--backend=cpu gives the same output");
  use_pinned_memory(options.device);
  return std::make_unique<CudaExecutor>(options, profiler, timeline);
}

}  // namespace lensd

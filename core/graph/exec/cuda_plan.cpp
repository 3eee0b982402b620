#include "core/graph/exec/cuda_plan.hpp"

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/device/cuda_check.hpp"
#include "core/device/device_memory_error.hpp"
#include "core/device/gpu_support.hpp"
#include "core/graph/exec/cuda_upload.hpp"

namespace lensd {
namespace {

/// Puts passes that read the picture first, so that they can be launched before the graph.
void set_launch_order(CudaPlan& plan) {
  std::vector<PassIndex> rest;
  for (size_t n = 0; n < plan.nodes.size(); ++n)
    for (size_t p = 0; p < plan.nodes[n].scopes.size(); ++p)
      (plan.nodes[n].node->layout.passes[p].reads_picture ? plan.order : rest).push_back({n, p});
  plan.picture_passes = plan.order.size();
  plan.order.insert(plan.order.end(), rest.begin(), rest.end());
}

struct DeviceMemory {
  size_t free = 0, total = 0;
};
DeviceMemory device_memory(const ExecutorOptions& options) {
  DeviceMemory memory;
  LENSD_CUDA_CHECK(cudaMemGetInfo(&memory.free, &memory.total));
  if (options.device_memory > 0) memory.free = std::min(memory.free, options.device_memory);
  return memory;
}

/// If the current device has less free memory than the plan needs, makes `old_pools` free its pools. Throws
/// DeviceMemoryError if that is not enough.
void check_memory(const Plan& plan, const ExecutorOptions& options, OldFramePools& old_pools) {
  cudaDeviceProp properties{};
  cudaGetDeviceProperties(&properties, options.device);
  const size_t needed = device_bytes(plan, options);
  DeviceMemory memory = device_memory(options);
  if (memory_obstacle(properties.name, needed, memory.free, memory.total) && old_pools.give_up())
    memory = device_memory(options);
  constexpr double kMebibyte = 1 << 20;
  log::info("GPU memory: the plan needs {:.1f} MiB, {:.0f} of {:.0f} MiB are free",
            static_cast<double>(needed) / kMebibyte, static_cast<double>(memory.free) / kMebibyte,
            static_cast<double>(memory.total) / kMebibyte);
  if (const auto obstacle = memory_obstacle(properties.name, needed, memory.free, memory.total))
    throw DeviceMemoryError(obstacle->what, obstacle->hint);
}

/// Returns the number of CudaBuffers: one more than unfinished frames, because slots are not always used in
/// order.
int buffer_count(const ExecutorOptions& options) {
  return std::min(options.frames, options.in_flight + 1);
}

size_t device_image_bytes(const ImageFormat& image) {
  return align_up(image.row_bytes(), kDeviceAlignment) * static_cast<size_t>(image.extent.height);
}

std::unique_ptr<CudaBuffers> make_buffers(const Plan& plan, bool host_frames) {
  auto buffers = std::make_unique<CudaBuffers>();
  buffers->upload = MemoryBlock(MemoryKind::device, upload_bytes(plan.picture));
  for (const ImageFormat& image : plan.frame_images)
    if (host_frames) buffers->images.emplace_back(MemoryKind::device, device_image_bytes(image));
  return buffers;
}

std::unique_ptr<CudaSlot> make_slot(const Plan& plan, const FramePool& pool, int index, size_t passes,
                                    CudaBuffers& buffers) {
  auto slot = std::make_unique<CudaSlot>();
  slot->buffers = &buffers;
  slot->host_block = MemoryBlock(MemoryKind::pinned, plan.block_bytes);
  slot->device_block = MemoryBlock(MemoryKind::device, plan.block_bytes);
  for (int i = 0; i < static_cast<int>(plan.frame_images.size()); ++i) {
    ImageRef image = pool.image(index, i);
    if (!buffers.images.empty()) image.data = buffers.images[static_cast<size_t>(i)].data();
    slot->images.push_back(image);
  }
  for (size_t i = 0; i <= passes; ++i) slot->timing.marks.emplace_back(cuda::Timing::on);
  return slot;
}

void record_graph(CudaPlan& plan, CudaSlot& slot, size_t first, Marks marks, const cuda::Stream& stream) {
  const size_t bytes = plan.plan->stats_bytes;
  if (bytes > 0) LENSD_CUDA_CHECK(cudaMemsetAsync(plan.stats.data(), 0, bytes, stream.get()));
  launch_passes(plan, slot, first, plan.order.size(), marks, stream);
  if (bytes > 0)
    LENSD_CUDA_CHECK(cudaMemcpyAsync(plan.pool->side_data(slot.signal.index), plan.stats.data(), bytes,
                                     cudaMemcpyDeviceToHost, stream.get()));
}

}  // namespace

size_t device_bytes(const Plan& plan, const ExecutorOptions& options) {
  size_t images = 0;
  for (const ImageFormat& image : plan.frame_images) images += device_image_bytes(image);
  const auto slots = static_cast<size_t>(options.frames),
             buffers = static_cast<size_t>(buffer_count(options));
  return plan.arena_bytes + plan.state_bytes + plan.stats_bytes + slots * plan.block_bytes +
         buffers * upload_bytes(plan.picture) + (options.host_frames ? buffers : slots) * images;
}

std::unique_ptr<CudaPlan> make_cuda_plan(std::unique_ptr<Plan> plan, const ExecutorOptions& options,
                                         Profiler& profiler, Timeline& timeline, OldFramePools& old_pools) {
  auto made = std::make_unique<CudaPlan>();
  check_memory(*plan, options, old_pools);
  made->device_bytes = device_bytes(*plan, options);
  made->upload_scope =
      profiler.plan_scope("upload", "copy", static_cast<double>(upload_bytes(plan->picture)), 0, true);
  bind_plan(*made, std::move(plan), MemoryKind::device,
            options.host_frames ? MemoryKind::pinned : MemoryKind::device, options.frames, profiler,
            timeline);
  FramePool& pool = *made->pool;
  auto sync = std::make_shared<SyncSet>(static_cast<size_t>(pool.capacity()));
  pool.attach(sync);
  made->stats = MemoryBlock(MemoryKind::device, made->plan->stats_bytes);
  set_launch_order(*made);
  for (int i = 0; i < buffer_count(options); ++i)
    made->buffers.push_back(make_buffers(*made->plan, options.host_frames));
  for (int i = 0; i < pool.capacity(); ++i) {
    CudaBuffers& buffers = *made->buffers[static_cast<size_t>(i) % made->buffers.size()];
    made->slots.push_back(make_slot(*made->plan, pool, i, made->order.size(), buffers));
    CudaSlot& slot = *made->slots.back();
    slot.sync = &(*sync)[static_cast<size_t>(i)];
    slot.signal = {slot.sync, &pool, i, pool.side_data(i), made->finished_stats.get(), -1};
  }
  return made;
}

void bind_slot(CudaPlan& plan, const CudaSlot& slot, const PictureRef& planes) {
  bind_frame(plan.nodes,
             {slot.images, plan.stats.data(), slot.device_block.data(), slot.host_block.data(), &planes});
}

void launch_passes(CudaPlan& plan, CudaSlot& slot, size_t first, size_t last, Marks marks,
                   const cuda::Stream& stream) {
  const auto set_mark = [&](size_t i) {
    const unsigned flags = marks == Marks::external ? cudaEventRecordExternal : cudaEventRecordDefault;
    if (marks != Marks::none)
      LENSD_CUDA_CHECK(cudaEventRecordWithFlags(slot.timing.marks[i].get(), stream.get(), flags));
  };
  set_mark(first);
  for (size_t i = first; i < last; ++i) {
    const BoundNode& bound = plan.nodes[plan.order[i].node];
    launch_pass(*bound.node->filter, bound.node->layout.passes[plan.order[i].pass], bound.args, stream.get());
    set_mark(i + 1);
  }
}

int capture(CudaPlan& plan, const PictureInfo& info, bool bottom_up, bool source_inside,
            const cuda::Stream& stream) {
  const size_t first = source_inside ? 0 : plan.picture_passes;
  std::vector<CapturedPlan> all;  // moved to the slots when complete, because memory may run out before
  for (const auto& slot : plan.slots) {
    const PictureRef planes = uploaded_planes(slot->buffers->upload, info, bottom_up);
    bind_slot(plan, *slot, planes);
    CapturedPlan captured;
    captured.bottom_up = planes.pitch_bytes[0] < 0, captured.source_inside = source_inside;
    captured.field_chroma = info.has_field_chroma();
    captured.plain = cuda::GraphExec(stream, [&] { record_graph(plan, *slot, first, Marks::none, stream); });
    captured.timed =
        cuda::GraphExec(stream, [&] { record_graph(plan, *slot, first, Marks::external, stream); });
    all.push_back(std::move(captured));
  }
  for (const auto& slot : plan.slots) slot->captured.reserve(slot->captured.size() + 1);
  for (size_t i = 0; i < all.size(); ++i) plan.slots[i]->captured.push_back(std::move(all[i]));
  return 2 * static_cast<int>(plan.slots.size());
}

}  // namespace lensd

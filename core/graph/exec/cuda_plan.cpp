#include "core/graph/exec/cuda_plan.hpp"

#include <utility>

#include "core/graph/exec/cuda_upload.hpp"

namespace lensd {
namespace {

/// Passes that read the picture come first, so that they can be launched before the graph.
std::vector<PassIndex> launch_order(const std::vector<BoundNode>& steps, size_t& early) {
  std::vector<PassIndex> first, rest;
  for (size_t s = 0; s < steps.size(); ++s)
    for (size_t p = 0; p < steps[s].scopes.size(); ++p)
      (steps[s].node->layout.passes[p].reads_picture ? first : rest).push_back({s, p});
  early = first.size();
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

std::unique_ptr<CudaSlot> make_slot(const Plan& plan, const FramePool& pool, int index, size_t passes,
                                    bool host_frames) {
  auto slot = std::make_unique<CudaSlot>();
  slot->upload = MemoryBlock(MemoryKind::device, upload_bytes(plan.picture));
  slot->host_block = MemoryBlock(MemoryKind::pinned, plan.block_bytes);
  slot->device_block = MemoryBlock(MemoryKind::device, plan.block_bytes);
  for (int i = 0; i < static_cast<int>(plan.frame_images.size()); ++i) {
    ImageRef image = pool.image(index, i);
    if (host_frames) {
      slot->device_memory.emplace_back(
          MemoryKind::device, static_cast<size_t>(image.pitch_bytes) * static_cast<size_t>(image.height()));
      image.data = slot->device_memory.back().data();
    }
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

std::unique_ptr<CudaPlan> make_cuda_plan(std::unique_ptr<Plan> plan, const ExecutorOptions& options,
                                         Profiler& profiler, Timeline& timeline) {
  auto made = std::make_unique<CudaPlan>();
  made->pool = FramePool::make({.images = plan->frame_images,
                                .kind = options.host_frames ? MemoryKind::pinned : MemoryKind::device,
                                .capacity = options.frames,
                                .side_bytes = plan->stats_bytes,
                                .tracks_offset = plan->tracks_offset,
                                .views = plan->views});
  auto sync = std::make_shared<SyncSet>(static_cast<size_t>(made->pool->capacity()));
  made->pool->attach(sync);
  made->arena = MemoryBlock(MemoryKind::device, plan->arena_bytes);
  made->state = MemoryBlock(MemoryKind::device, plan->state_bytes);
  made->stats = MemoryBlock(MemoryKind::device, plan->stats_bytes);
  made->finished_stats = std::make_shared<StatsBuffer>(*plan);
  profiler.scope("upload", "copy", static_cast<double>(upload_bytes(plan->picture)), 0, true);
  made->steps = bind_nodes(*plan, {made->arena.data(), made->state.data()}, profiler, timeline, true);
  made->order = launch_order(made->steps, made->early);
  for (int i = 0; i < made->pool->capacity(); ++i) {
    made->slots.push_back(make_slot(*plan, *made->pool, i, made->order.size(), options.host_frames));
    CudaSlot& slot = *made->slots.back();
    slot.sync = &(*sync)[static_cast<size_t>(i)];
    slot.signal = {slot.sync, made->pool.get(), i, made->pool->side_data(i), made->finished_stats.get(), -1};
  }
  made->plan = std::move(plan);
  return made;
}

void point_at_slot(CudaPlan& plan, const CudaSlot& slot, const PictureRef& planes) {
  point_at(plan.steps,
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
    const BoundNode& step = plan.steps[plan.order[i].step];
    launch_pass(*step.node->filter, step.node->layout, plan.order[i].pass, step.args, stream.get());
    set_mark(i + 1);
  }
}

int capture(CudaPlan& plan, const PictureInfo& info, bool bottom_up, bool source_inside,
            const cuda::Stream& stream) {
  const size_t first = source_inside ? 0 : plan.early;
  for (const auto& slot : plan.slots) {
    const PictureRef planes = uploaded_planes(slot->upload, info, bottom_up);
    point_at_slot(plan, *slot, planes);
    CapturedPlan& captured = slot->captured.emplace_back();
    captured.bottom_up = planes.pitch_bytes[0] < 0, captured.source_inside = source_inside;
    captured.plain = cuda::GraphExec(stream, [&] { record_graph(plan, *slot, first, Marks::none, stream); });
    captured.timed =
        cuda::GraphExec(stream, [&] { record_graph(plan, *slot, first, Marks::external, stream); });
  }
  return 2 * static_cast<int>(plan.slots.size());
}

}  // namespace lensd

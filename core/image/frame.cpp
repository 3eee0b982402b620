#include "core/image/frame.hpp"

#include <algorithm>
#include <bit>

#include "core/base/error.hpp"

namespace lensd {

Frame Frame::share() const noexcept {
  Frame other;
  if (slot_ < 0) return other;
  pool_->slots_[static_cast<size_t>(slot_)]->handles.fetch_add(1, std::memory_order_relaxed);
  other.pool_ = pool_, other.slot_ = slot_, other.info = info;
  return other;
}

ImageRef Frame::image(int index) const {
  return pool_->image(slot_, index);
}
int Frame::images() const noexcept {
  return static_cast<int>(pool_->spec_.images.size());
}
int Frame::find_image(std::string_view node) const noexcept {
  if (node.empty()) return 0;
  for (const FramePool::View& view : pool_->spec_.views)
    if (view.node == node) return view.image;
  return -1;
}
MemoryKind Frame::memory() const {
  return pool_->spec_.kind;
}
const TrackTable* Frame::tracks() const noexcept {
  const std::ptrdiff_t offset = pool_->spec_.tracks_offset;
  return offset < 0 ? nullptr : reinterpret_cast<const TrackTable*>(pool_->side_data(slot_) + offset);
}

void* Frame::attachment() const noexcept {
  return pool_->attachment();
}

bool Frame::ready() const noexcept {
  return pool_->slots_[static_cast<size_t>(slot_)]->state.load(std::memory_order_acquire) ==
         FramePool::kReady;
}

void Frame::wait_ready() const {
  const auto& state = pool_->slots_[static_cast<size_t>(slot_)]->state;
  state.wait(FramePool::kPending, std::memory_order_acquire);
  if (state.load(std::memory_order_acquire) == FramePool::kFailed)
    throw Error(ExitCode::runtime_failure, "GPU", "it failed before the frame was finished",
                "see `lensd doctor` and the kernel's log; --backend=cpu gives the same output");
}

void Frame::reset() noexcept {
  if (slot_ >= 0) pool_->release(slot_);
  slot_ = -1;
  pool_.reset();
}

std::shared_ptr<FramePool> FramePool::make(Spec spec) {
  spec.capacity = std::clamp(spec.capacity, 1, 64);
  return std::shared_ptr<FramePool>(new FramePool(std::move(spec)));
}

FramePool::FramePool(Spec spec)
    : spec_(std::move(spec)),
      free_(spec_.capacity == 64 ? ~uint64_t{0} : (uint64_t{1} << spec_.capacity) - 1) {
  const size_t alignment = spec_.kind == MemoryKind::host ? kHostAlignment : kDeviceAlignment;
  for (int i = 0; i < spec_.capacity; ++i) {
    auto slot = std::make_unique<Slot>();
    for (const ImageFormat& format : spec_.images) {
      const size_t pitch = align_up(format.row_bytes(), alignment);
      slot->memory.emplace_back(spec_.kind, pitch * static_cast<size_t>(format.extent.height));
      slot->images.push_back({slot->memory.back().data(), static_cast<std::ptrdiff_t>(pitch), format});
    }
    slot->side =
        MemoryBlock(spec_.kind == MemoryKind::host ? MemoryKind::host : MemoryKind::pinned, spec_.side_bytes);
    slots_.push_back(std::move(slot));
  }
}

Frame FramePool::try_acquire() {
  uint64_t mask = free_.load(std::memory_order_acquire);
  while (mask != 0) {
    // Search round-robin: the GPU may still read recently released slots.
    const unsigned from = next_.load(std::memory_order_relaxed);
    const int slot = static_cast<int>(
        (static_cast<unsigned>(std::countr_zero(std::rotr(mask, static_cast<int>(from)))) + from) % 64);
    if (!free_.compare_exchange_weak(mask, mask & ~(uint64_t{1} << slot), std::memory_order_acquire))
      continue;
    next_.store(static_cast<unsigned>(slot + 1) % 64, std::memory_order_relaxed);
    slots_[static_cast<size_t>(slot)]->handles.store(1, std::memory_order_relaxed);
    Frame frame;
    frame.pool_ = shared_from_this();
    frame.slot_ = slot;
    return frame;
  }
  return {};
}

Frame FramePool::acquire() {
  for (;;) {
    const uint32_t seen = released_.load(std::memory_order_acquire);
    if (Frame frame = try_acquire()) return frame;
    if (closed_.load(std::memory_order_acquire)) return {};
    released_.wait(seen, std::memory_order_acquire);
  }
}

void FramePool::close() {
  closed_.store(true, std::memory_order_release);
  released_.fetch_add(1, std::memory_order_release);
  released_.notify_all();
}

void FramePool::finish(int slot, State state) noexcept {
  auto& of_slot = slots_[static_cast<size_t>(slot)]->state;
  of_slot.store(state, std::memory_order_release);
  of_slot.notify_all();
}

void FramePool::release(int slot) noexcept {
  if (slots_[static_cast<size_t>(slot)]->handles.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  free_.fetch_or(uint64_t{1} << slot, std::memory_order_release);
  released_.fetch_add(1, std::memory_order_release);
  released_.notify_all();
}

}  // namespace lensd

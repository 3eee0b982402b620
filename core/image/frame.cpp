#include "core/image/frame.hpp"

#include <algorithm>
#include <bit>

namespace lensd {

ImageRef Frame::image() const {
  return pool_->image(slot_);
}
MemoryKind Frame::memory() const {
  return pool_->kind_;
}

void* Frame::attachment() const noexcept {
  return pool_->attachment();
}

bool Frame::ready() const noexcept {
  return pool_->slots_[static_cast<size_t>(slot_)]->ready.load(std::memory_order_acquire) != 0;
}

void Frame::wait_ready() const noexcept {
  pool_->slots_[static_cast<size_t>(slot_)]->ready.wait(0, std::memory_order_acquire);
}

void Frame::reset() noexcept {
  if (slot_ >= 0) pool_->release(slot_);
  slot_ = -1;
  pool_.reset();
}

std::shared_ptr<FramePool> FramePool::make(ImageFormat format, MemoryKind kind, int capacity) {
  return std::shared_ptr<FramePool>(new FramePool(format, kind, std::clamp(capacity, 1, 64)));
}

FramePool::FramePool(ImageFormat format, MemoryKind kind, int capacity)
    : format_(format), kind_(kind), free_(capacity == 64 ? ~uint64_t{0} : (uint64_t{1} << capacity) - 1) {
  const size_t pitch =
      align_up(format.row_bytes(), kind == MemoryKind::host ? kHostAlignment : kDeviceAlignment);
  for (int i = 0; i < capacity; ++i) {
    auto slot = std::make_unique<Slot>();
    slot->memory = MemoryBlock(kind, pitch * static_cast<size_t>(format.extent.height));
    slot->image = {slot->memory.data(), static_cast<std::ptrdiff_t>(pitch), format};
    slots_.push_back(std::move(slot));
  }
}

Frame FramePool::try_acquire() {
  uint64_t mask = free_.load(std::memory_order_acquire);
  while (mask != 0) {
    const int slot = std::countr_zero(mask);
    if (!free_.compare_exchange_weak(mask, mask & ~(uint64_t{1} << slot), std::memory_order_acquire))
      continue;
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

void FramePool::set_ready(int slot) noexcept {
  auto& ready = slots_[static_cast<size_t>(slot)]->ready;
  ready.store(1, std::memory_order_release);
  ready.notify_all();
}

void FramePool::release(int slot) noexcept {
  free_.fetch_or(uint64_t{1} << slot, std::memory_order_release);
  released_.fetch_add(1, std::memory_order_release);
  released_.notify_all();
}

}  // namespace lensd

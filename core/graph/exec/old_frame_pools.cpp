#include "core/graph/exec/old_frame_pools.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

namespace lensd {
namespace {

/// Time between two checks for unused pools. It grows, because a paused viewer may hold a frame for hours.
constexpr std::chrono::milliseconds kFirstPause{2}, kLongestPause{128};

}  // namespace

OldFramePools::OldFramePools(Unread unread, size_t limit)
    : unread_(std::move(unread)), limit_(limit), thread_([this] { run(); }) {}

OldFramePools::~OldFramePools() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void OldFramePools::add(std::shared_ptr<FramePool> pool) {
  {
    const std::lock_guard lock(mutex_);
    pools_.push_back(std::move(pool));
    added_ = true;
  }
  changed_.notify_all();
}

bool OldFramePools::give_up() {
  std::deque<std::shared_ptr<FramePool>> given_up;
  std::unique_lock lock(mutex_);
  given_up.swap(pools_);
  const bool any = !given_up.empty() || freeing_ > 0;
  lock.unlock();
  given_up.clear();  // frees the memory
  lock.lock();
  freed_.wait(lock, [this] { return freeing_ == 0; });
  return any;
}

bool OldFramePools::unused(const std::shared_ptr<FramePool>& pool) const {
  // Acquiring all frames shows that nobody holds one, and makes the holders' last writes visible.
  std::vector<Frame> frames;
  while (Frame frame = pool->try_acquire()) frames.push_back(std::move(frame));
  const bool all = frames.size() == static_cast<size_t>(pool->capacity());
  return all && pool.use_count() == pool->capacity() + 1 && unread_(*pool);
}

std::vector<std::shared_ptr<FramePool>> OldFramePools::take_unused() {
  std::vector<std::shared_ptr<FramePool>> taken;
  for (size_t i = 0; i < pools_.size();) {
    if (!unused(pools_[i]) && pools_.size() <= limit_) {
      ++i;
      continue;
    }
    taken.push_back(std::move(pools_[i]));
    pools_.erase(pools_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return taken;
}

void OldFramePools::run() {
  auto pause = kFirstPause;
  std::unique_lock lock(mutex_);
  while (!closed_) {
    std::vector<std::shared_ptr<FramePool>> taken;
    try {
      taken = take_unused();
    } catch (const std::bad_alloc&) {
      // The pools are checked again after the pause.
    }
    if (!taken.empty()) {
      freeing_ = taken.size();
      lock.unlock();
      taken.clear();  // frees the memory
      lock.lock();
      freeing_ = 0;
      freed_.notify_all();
      continue;
    }
    const auto woken = [this] { return added_ || closed_; };
    if (pools_.empty())
      changed_.wait(lock, woken);
    else
      changed_.wait_for(lock, pause, woken);
    pause = std::exchange(added_, false) ? kFirstPause : std::min(2 * pause, kLongestPause);
  }
}

}  // namespace lensd

// Frees the frame pools of replaced plans. Freeing GPU memory waits for all work of the GPU, so neither the
// process thread nor the holder of a pool's last frame, such as the window, may do it.
//
//   swap_in() ── add() ──▶ OldFramePools ── no frame is held, the plan is freed, the GPU has read all ──▶
//   freed
//
// The thread of this object checks these conditions periodically and never waits for the GPU before they
// hold. Beyond the limit, it stops holding the oldest pool, which its last user then frees.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/image/frame.hpp"

namespace lensd {

class OldFramePools {
 public:
  static constexpr size_t kLimit = 4;
  /// Returns true if the GPU no longer reads the pool's frames. Called on this object's thread. Must not
  /// block. After std::bad_alloc, the pools are checked again later.
  using Unread = std::function<bool(const FramePool&)>;

  explicit OldFramePools(Unread unread, size_t limit = kLimit);
  /// Releases all pools. May wait for the GPU.
  ~OldFramePools();
  OldFramePools(const OldFramePools&) = delete;
  OldFramePools& operator=(const OldFramePools&) = delete;

  /// Keeps a pool from which no more frames are acquired. Thread-safe. Does not wait for the GPU.
  void add(std::shared_ptr<FramePool> pool);
  /// Stops holding all pools, which frees the unused ones at once. Call if their memory is needed. Waits for
  /// pools that this object's thread is freeing. Returns false if no pool was held or being freed.
  /// Thread-safe. May wait for the GPU.
  bool give_up();

 private:
  void run();
  bool unused(const std::shared_ptr<FramePool>& pool) const;
  /// Removes the pools that are unused or beyond the limit from pools_ and returns them. Call with the lock.
  std::vector<std::shared_ptr<FramePool>> take_unused();

  const Unread unread_;
  const size_t limit_;
  std::mutex mutex_;
  std::condition_variable changed_, freed_;
  std::deque<std::shared_ptr<FramePool>> pools_;  ///< oldest first
  size_t freeing_ = 0;                            ///< pools that the thread is freeing without the lock
  bool added_ = false, closed_ = false;
  std::thread thread_;
};

}  // namespace lensd

// The newest finished statistics of a plan's nodes, handed from the process thread to readers.
//
//   executor ── publish(frame, bytes) ──▶ StatsBuffer of the plan ──▶ StatsBoard::read() ── panel, API
//
// publish() copies plain bytes and never waits: of three copies the writer fills one, the newest finished one
// lies between, and the readers have one. Decoding bytes into names and values is the reader's work.
#pragma once

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "core/graph/exec/executor.hpp"

namespace lensd {

/// The statistics of one plan.
class StatsBuffer {
 public:
  struct Copy {
    int64_t frame = -1;
    std::vector<uint8_t> bytes;
  };
  struct Entry {
    std::string node;
    const Filter* filter;
    size_t offset, bytes;
    std::optional<ScopeRequest> scope;
    ImageFormat measured;  ///< of the first input
  };

  explicit StatsBuffer(const Plan& plan) : matrix_(scope_matrix(plan.picture)) {
    for (const PlanNode& node : plan.nodes) {
      if (node.layout.stats_bytes == 0) continue;
      ImageFormat measured;
      if (!node.inputs.empty()) measured = plan.nodes[static_cast<size_t>(node.inputs[0])].layout.output;
      entries_.push_back(
          {node.id, node.filter.get(), node.stats_offset, node.layout.stats_bytes, node.scope, measured});
    }
    if (!entries_.empty())
      for (Copy& copy : copies_) copy.bytes.resize(plan.stats_bytes);
  }

  /// One writer at a time: the process thread, or CUDA's callbacks in the order of the return stream.
  void publish(int64_t frame, const uint8_t* bytes) noexcept {
    if (entries_.empty()) return;
    Copy& copy = copies_[writing_];
    std::memcpy(copy.bytes.data(), bytes, copy.bytes.size());
    copy.frame = frame;
    writing_ = between_.exchange(writing_ | kFresh, std::memory_order_acq_rel) & ~kFresh;
  }

  /// One reader at a time; valid until its next call.
  const Copy& newest() {
    if (between_.load(std::memory_order_relaxed) & kFresh)
      reading_ = between_.exchange(reading_, std::memory_order_acq_rel) & ~kFresh;
    return copies_[reading_];
  }

  const std::vector<Entry>& entries() const { return entries_; }
  YuvMatrix scopes_matrix() const { return matrix_; }

 private:
  static constexpr unsigned kFresh = 4;
  std::vector<Entry> entries_;
  YuvMatrix matrix_;
  Copy copies_[3];
  unsigned writing_ = 0, reading_ = 1;
  std::atomic<unsigned> between_{2};
};

/// Where readers find the plan in use. Only readers and install() meet at the lock.
class StatsBoard {
 public:
  /// The plan's filters must outlive the next install().
  void install(std::shared_ptr<StatsBuffer> buffer) {
    const std::lock_guard lock(mutex_);
    buffer_ = std::move(buffer);
  }

  std::vector<NodeStatistics> read() const {
    const std::lock_guard lock(mutex_);
    std::vector<NodeStatistics> all;
    if (!buffer_) return all;
    const StatsBuffer::Copy& copy = buffer_->newest();
    if (copy.frame < 0) return all;
    for (const StatsBuffer::Entry& entry : buffer_->entries()) {
      if (entry.scope) continue;
      NodeStatistics& node = all.emplace_back();
      node.node = entry.node, node.frame = copy.frame;
      entry.filter->read_stats(copy.bytes.data() + entry.offset, node.values);
    }
    return all;
  }

  /// See Executor::read_scope().
  bool read_scope(const ScopeRequest& scope, ScopeReading& reading) const {
    const std::lock_guard lock(mutex_);
    if (!buffer_) return false;
    const StatsBuffer::Copy& copy = buffer_->newest();
    for (const StatsBuffer::Entry& entry : buffer_->entries()) {
      if (!entry.scope || !(*entry.scope == scope) || copy.frame < 0) continue;
      reading.scope = scope, reading.frame = copy.frame, reading.image = entry.measured;
      reading.matrix = buffer_->scopes_matrix();
      reading.counts.resize(entry.bytes / sizeof(uint32_t));
      std::memcpy(reading.counts.data(), copy.bytes.data() + entry.offset, entry.bytes);
      return true;
    }
    return false;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<StatsBuffer> buffer_;
};

}  // namespace lensd

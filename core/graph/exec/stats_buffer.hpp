// The statistics of a plan's newest finished frame, passed from the executor to readers.
//
//   executor ── publish(frame, bytes) ──▶ StatsBuffer ── read(), read_scope() ──▶ panel, control
//
// A triple buffer: publish() copies plain bytes and does not block. Readers decode the bytes to names and
// values.
#pragma once

#include <atomic>
#include <cstring>
#include <vector>

#include "core/graph/exec/executor.hpp"

namespace lensd {

/// The plan must outlive the buffer.
class StatsBuffer {
 public:
  explicit StatsBuffer(const Plan& plan) : nodes_(plan.nodes), matrix_(scope_matrix(plan.picture)) {
    for (Copy& copy : copies_) copy.bytes.resize(plan.stats_bytes);
  }

  /// Stores the statistics of a finished frame. Call from one thread at a time: the process thread, or CUDA's
  /// callbacks on the return stream. Does not block.
  void publish(int64_t frame, const uint8_t* bytes) noexcept {
    Copy& copy = copies_[writing_];
    if (copy.bytes.empty()) return;
    std::memcpy(copy.bytes.data(), bytes, copy.bytes.size());
    copy.frame = frame;
    writing_ = ready_.exchange(writing_ | kNew, std::memory_order_acq_rel) & ~kNew;
  }

  /// Returns the statistics of all nodes except scopes. Only one thread at a time may call read() or
  /// read_scope().
  std::vector<NodeStatistics> read() {
    std::vector<NodeStatistics> all;
    const Copy& copy = newest();
    if (copy.frame < 0) return all;
    for (const PlanNode& node : nodes_) {
      if (node.layout.stats_bytes == 0 || node.scope) continue;
      NodeStatistics& statistics = all.emplace_back();
      statistics.node = node.id, statistics.frame = copy.frame;
      node.filter->read_stats(copy.bytes.data() + node.stats_offset, statistics.values);
    }
    return all;
  }

  /// See Executor::read_scope().
  bool read_scope(const ScopeRequest& scope, ScopeReading& reading) {
    const Copy& copy = newest();
    if (copy.frame < 0) return false;
    for (const PlanNode& node : nodes_) {
      if (!node.scope || !(*node.scope == scope)) continue;
      reading.scope = scope, reading.frame = copy.frame, reading.matrix = matrix_;
      reading.image = nodes_[static_cast<size_t>(node.inputs[0])].layout.output;
      reading.counts.resize(node.layout.stats_bytes / sizeof(uint32_t));
      std::memcpy(reading.counts.data(), copy.bytes.data() + node.stats_offset, node.layout.stats_bytes);
      return true;
    }
    return false;
  }

 private:
  struct Copy {
    int64_t frame = -1;
    std::vector<uint8_t> bytes;
  };
  const Copy& newest() {
    if (ready_.load(std::memory_order_relaxed) & kNew)
      reading_ = ready_.exchange(reading_, std::memory_order_acq_rel) & ~kNew;
    return copies_[reading_];
  }

  static constexpr unsigned kNew = 4;  ///< set in ready_ until a reader has taken the copy
  const std::vector<PlanNode>& nodes_;
  YuvMatrix matrix_;
  Copy copies_[3];
  unsigned writing_ = 0, reading_ = 1;
  std::atomic<unsigned> ready_{2};
};

}  // namespace lensd

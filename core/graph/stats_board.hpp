// The newest finished statistics of a plan's nodes, handed from the process thread to readers.
//
//   executor ── publish(frame, bytes) ──▶ one of two copies ──▶ read() ── panel, API
//
// publish() copies plain bytes and never waits: when a reader holds the lock, this frame's statistics are
// left out. Decoding bytes into names and values is the reader's work.
#pragma once

#include <cstring>
#include <mutex>
#include <vector>

#include "core/graph/executor.hpp"

namespace lensd {

/// Rows of the timings table that belong to the plan or to no plan.
inline std::vector<std::string> active_rows(const Plan& plan) {
  std::vector<std::string> rows{"decode", "upload", "download", "present", "encode"};
  for (const PlanNode& node : plan.nodes) rows.push_back(node.id);
  return rows;
}

class StatsBoard {
 public:
  /// Set-up: which nodes have statistics. The filters must outlive the next install().
  void install(const Plan& plan) {
    const std::lock_guard lock(mutex_);
    bytes_.assign(plan.stats_bytes, 0);
    entries_.clear();
    frame_ = -1;
    for (const PlanNode& node : plan.nodes)
      if (node.layout.stats_bytes > 0) entries_.push_back({node.id, node.filter.get(), node.stats_offset});
  }

  void publish(int64_t frame, const uint8_t* bytes) noexcept {
    if (bytes_.empty() || !mutex_.try_lock()) return;
    std::memcpy(bytes_.data(), bytes, bytes_.size());
    frame_ = frame;
    mutex_.unlock();
  }

  std::vector<NodeStatistics> read() const {
    const std::lock_guard lock(mutex_);
    std::vector<NodeStatistics> all;
    if (frame_ < 0) return all;
    for (const Entry& entry : entries_) {
      NodeStatistics& node = all.emplace_back();
      node.node = entry.node, node.frame = frame_;
      entry.filter->read_stats(bytes_.data() + entry.offset, node.values);
    }
    return all;
  }

 private:
  struct Entry {
    std::string node;
    const Filter* filter;
    size_t offset;
  };
  mutable std::mutex mutex_;
  std::vector<uint8_t> bytes_;
  std::vector<Entry> entries_;
  int64_t frame_ = -1;
};

}  // namespace lensd

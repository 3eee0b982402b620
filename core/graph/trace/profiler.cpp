#include "core/graph/trace/profiler.hpp"

#include <algorithm>
#include <numeric>

#include "core/base/error.hpp"

namespace lensd {

const Profiler::Ring* Profiler::find(const std::string& node, const std::string& pass) const {
  for (int i = 0; i < used_; ++i) {
    const Ring* ring = rings_[static_cast<size_t>(i)].get();
    if (ring->node == node && ring->pass == pass) return ring;
  }
  return nullptr;
}

int Profiler::scope(const std::string& node, const std::string& pass, double bytes, double operations,
                    bool gpu) {
  const std::lock_guard lock(mutex_);
  int index = 0;
  while (index < used_ && !(rings_[static_cast<size_t>(index)]->node == node &&
                            rings_[static_cast<size_t>(index)]->pass == pass))
    ++index;
  if (index == kMaxScopes)
    throw Error(ExitCode::runtime_failure, "profiler", "too many timing scopes",
                "use fewer distinct nodes in one run");
  if (index == used_) {
    rings_[static_cast<size_t>(index)] = std::make_unique<Ring>();
    ++used_;
  }
  Ring& ring = *rings_[static_cast<size_t>(index)];
  ring.node = node, ring.pass = pass, ring.bytes = bytes, ring.operations = operations;
  ring.active = true, ring.gpu = gpu;
  return index;
}

void Profiler::deactivate_all_but(const std::vector<std::string>& keep_nodes) {
  const std::lock_guard lock(mutex_);
  for (int i = 0; i < used_; ++i) {
    Ring& ring = *rings_[static_cast<size_t>(i)];
    ring.active = std::find(keep_nodes.begin(), keep_nodes.end(), ring.node) != keep_nodes.end();
  }
}

std::vector<int64_t> Profiler::newest(const Ring& ring) {
  const uint64_t count = ring.count.load(std::memory_order_acquire);
  const uint64_t kept = std::min<uint64_t>(count, kRing);
  std::vector<int64_t> values;
  values.reserve(kept);
  for (uint64_t i = count - kept; i < count; ++i)
    values.push_back(ring.samples[i % kRing].load(std::memory_order_relaxed));
  return values;
}

std::vector<PassStats> Profiler::snapshot() const {
  const std::lock_guard lock(mutex_);
  std::vector<PassStats> rows;
  for (int i = 0; i < used_; ++i) {
    const Ring& ring = *rings_[static_cast<size_t>(i)];
    PassStats row;
    row.node = ring.node, row.pass = ring.pass, row.bytes = ring.bytes, row.operations = ring.operations;
    row.active = ring.active, row.gpu = ring.gpu;
    std::vector<int64_t> values = newest(ring);
    row.count = ring.count.load(std::memory_order_acquire);
    row.samples = static_cast<int>(values.size());
    if (!values.empty()) {
      row.last_ns = values.back();
      row.mean_ns =
          std::accumulate(values.begin(), values.end(), int64_t{0}) / static_cast<int64_t>(values.size());
      // Nearest-rank percentiles, in rising order: what is above one is all that the next one looks through.
      auto above = values.begin();
      const auto rank = [&](size_t percent) {
        const auto at =
            values.begin() + static_cast<std::ptrdiff_t>((values.size() * percent + 99) / 100 - 1);
        std::nth_element(above, at, values.end());
        return *(above = at);
      };
      row.p50_ns = rank(50), row.p95_ns = rank(95), row.p99_ns = rank(99), row.max_ns = rank(100);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Profiler::Histogram> Profiler::histograms() const {
  const std::lock_guard lock(mutex_);
  std::vector<Histogram> all;
  for (int i = 0; i < used_; ++i) {
    const Ring& ring = *rings_[static_cast<size_t>(i)];
    Histogram& h = all.emplace_back();
    h.node = ring.node, h.pass = ring.pass, h.active = ring.active, h.gpu = ring.gpu;
    for (size_t bucket = 0; bucket < h.counts.size(); ++bucket)
      h.counts[bucket] = ring.buckets[bucket].load(std::memory_order_relaxed);
    h.sum_ns = ring.sum_ns.load(std::memory_order_relaxed);
  }
  return all;
}

std::vector<int64_t> Profiler::history(const std::string& node, const std::string& pass) const {
  const std::lock_guard lock(mutex_);
  const Ring* ring = find(node, pass);
  return ring ? newest(*ring) : std::vector<int64_t>{};
}

}  // namespace lensd

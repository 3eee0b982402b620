#include "core/graph/trace/profiler.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

namespace lensd {

Profiler::Scope Profiler::find(const std::string& node, const std::string& pass) const {
  const auto ring = std::ranges::find_if(
      rings_, [&](const Scope& r) { return r->declared.node == node && r->declared.pass == pass; });
  return ring == rings_.end() ? nullptr : *ring;
}

Profiler::Scope Profiler::scope(const std::string& node, const std::string& pass, double bytes,
                                double operations, bool gpu) {
  const std::lock_guard lock(mutex_);
  return declare({.node = node, .pass = pass, .bytes = bytes, .operations = operations, .gpu = gpu});
}

Profiler::Scope Profiler::plan_scope(const std::string& node, const std::string& pass, double bytes,
                                     double operations, bool gpu) {
  const std::lock_guard lock(mutex_);
  const Scope known = find(node, pass);
  return declare({.node = node,
                  .pass = pass,
                  .bytes = bytes,
                  .operations = operations,
                  .active = known && known->declared.active,
                  .gpu = gpu});
}

/// Returns the scope with these names, with the declared work. Call with mutex_ locked.
Profiler::Scope Profiler::declare(PassStats declared) {
  Scope ring = find(declared.node, declared.pass);
  if (!ring) {
    free_unused();
    ring = rings_.emplace_back(std::make_shared<Ring>());
  }
  ring->declared = std::move(declared);
  return ring;
}

/// Frees the oldest unused scopes above kMaxUnused. Call with mutex_ locked: no other thread can then get a
/// handle to an unused scope.
void Profiler::free_unused() {
  const auto unused = [](const Scope& ring) { return ring.use_count() == 1; };
  auto count = static_cast<size_t>(std::ranges::count_if(rings_, unused));
  if (count <= kMaxUnused) return;
  std::erase_if(rings_, [&](const Scope& ring) { return count > kMaxUnused && unused(ring) && count--; });
}

void Profiler::activate(const std::vector<Scope>& of_plan, const std::vector<std::string>& other_nodes) {
  const std::set<Scope> running(of_plan.begin(), of_plan.end());
  const std::set<std::string_view> others(other_nodes.begin(), other_nodes.end());
  const std::lock_guard lock(mutex_);
  for (const Scope& ring : rings_)
    ring->declared.active = running.contains(ring) || others.contains(ring->declared.node);
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
  for (const Scope& scope : rings_) {
    const Ring& ring = *scope;
    PassStats row = ring.declared;
    std::vector<int64_t> values = newest(ring);
    row.count = ring.count.load(std::memory_order_acquire);
    row.samples = static_cast<int>(values.size());
    std::copy(ring.buckets.begin(), ring.buckets.end(), row.buckets.begin());
    row.sum_ns = ring.sum_ns.load(std::memory_order_relaxed);
    if (!values.empty()) {
      row.last_ns = values.back();
      row.mean_ns =
          std::accumulate(values.begin(), values.end(), int64_t{0}) / static_cast<int64_t>(values.size());
      // Nearest-rank percentiles in ascending order: each search only covers the values above the previous
      // one.
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

std::vector<int64_t> Profiler::history(const std::string& node, const std::string& pass) const {
  const std::lock_guard lock(mutex_);
  const Scope ring = find(node, pass);
  return ring ? newest(*ring) : std::vector<int64_t>{};
}

}  // namespace lensd

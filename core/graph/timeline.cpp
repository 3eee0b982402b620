#include "core/graph/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace lensd {

int Timeline::intern(std::vector<std::string>& names, const std::string& name) {
  const auto it = std::find(names.begin(), names.end(), name);
  if (it != names.end()) return static_cast<int>(it - names.begin());
  names.push_back(name);
  return static_cast<int>(names.size()) - 1;
}

int Timeline::track(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return intern(tracks_, name);
}

int Timeline::label(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return intern(labels_, name);
}

void Timeline::record(int track, int label, int64_t frame, int64_t begin_ns, int64_t end_ns) noexcept {
  const uint64_t n = next_.fetch_add(1, std::memory_order_relaxed);
  Slot& slot = (*slots_)[n % kSlots];
  slot.before.store(n + 1, std::memory_order_release);
  slot.track.store(track, std::memory_order_relaxed), slot.label.store(label, std::memory_order_relaxed);
  slot.frame.store(frame, std::memory_order_relaxed);
  slot.begin.store(begin_ns, std::memory_order_relaxed), slot.end.store(end_ns, std::memory_order_relaxed);
  slot.after.store(n + 1, std::memory_order_release);
}

std::vector<Timeline::Interval> Timeline::intervals() const {
  const std::lock_guard lock(mutex_);
  const uint64_t end = next_.load(std::memory_order_acquire);
  std::vector<Interval> all;
  for (uint64_t n = end > kSlots ? end - kSlots : 0; n < end; ++n) {
    const Slot& slot = (*slots_)[n % kSlots];
    if (slot.after.load(std::memory_order_acquire) != n + 1) continue;
    Interval interval{tracks_[static_cast<size_t>(slot.track.load())],
                      labels_[static_cast<size_t>(slot.label.load())], slot.frame.load(), slot.begin.load(),
                      slot.end.load()};
    if (slot.before.load(std::memory_order_acquire) == n + 1) all.push_back(std::move(interval));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Interval& a, const Interval& b) { return a.begin_ns < b.begin_ns; });
  return all;
}

std::string Timeline::chrome_trace() const {
  const std::vector<Interval> all = intervals();
  const int64_t origin = all.empty() ? 0 : all.front().begin_ns;
  const auto micros = [&](int64_t ns) { return static_cast<double>(ns - origin) * 1e-3; };
  std::string json = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  std::map<std::string, int> ids;
  for (const Interval& i : all) ids.try_emplace(i.track, static_cast<int>(ids.size()) + 1);
  json += "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"tid\":0,\"args\":{\"name\":\"lensd\"}}";
  for (const auto& [name, id] : ids)
    json += fmt::format(
        ",\n{{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":{},\"args\":{{\"name\":\"{}\"}}}}", id,
        name);
  std::map<int64_t, int> seen;  // intervals of the frame so far
  std::map<int64_t, int> totals;
  for (const Interval& i : all) ++totals[i.frame];
  for (const Interval& i : all) {
    const int tid = ids.at(i.track);
    json += fmt::format(
        ",\n{{\"name\":\"{}\",\"ph\":\"X\",\"pid\":1,\"tid\":{},\"ts\":{:.3f},\"dur\":{:.3f},\"args\":{{"
        "\"frame\":{}}}}}",
        i.label, tid, micros(i.begin_ns), static_cast<double>(i.end_ns - i.begin_ns) * 1e-3, i.frame);
    const int n = seen[i.frame]++, total = totals[i.frame];
    if (i.frame < 0 || total < 2) continue;
    const char* phase = n == 0 ? "s" : n + 1 == total ? "f" : "t";
    json += fmt::format(
        ",\n{{\"name\":\"frame\",\"cat\":\"frame\",\"ph\":\"{}\",\"bp\":\"e\",\"id\":{},\"pid\":1,\"tid\":{},"
        "\"ts\":{:.3f}}}",
        phase, i.frame, tid, micros(i.begin_ns));
  }
  return json + "\n]}\n";
}

}  // namespace lensd

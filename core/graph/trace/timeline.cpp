#include "core/graph/trace/timeline.hpp"

#include <algorithm>

namespace lensd {

int Timeline::track(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto it = std::ranges::find(tracks_, name);
  const auto index = static_cast<int>(it - tracks_.begin());
  if (it == tracks_.end()) tracks_.push_back(name);
  return index;
}

int Timeline::label(const std::string& name) {
  const Label label = plan_label(name);
  const std::lock_guard lock(mutex_);
  labels_[static_cast<size_t>(*label)].permanent = true;
  return *label;
}

Timeline::Label Timeline::plan_label(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const uint64_t now = next_.load(std::memory_order_relaxed);
  Name* oldest = nullptr;
  for (Name& label : labels_) {
    if (label.text == name) {
      label.unused_since = kUsed;
      return label.number;
    }
    if (label.permanent || label.number.use_count() > 1) continue;
    label.unused_since = std::min(label.unused_since, now);
    if (!oldest || label.unused_since < oldest->unused_since) oldest = &label;
  }
  if (oldest && (now - oldest->unused_since >= kSlots || labels_.size() >= kMaxLabels)) {
    oldest->text = name, oldest->unused_since = kUsed;
    return oldest->number;
  }
  const auto number = std::make_shared<const int>(static_cast<int>(labels_.size()));
  labels_.push_back({.text = name, .number = number});
  return number;
}

void Timeline::record(int track, int label, int64_t frame, int64_t begin_ns, int64_t end_ns) noexcept {
  const uint64_t n = next_.fetch_add(1, std::memory_order_relaxed);
  Slot& slot = (*slots_)[n % kSlots];
  slot.before.store(n + 1, std::memory_order_relaxed);
  // Release: a reader that loads one of these values also sees the new `before`.
  slot.track.store(track, std::memory_order_release), slot.label.store(label, std::memory_order_release);
  slot.frame.store(frame, std::memory_order_release);
  slot.begin.store(begin_ns, std::memory_order_release), slot.end.store(end_ns, std::memory_order_release);
  slot.after.store(n + 1, std::memory_order_release);
}

void Timeline::sample(int counter, int64_t value, int64_t time_ns) noexcept {
  record(kCounter, counter, value, time_ns, time_ns);
}

std::vector<Timeline::Entry> Timeline::entries(int64_t since_ns) const {
  const uint64_t end = next_.load(std::memory_order_acquire);
  std::vector<Entry> all;
  for (uint64_t n = end > kSlots ? end - kSlots : 0; n < end; ++n) {
    const Slot& slot = (*slots_)[n % kSlots];
    if (slot.after.load(std::memory_order_acquire) != n + 1) continue;
    const Entry entry{slot.track.load(), slot.label.load(), slot.frame.load(), slot.begin.load(),
                      slot.end.load()};
    if (slot.before.load(std::memory_order_acquire) == n + 1 && entry.end_ns >= since_ns)
      all.push_back(entry);
  }
  std::ranges::stable_sort(all, [](const Entry& a, const Entry& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
  });
  return all;
}

std::vector<Timeline::Interval> Timeline::intervals(int64_t since_ns) const {
  const std::vector<Entry> found = entries(since_ns);
  const std::lock_guard lock(mutex_);
  std::vector<Interval> all;
  for (const Entry& e : found)
    if (e.track != kCounter)
      all.push_back({tracks_[static_cast<size_t>(e.track)], labels_[static_cast<size_t>(e.label)].text,
                     e.frame, e.begin_ns, e.end_ns});
  return all;
}

std::vector<Timeline::Sample> Timeline::samples(int64_t since_ns) const {
  const std::vector<Entry> found = entries(since_ns);
  const std::lock_guard lock(mutex_);
  std::vector<Sample> all;
  for (const Entry& e : found)
    if (e.track == kCounter) all.push_back({labels_[static_cast<size_t>(e.label)].text, e.frame, e.begin_ns});
  return all;
}

}  // namespace lensd

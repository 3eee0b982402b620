#include "core/control/events.hpp"

#include <algorithm>
#include <utility>

#include "core/base/text/url_secrets.hpp"
#include "core/graph/json.hpp"

namespace lensd {
namespace {

/// Removes the secrets of URLs from all texts in `value`.
void mask_secrets(Json& value) {
  if (value.is_string()) value = without_secrets(value.get_ref<const std::string&>());
  if (value.is_structured())
    for (Json& part : value) mask_secrets(part);
}

std::shared_ptr<const std::string> shared(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

}  // namespace

bool Subscriber::observe(int64_t id, const std::string& name) {
  const std::lock_guard lock(mutex_);
  std::erase_if(observed_, [&](const Observed& o) { return o.name == name; });
  if (observed_.size() >= kMaxObserved) return false;
  observed_.push_back({id, name, {}});
  return true;
}

size_t Subscriber::unobserve(int64_t id, const std::string& name) {
  const std::lock_guard lock(mutex_);
  return std::erase_if(observed_,
                       [&](const Observed& o) { return name.empty() ? o.id == id : o.name == name; });
}

void Subscriber::want_events() noexcept {
  const std::lock_guard lock(mutex_);
  wants_events_ = true;
}

void Subscriber::on_event(std::function<void()> added) {
  const std::lock_guard lock(mutex_);
  added_ = std::move(added);
}

std::vector<std::string> Subscriber::take(size_t max) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> taken;
  if (dropped_ > reported_dropped_ && max > 0) {
    taken.push_back(json_line({{"event", "events-dropped"}, {"count", dropped_ - reported_dropped_}}));
    reported_dropped_ = dropped_;
  }
  while (!events_.empty() && taken.size() < max) {
    const Event event = pop();
    taken.push_back(event.head + *event.rest);
  }
  return taken;
}

uint64_t Subscriber::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

void Subscriber::push(Event event) {
  const size_t bytes = event.bytes();
  while (!events_.empty() && (events_.size() >= kMaxEvents || event_bytes_ + bytes > kMaxEventBytes)) {
    pop();
    ++dropped_;
  }
  events_.push_back(std::move(event));
  event_bytes_ += bytes;
  if (added_) added_();
}

/// Removes and returns the oldest event.
Subscriber::Event Subscriber::pop() {
  Event event = std::move(events_.front());
  events_.pop_front();
  event_bytes_ -= event.bytes();
  return event;
}

std::shared_ptr<Subscriber> EventHub::subscribe() {
  auto subscriber = std::shared_ptr<Subscriber>(new Subscriber, [this](Subscriber* s) {
    {
      const std::lock_guard lock(mutex_);
      dropped_before_ += s->dropped();
      std::erase_if(subscribers_, [](const auto& weak) { return weak.expired(); });
    }
    delete s;
  });
  const std::lock_guard lock(mutex_);
  subscribers_.push_back(subscriber);
  return subscriber;
}

std::vector<std::shared_ptr<Subscriber>> EventHub::alive() const {
  std::vector<std::shared_ptr<Subscriber>> all;
  const std::lock_guard lock(mutex_);
  for (const auto& weak : subscribers_)
    if (auto subscriber = weak.lock()) all.push_back(std::move(subscriber));
  return all;
}

bool EventHub::any() const {
  for (const auto& subscriber : alive()) {
    const std::lock_guard lock(subscriber->mutex_);
    if (!subscriber->observed_.empty()) return true;
  }
  return false;
}

void EventHub::publish(const std::string& name, int64_t frame, Json fields) {
  mask_secrets(fields);
  fields["event"] = name, fields["frame"] = frame;
  const auto text = shared(json_line(fields));
  for (const auto& subscriber : alive()) {
    const std::lock_guard lock(subscriber->mutex_);
    if (subscriber->wants_events_) subscriber->push({{}, text});
  }
}

void EventHub::tick(const ControlTarget& target) {
  const auto all = alive();
  if (all.empty()) return;
  const ControlView view = ControlView::of(target);
  struct Current {
    Subscriber::SharedText value;
    int64_t frame = 0;
    Subscriber::SharedText event;  // text after the subscriber's id; null until a subscriber needs it
  };
  std::map<std::string, Current> cache;
  const auto current_value = [&](const std::string& name) -> Current& {
    const auto [it, added] = cache.try_emplace(name);
    if (added) {
      const auto property = property_value(view, name);
      it->second = {shared(property ? json_line(property->value) : "null"),
                    property ? property->frame : view.state.frame_index, nullptr};
    }
    return it->second;
  };
  for (const auto& subscriber : all) {
    const std::lock_guard lock(subscriber->mutex_);
    for (Subscriber::Observed& observed : subscriber->observed_) {
      Current& now = current_value(observed.name);
      const Subscriber::SharedText last = std::exchange(observed.last, now.value);
      if (last && *last == *now.value) continue;
      if (!now.event)
        now.event = shared(R"(,"name":)" + json_line(observed.name) + R"(,"data":)" + *now.value +
                           R"(,"frame":)" + std::to_string(now.frame) + "}");
      subscriber->push({R"({"event":"property-change","id":)" + std::to_string(observed.id), now.event});
    }
  }
}

uint64_t EventHub::dropped() const {
  uint64_t sum = 0;
  for (const auto& subscriber : alive()) sum += subscriber->dropped();
  const std::lock_guard lock(mutex_);
  return sum + dropped_before_;
}

}  // namespace lensd

#include "core/control/events.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/graph/json.hpp"

namespace lensd {

bool Subscriber::observe(int64_t id, const std::string& name) {
  const std::lock_guard lock(mutex_);
  wants_events_ = true;
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

std::vector<std::string> Subscriber::take(size_t max) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> taken;
  if (dropped_ > told_dropped_ && max > 0) {
    taken.push_back(json_line({{"event", "events-dropped"}, {"count", dropped_ - told_dropped_}}));
    told_dropped_ = dropped_;
  }
  while (!events_.empty() && taken.size() < max) {
    taken.push_back(std::move(events_.front()));
    events_.pop_front();
  }
  return taken;
}

uint64_t Subscriber::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

void Subscriber::push(std::string event) {
  if (events_.size() >= kMaxEvents) {
    events_.pop_front();
    ++dropped_;
  }
  events_.push_back(std::move(event));
}

std::shared_ptr<Subscriber> EventHub::subscribe(std::function<void()> wake) {
  auto subscriber = std::shared_ptr<Subscriber>(new Subscriber(std::move(wake)), [this](Subscriber* s) {
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

size_t EventHub::subscribers() const {
  return alive().size();
}

bool EventHub::any() const {
  for (const auto& subscriber : alive()) {
    const std::lock_guard lock(subscriber->mutex_);
    if (!subscriber->observed_.empty()) return true;
  }
  return false;
}

void EventHub::publish(const std::string& name, int64_t frame, Json fields) {
  fields["event"] = name, fields["frame"] = frame;
  const std::string text = json_line(fields);
  for (const auto& subscriber : alive()) {
    {
      const std::lock_guard lock(subscriber->mutex_);
      if (!subscriber->wants_events_) continue;
      subscriber->push(text);
    }
    subscriber->wake_();
  }
}

void EventHub::tick(const ControlTarget& target) {
  const auto all = alive();
  if (all.empty()) return;
  const View view = View::of(target);
  struct Read {
    std::string value;
    int64_t frame = 0;
  };
  std::map<std::string, Read> read;  // each property is read once, however many observe it
  const auto value_of = [&](const std::string& name) -> const Read& {
    const auto [it, fresh] = read.try_emplace(name);
    if (fresh) {
      const auto value = property_value(view, name);
      it->second = {value ? json_line(value->value) : "null", value ? value->frame : view.state.frame};
    }
    return it->second;
  };
  for (const auto& subscriber : all) {
    bool news = false;
    {
      const std::lock_guard lock(subscriber->mutex_);
      for (Subscriber::Observed& observed : subscriber->observed_) {
        const Read& now = value_of(observed.name);
        if (now.value == observed.last) continue;
        observed.last = now.value, news = true;
        subscriber->push(R"({"event":"property-change","id":)" + std::to_string(observed.id) + R"(,"name":)" +
                         json_line(observed.name) + R"(,"data":)" + now.value + R"(,"frame":)" +
                         std::to_string(now.frame) + "}");
      }
    }
    if (news) subscriber->wake_();
  }
}

uint64_t EventHub::dropped() const {
  uint64_t sum = 0;
  for (const auto& subscriber : alive()) sum += subscriber->dropped();
  const std::lock_guard lock(mutex_);
  return sum + dropped_before_;
}

EventFeed::EventFeed(EventHub& hub) {
  subscriber_ = hub.subscribe([news = news_] {
    {
      const std::lock_guard lock(news->mutex);
      news->any = true;
    }
    news->came.notify_one();
  });
  subscriber_->want_events();
}

std::optional<std::string> EventFeed::next(const std::function<bool()>& gone) {
  bool any = false;
  {
    std::unique_lock lock(news_->mutex);
    for (int i = 0; i < 50 && !news_->any && !gone(); ++i)
      news_->came.wait_for(lock, std::chrono::milliseconds(100), [&] { return news_->any; });
    any = std::exchange(news_->any, false);
  }
  if (gone()) return std::nullopt;
  std::string text = any ? "" : ": still here\n\n";
  for (const std::string& event : subscriber_->take(Subscriber::kMaxEvents + 1))
    text += "data: " + event + "\n\n";
  return text;
}

}  // namespace lensd

// Events: what changed, to everyone who asked, at the pace at which each of them reads.
//
//   ControlTarget's changes ── EventHub::tick() ──▶ Subscriber (bounded queue) ──▶ socket client
//                                                                    ──▶ EventFeed ──▶ /events
//
// A queue that is full loses its oldest event, which is counted and told to the client once it reads again.
// So a client that never reads costs one bounded queue and nobody's time. Any thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/control/properties.hpp"

namespace lensd {

/// One client's observed properties and its events that wait to be read.
class Subscriber {
 public:
  static constexpr size_t kMaxEvents = 256, kMaxObserved = 256;

  /// `wake` is called, from any thread, when there is something to take.
  explicit Subscriber(std::function<void()> wake) : wake_(std::move(wake)) {}

  /// False when the client observes too much already.
  bool observe(int64_t id, const std::string& name);
  /// By id or, where `name` is not empty, by name. How many there were.
  size_t unobserve(int64_t id, const std::string& name);
  /// Gets events that belong to no property: graph, notice, reload, source.
  void want_events() noexcept;

  /// The oldest events, one JSON text each, at most `max`.
  std::vector<std::string> take(size_t max);
  uint64_t dropped() const;

 private:
  friend class EventHub;
  struct Observed {
    int64_t id = 0;
    std::string name;
    std::string last;  ///< the value that was sent, as JSON; empty: none
  };
  void push(std::string event);

  const std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::vector<Observed> observed_;
  std::deque<std::string> events_;
  uint64_t dropped_ = 0, told_dropped_ = 0;
  bool wants_events_ = false;
};

class EventHub {
 public:
  std::shared_ptr<Subscriber> subscribe(std::function<void()> wake);
  bool any() const;
  size_t subscribers() const;

  /// Sends an event to all that want them: {"event": name, "frame": …, …}.
  void publish(const std::string& name, int64_t frame, Json fields = Json::object());

  /// Compares all observed properties with what was sent last and sends those that changed.
  void tick(const ControlTarget& target);

  uint64_t dropped() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::weak_ptr<Subscriber>> subscribers_;
  uint64_t dropped_before_ = 0;  // by those that are gone

  std::vector<std::shared_ptr<Subscriber>> alive() const;
};

/// Events for a reader that has a thread to wait with, as the text of server-sent events.
class EventFeed {
 public:
  explicit EventFeed(EventHub& hub);

  Subscriber& subscriber() { return *subscriber_; }
  /// Waits for events, and gives a comment when none come for a while, which finds out whether the client is
  /// still there. `gone` is asked ten times a second; nothing once it says so.
  std::optional<std::string> next(const std::function<bool()>& gone);

 private:
  struct News {
    std::mutex mutex;
    std::condition_variable came;
    bool any = false;
  };
  std::shared_ptr<News> news_ = std::make_shared<News>();  // the hub may call while the feed goes
  std::shared_ptr<Subscriber> subscriber_;
};

}  // namespace lensd

// Events notify subscribers of changes. Each subscriber has its own queue.
//
//   ControlTarget's changes ── EventHub::tick() ──▶ Subscriber (bounded queue) ──▶ socket client
//                                                                    ──▶ HTTP, GET /events
//
// Queues share the text of an event. A full queue drops its oldest events. The client receives the number of
// dropped events with its next events. A client that does not read does not delay other clients. Thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/control/properties.hpp"

namespace lensd {

/// One client's observed properties and its queued events.
class Subscriber {
 public:
  static constexpr size_t kMaxEvents = 256, kMaxObserved = 256;
  static constexpr size_t kMaxEventBytes = 1 << 20;  ///< limit of the queue; a single event may be longer

  /// Replaces an earlier observation of `name`. Returns false if the client observes kMaxObserved properties
  /// already.
  bool observe(int64_t id, const std::string& name);
  /// Removes the observations of `name`, or those with `id` if `name` is empty. Returns the number of removed
  /// observations.
  size_t unobserve(int64_t id, const std::string& name);
  /// Subscribes to the events that do not report a property: graph, notice, reload, source.
  void want_events() noexcept;

  /// Sets the callback for new events. It runs on the thread that calls EventHub::tick() or publish(), with a
  /// mutex locked: it must not block or call this object.
  void on_event(std::function<void()> added);
  /// Removes and returns the oldest events, one JSON text each, at most `max`. If events were dropped since
  /// the last call, the first text is an "events-dropped" event with their number.
  std::vector<std::string> take(size_t max);
  /// Returns the number of events dropped from this queue.
  uint64_t dropped() const;

 private:
  friend class EventHub;
  using SharedText = std::shared_ptr<const std::string>;
  struct Observed {
    int64_t id = 0;
    std::string name;
    SharedText last;  ///< value sent last, as JSON; null: none sent yet
  };
  struct Event {
    std::string head;  ///< beginning of the event's text, which differs between clients
    SharedText rest;
    size_t bytes() const noexcept { return head.size() + rest->size(); }
  };
  void push(Event event);
  Event pop();

  mutable std::mutex mutex_;
  std::function<void()> added_;
  std::vector<Observed> observed_;
  std::deque<Event> events_;
  size_t event_bytes_ = 0;  // sum of Event::bytes() in events_
  uint64_t dropped_ = 0, reported_dropped_ = 0;
  bool wants_events_ = false;
};

class EventHub {
 public:
  /// Adds a subscriber. The hub must outlive it.
  std::shared_ptr<Subscriber> subscribe();
  /// Returns true if any property is observed.
  bool any() const;

  /// Sends {"event": name, "frame": …, fields…} to all clients that want events. Removes the secrets of URLs
  /// from the texts in `fields`.
  void publish(const std::string& name, int64_t frame, Json fields = Json::object());

  /// Compares all observed properties with the values sent last. Sends the values that changed.
  void tick(const ControlTarget& target);

  /// Returns the number of events dropped for all subscribers since the start.
  uint64_t dropped() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::weak_ptr<Subscriber>> subscribers_;
  uint64_t dropped_before_ = 0;  // events dropped for subscribers that no longer exist

  std::vector<std::shared_ptr<Subscriber>> alive() const;
};

}  // namespace lensd

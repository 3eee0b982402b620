// Events: the bounded queue of a subscriber, the count of dropped events, observers.

#include <gtest/gtest.h>
#include <malloc.h>

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "core/control/events.hpp"
#include "tests/unit/core/control/fake_target.hpp"

namespace lensd {
namespace {

std::vector<Json> taken(Subscriber& subscriber, size_t max = 10'000) {
  std::vector<Json> all;
  for (const std::string& text : subscriber.take(max)) all.push_back(Json::parse(text));
  return all;
}

void publish(EventHub& hub, int64_t first, int64_t count) {
  for (int64_t i = first; i < first + count; ++i) hub.publish("notice", i, {{"text", std::to_string(i)}});
}

constexpr auto kMax = static_cast<int64_t>(Subscriber::kMaxEvents);

TEST(Events, AFullQueueDropsTheOldestAndReportsTheirNumberOnce) {
  EventHub hub;
  const auto subscriber = hub.subscribe();
  subscriber->want_events();
  publish(hub, 0, kMax);
  EXPECT_EQ(subscriber->dropped(), 0u) << "the queue is full, but nothing is lost";
  EXPECT_EQ(taken(*subscriber).size(), Subscriber::kMaxEvents);

  publish(hub, 1000, kMax + 5);
  EXPECT_EQ(subscriber->dropped(), 5u);
  auto events = taken(*subscriber);
  ASSERT_EQ(events.size(), Subscriber::kMaxEvents + 1);
  EXPECT_EQ(events[0], (Json{{"event", "events-dropped"}, {"count", 5}}));
  EXPECT_EQ(events[1], (Json{{"event", "notice"}, {"frame", 1005}, {"text", "1005"}}));
  EXPECT_EQ(events.back()["frame"], 1000 + kMax + 4);
  EXPECT_TRUE(taken(*subscriber).empty()) << "reported once";

  publish(hub, 3000, kMax + 2);
  events = taken(*subscriber);
  EXPECT_EQ(events[0]["count"], 2) << "dropped since the last report";
  EXPECT_EQ(subscriber->dropped(), 7u);
}

TEST(Events, ObservingAPropertySelectsNoOtherEvents) {
  EventHub hub;
  const auto subscriber = hub.subscribe();
  ASSERT_TRUE(subscriber->observe(1, "edges.low"));
  publish(hub, 0, 1);
  EXPECT_TRUE(taken(*subscriber).empty());
  subscriber->want_events();
  publish(hub, 1, 1);
  EXPECT_EQ(taken(*subscriber).size(), 1u);
}

TEST(Events, TextsHaveNoSecrets) {
  EventHub hub;
  const auto subscriber = hub.subscribe();
  subscriber->want_events();
  const std::string text = "cannot open rtsp://me:secret@camera/1";
  hub.publish("reload", 1, {{"problems", {text, {{"text", text}}}}, {"text", text}});
  const std::string event = subscriber->take(1).at(0);
  EXPECT_EQ(event.find("secret"), std::string::npos) << event;
  EXPECT_NE(event.find("cannot open rtsp://…@camera/1"), std::string::npos) << event;
}

TEST(Events, TakeReturnsAtMostTheRequestedNumber) {
  EventHub hub;
  const auto subscriber = hub.subscribe();
  subscriber->want_events();
  publish(hub, 0, kMax + 1);
  EXPECT_TRUE(taken(*subscriber, 0).empty());
  const auto first = taken(*subscriber, 1);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0]["event"], "events-dropped");
  const auto next = taken(*subscriber, 2);
  ASSERT_EQ(next.size(), 2u);
  EXPECT_EQ(next[0]["frame"], 1);
  EXPECT_EQ(next[1]["frame"], 2);
}

TEST(Events, TheHubCountsDropsOfPresentAndFormerSubscribers) {
  EventHub hub;
  auto gone = hub.subscribe();
  const auto stays = hub.subscribe(), other = hub.subscribe();
  gone->want_events(), stays->want_events();
  publish(hub, 0, kMax + 3);
  EXPECT_EQ(hub.dropped(), 6u);
  EXPECT_EQ(other->dropped(), 0u) << "it wants no events";
  gone.reset();
  EXPECT_EQ(hub.dropped(), 6u);
  publish(hub, 0, 4);
  EXPECT_EQ(hub.dropped(), 10u);
}

TEST(Events, ObserversAreLimitedAndRemovedByIdOrName) {
  FakeTarget target("canny@edges");
  EventHub hub;
  const auto subscriber = hub.subscribe();
  EXPECT_FALSE(hub.any());
  EXPECT_TRUE(subscriber->observe(1, "edges.low"));
  EXPECT_TRUE(subscriber->observe(1, "edges.high"));
  EXPECT_TRUE(subscriber->observe(2, "edges.enabled"));
  EXPECT_TRUE(hub.any());
  hub.tick(target);
  EXPECT_EQ(taken(*subscriber).size(), 3u);
  hub.tick(target);
  EXPECT_TRUE(taken(*subscriber).empty()) << "nothing has changed";
  EXPECT_EQ(subscriber->unobserve(7, "edges.low"), 1u) << "by name";
  EXPECT_EQ(subscriber->unobserve(3, ""), 0u);
  EXPECT_EQ(subscriber->unobserve(1, ""), 1u) << "by id";
  EXPECT_EQ(subscriber->unobserve(2, ""), 1u);
  EXPECT_FALSE(hub.any());
  for (size_t i = 0; i < Subscriber::kMaxObserved; ++i)
    ASSERT_TRUE(subscriber->observe(1, "name" + std::to_string(i)));
  EXPECT_FALSE(subscriber->observe(1, "edges.low"));
  EXPECT_TRUE(subscriber->observe(2, "name7")) << "replaces the first observation";
}

TEST(Events, APropertyIsObservedOncePerClient) {
  FakeTarget target("canny@edges");
  EventHub hub;
  const auto subscriber = hub.subscribe();
  for (int id = 1; id <= 3; ++id) EXPECT_TRUE(subscriber->observe(id, "edges.low"));
  hub.tick(target);
  EXPECT_TRUE(subscriber->observe(4, "edges.low"));
  hub.tick(target);
  const auto events = taken(*subscriber);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0]["id"], 3) << "the last id";
  EXPECT_EQ(events[1]["id"], 4) << "a repeated request gets the value, too";
  EXPECT_EQ(events[0]["data"], events[1]["data"]);
}

TEST(Events, AChangeNamesTheFrameOfItsValue) {
  FakeTarget target("canny@edges");
  RunState state;
  state.frame_index = 75;
  target.set_state(state);
  ASSERT_TRUE(target.post(Pause{true}));  // the graph's frame is now 1
  EventHub hub;
  const auto subscriber = hub.subscribe();
  const std::pair<const char*, int64_t> expected[] = {{"graph", 1},         {"edges.low", 1},
                                                      {"edges.enabled", 1}, {"colour.peak", 75},
                                                      {"frame", 75},        {"nobody.low", 75}};
  for (const auto& [name, frame] : expected) ASSERT_TRUE(subscriber->observe(frame, name));
  hub.tick(target);
  const auto events = taken(*subscriber);
  ASSERT_EQ(events.size(), std::size(expected));
  for (size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i]["name"], expected[i].first);
    EXPECT_EQ(events[i]["frame"], expected[i].second) << expected[i].first;
  }
  EXPECT_TRUE(events.back()["data"].is_null()) << "there is no such node";
}

TEST(Events, TheBytesOfAQueueAreLimited) {
  EventHub hub;
  const auto subscriber = hub.subscribe();
  subscriber->want_events();
  const auto publish_bytes = [&](size_t bytes) {
    hub.publish("notice", 1, {{"text", std::string(bytes, 'x')}});
  };
  for (int i = 0; i < 10; ++i) publish_bytes(Subscriber::kMaxEventBytes / 4);
  EXPECT_EQ(subscriber->dropped(), 7u) << "three of these fit with their other fields";
  auto events = taken(*subscriber);
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0], (Json{{"event", "events-dropped"}, {"count", 7}}));
  publish_bytes(10), publish_bytes(2 * Subscriber::kMaxEventBytes);
  EXPECT_EQ(taken(*subscriber).size(), 2u) << "one dropped; the newest stays";
  publish_bytes(10);
  EXPECT_EQ(taken(*subscriber).size(), 1u) << "the bytes of taken events count no more";
}

TEST(Events, SubscribersShareTheTextsOfEvents) {
  constexpr int kSubscribers = 100, kEvents = 5;
  constexpr size_t kBytes = 100'000;
  EventHub hub;
  std::vector<std::shared_ptr<Subscriber>> all;
  for (int i = 0; i < kSubscribers; ++i) all.push_back(hub.subscribe()), all.back()->want_events();
  const auto allocated = [] {
    const struct mallinfo2 info = mallinfo2();  // all zero with a sanitizer's allocator
    return info.uordblks + info.hblkhd;
  };
  const size_t before = allocated();
  for (int i = 0; i < kEvents; ++i) hub.publish("notice", i, {{"text", std::string(kBytes, 'x')}});
  EXPECT_LT(allocated() - before, 4 * kEvents * kBytes);
  for (const auto& subscriber : all) EXPECT_EQ(subscriber->take(10).size(), 5u);
}

}  // namespace
}  // namespace lensd

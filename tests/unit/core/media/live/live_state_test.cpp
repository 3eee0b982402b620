// The state machine of a live source.
#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "core/media/live/live_state_machine.hpp"
#include "tests/unit/common/nanoseconds.hpp"

namespace lensd {
namespace {

class LiveStateMachineTest : public testing::Test {
 protected:
  LiveStateMachine machine{LiveTiming{}, 5 * sec, 1};
  int64_t now = 5 * sec;

  void connect() {
    ASSERT_TRUE(machine.attempt_due(now));
    machine.attempt_started();
  }
  void play(int frames, int64_t interval = 40 * msec) {
    for (int i = 0; i < frames; ++i) machine.frame(now += interval);
  }
  LiveState state() {
    machine.tick(now);
    return machine.status().state;
  }
};

TEST_F(LiveStateMachineTest, ConnectsAtOnceAndPlays) {
  EXPECT_EQ(state(), LiveState::connecting);
  connect();
  EXPECT_FALSE(machine.attempt_due(now + 100 * sec));  // one connection at a time
  play(3);
  EXPECT_EQ(state(), LiveState::playing);
  EXPECT_EQ(machine.status().reason, "");
  EXPECT_EQ(machine.status().attempts, 1u);
  EXPECT_EQ(machine.status().reconnects, 0u);
  EXPECT_EQ(machine.status().since_ns, 5 * sec + 40 * msec);
}

TEST_F(LiveStateMachineTest, ARequestedRestartIsNoOutage) {
  connect();
  play(10);
  machine.restart(now);
  EXPECT_TRUE(machine.attempt_due(now)) << "at once";
  EXPECT_EQ(state(), LiveState::playing);
  connect();
  play(1, 300 * msec);
  EXPECT_EQ(machine.status().reconnects, 0u);
  machine.lost(now, "unplugged");
  now += sec;
  connect();
  play(1);
  EXPECT_EQ(machine.status().reconnects, 1u) << "later outages count";
}

TEST_F(LiveStateMachineTest, ARequestedRestartIsNoStallForThreeSeconds) {
  connect();
  play(10);
  machine.restart(now);
  connect();
  EXPECT_EQ(machine.next_event_ns(), now + 3 * sec);
  now += 2 * sec;
  machine.restart(now);  // the new mode does not play, the previous one follows
  connect();
  now += 999 * msec;
  EXPECT_EQ(state(), LiveState::playing);
  now += 1 * msec;
  EXPECT_EQ(state(), LiveState::stalled) << "a limit for both restarts";
  play(1);
  now += 700 * msec;
  EXPECT_EQ(state(), LiveState::stalled) << "the usual limit again";
  EXPECT_EQ(machine.status().stalls, 2u);
}

TEST_F(LiveStateMachineTest, StallsAfterTheStallTimeAndRecovers) {
  connect();
  play(10);
  EXPECT_EQ(machine.next_event_ns(), now + 700 * msec);
  now += 699 * msec;
  EXPECT_EQ(state(), LiveState::playing);
  now += 1 * msec;
  EXPECT_EQ(state(), LiveState::stalled);
  EXPECT_NE(machine.status().reason, "");
  play(1);
  EXPECT_EQ(state(), LiveState::playing);
  EXPECT_EQ(machine.status().stalls, 1u);
  EXPECT_EQ(machine.status().reconnects, 0u);
}

TEST_F(LiveStateMachineTest, SlowCamerasStallAfterThreeIntervals) {
  connect();
  play(40, 1 * sec);
  now += 2900 * msec;
  EXPECT_EQ(state(), LiveState::playing);
  now += 200 * msec;
  EXPECT_EQ(state(), LiveState::stalled);
}

TEST_F(LiveStateMachineTest, SlowPicturesStallOnlyUntilTheirIntervalIsKnown) {
  for (const int64_t interval : {1200 * msec, 3 * sec, 8 * sec}) {
    LiveStateMachine slow{LiveTiming{}, now, 1};
    slow.attempt_started();
    for (int i = 0; i < 4; ++i) slow.frame(now += 10 * msec);  // the burst at the start of a connection
    uint64_t stalls = 0;
    for (int i = 0; i < 60; ++i) {
      if (i == 30) stalls = slow.status().stalls;
      slow.tick(now + interval - 1);  // as while the next picture is awaited
      slow.frame(now += interval);
    }
    EXPECT_LT(stalls, 20u) << interval;
    EXPECT_EQ(slow.status().stalls, stalls) << interval;
  }
}

TEST_F(LiveStateMachineTest, AfterAStallTheLimitIsSoonTheUsualOne) {
  connect();
  play(50);
  now += 60 * sec;
  EXPECT_EQ(state(), LiveState::stalled);
  play(1);
  play(10);
  EXPECT_EQ(machine.next_event_ns(), now + 700 * msec);
}

TEST_F(LiveStateMachineTest, FailedFirstAttemptsStayConnectingWithTheReason) {
  for (int i = 0; i < 3; ++i) {
    connect();
    machine.lost(now, "connection refused");
    EXPECT_EQ(state(), LiveState::connecting);
    EXPECT_EQ(machine.status().reason, "connection refused");
    EXPECT_FALSE(machine.attempt_due(now));
    now = machine.next_event_ns();
  }
  EXPECT_EQ(machine.status().attempts, 3u);
  EXPECT_EQ(machine.status().since_ns, 5 * sec);
}

TEST_F(LiveStateMachineTest, ARefusedLoginIsRepeatedSlowly) {
  connect();
  play(5);
  std::vector<int64_t> seconds;
  const int64_t begin = now;
  for (int i = 0; i < 8; ++i) {
    machine.lost(now, "wrong password", ConnectionLoss::login);
    EXPECT_FALSE(machine.attempt_due(machine.next_event_ns() - 1));
    now = machine.next_event_ns();
    seconds.push_back((now - begin) / sec);
    connect();
    if (i == 1) {
      EXPECT_EQ(machine.status().reason, "wrong password; next attempt in 30 s");
    }
  }
  EXPECT_EQ(seconds, (std::vector<int64_t>{5, 35, 95, 215, 455, 755, 1055, 1355}));
  machine.lost(now, "connection refused");  // the camera restarts: only logins are rare
  EXPECT_LT(machine.next_event_ns(), now + 3 * sec);
  now = machine.next_event_ns();
  connect();
  machine.lost(now, "wrong password", ConnectionLoss::login);
  EXPECT_EQ(machine.next_event_ns(), now + 300 * sec);
  now = machine.next_event_ns();
  connect();
  play(1);
  machine.lost(now, "wrong password", ConnectionLoss::login);
  EXPECT_EQ(machine.next_event_ns(), now + 5 * sec) << "a picture proves the login";
}

/// Returns for each attempt during an outage: time since the loss, and wait before the attempt, in ns.
std::vector<std::pair<int64_t, int64_t>> waits(LiveStateMachine& machine, int64_t now, int64_t outage) {
  std::vector<std::pair<int64_t, int64_t>> list;
  const int64_t begin = now;
  while (now - begin < outage) {
    machine.lost(now, "gone");
    const int64_t next = machine.next_event_ns();
    EXPECT_TRUE(machine.attempt_due(next));
    EXPECT_FALSE(machine.attempt_due(next - 1));
    list.emplace_back(now - begin, next - now);
    machine.attempt_started();
    now = next;
  }
  return list;
}

TEST_F(LiveStateMachineTest, RetriesFastForTenSecondsThenNeverSlowerThanTwo) {
  connect();
  play(5);
  std::set<int64_t> different;
  int64_t longest_late = 0;
  for (const auto& [since, wait] : waits(machine, now, 1000 * sec)) {
    different.insert(wait);
    EXPECT_GT(wait, 190 * msec);
    if (since < 10 * sec) {
      EXPECT_LE(wait, 250 * msec);
    } else if (since < 40 * sec) {
      EXPECT_LE(wait, 1 * sec);
    } else {
      EXPECT_LE(wait, 2 * sec);
      longest_late = std::max(longest_late, wait);
    }
  }
  EXPECT_GT(longest_late, 1500 * msec);
  EXPECT_GT(different.size(), 100u);  // waits have jitter
  EXPECT_EQ(state(), LiveState::reconnecting);
}

TEST_F(LiveStateMachineTest, ARecoveryEndsTheOutage) {
  connect();
  play(5);
  waits(machine, now, 100 * sec);
  now += 200 * sec;
  play(130);
  EXPECT_EQ(state(), LiveState::playing);
  EXPECT_EQ(machine.status().reconnects, 1u);
  machine.lost(now, "gone");
  EXPECT_LE(machine.next_event_ns() - now, 250 * msec);  // waits start short again
}

TEST_F(LiveStateMachineTest, AServerThatClosesAfterEachPictureIsAskedMoreAndMoreSlowly) {
  connect();
  play(1);
  const int64_t begin = now;
  int attempts = 0;
  for (; now - begin < 600 * sec; ++attempts) {
    machine.lost(now, "the stream ended");
    const int64_t wait = machine.next_event_ns() - now;
    if (now - begin > 90 * sec) {
      EXPECT_GT(wait, 1500 * msec);
    }
    now += wait;
    connect();
    play(1, 5 * msec);
  }
  EXPECT_LT(attempts, 450) << "four times a second would be 2400";
  play(130);
  machine.lost(now, "the stream ended");
  EXPECT_LE(machine.next_event_ns() - now, 250 * msec) << "a connection that lasted ends the outage";
}

TEST_F(LiveStateMachineTest, ALossAfterAStallReconnects) {
  connect();
  play(5);
  now += 1 * sec;
  EXPECT_EQ(state(), LiveState::stalled);
  machine.lost(now += 2 * sec, "no data for 3 s");
  EXPECT_EQ(state(), LiveState::reconnecting);
  const int64_t since = machine.status().since_ns;
  for (int i = 0; i < 3; ++i) {
    now = machine.next_event_ns();
    connect();
    machine.lost(now, "connection refused");
  }
  EXPECT_EQ(machine.status().since_ns, since);
  EXPECT_EQ(machine.status().reason, "connection refused");
}

}  // namespace
}  // namespace lensd

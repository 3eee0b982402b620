// Commands wait in order while the pipeline's queue is full, and the caller never does.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/viewer/command_outbox.hpp"

namespace lensd {
namespace {

std::string speed_of(const Command& command) {
  const auto* speed = std::get_if<SetSpeed>(&command);
  return speed ? std::to_string(static_cast<int>(speed->speed)) : "?";
}

class Outbox : public ::testing::Test {
 protected:
  void post(const std::vector<Command>& commands) {
    outbox.post(
        commands,
        [this](const Command& command) -> uint64_t {
          if (room == 0) return 0;
          --room, queue += speed_of(command);
          return ++tickets;
        },
        [this](const Command& command, uint64_t ticket) {
          const bool waits = ticket == CommandOutbox::kWaiting;
          sent += speed_of(command) + (waits ? "w " : "@" + std::to_string(ticket) + " ");
        });
  }

  CommandOutbox outbox;
  int room = 0;
  uint64_t tickets = 0;
  std::string queue, sent;
};

TEST_F(Outbox, CommandsWaitInOrderForRoom) {
  room = 1;
  post({SetSpeed{1}, SetSpeed{2}});
  EXPECT_EQ(queue, "1");
  EXPECT_EQ(sent, "1@1 2w ");
  post({SetSpeed{3}});
  EXPECT_EQ(queue, "1") << "the queue is full";
  room = 1;
  post({SetSpeed{4}});
  EXPECT_EQ(queue, "12") << "older ones go first";
  room = 10;
  post({});
  EXPECT_EQ(queue, "1234");
  EXPECT_EQ(sent, "1@1 2w 3w 2@2 3w 4w 3@3 4@4 ");
}

TEST_F(Outbox, TheNewestWaitingCommandIsTheLastOneSent) {
  post({SetSpeed{1}, SetSpeed{2}, SetSpeed{3}});
  EXPECT_EQ(sent, "1w 2w 3w ");
  sent.clear();
  post({});
  EXPECT_EQ(sent, "") << "the queue is full";
  room = 1;
  post({});
  EXPECT_EQ(sent, "1@1 2w 3w ");
  sent.clear(), room = 2;
  post({});
  EXPECT_EQ(sent, "2@2 3@3 ");
  EXPECT_EQ(queue, "123");
}

TEST_F(Outbox, ANewPipelineGetsNoOldCommands) {
  post({SetSpeed{1}});
  outbox.clear();
  room = 10;
  post({SetSpeed{2}});
  EXPECT_EQ(queue, "2");
}

}  // namespace
}  // namespace lensd

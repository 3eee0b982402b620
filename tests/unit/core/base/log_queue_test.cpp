// LogQueue: an output that works, one that blocks, one that fails.
#include <gtest/gtest.h>
#include <spdlog/details/log_msg.h>
#include <spdlog/sinks/base_sink.h>

#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/log.hpp"
#include "core/base/log_levels.hpp"
#include "core/base/log_queue.hpp"

namespace lensd::log {
namespace {

using namespace std::chrono_literals;

/// Keeps messages. Blocks until release(), unless it was created open.
class TestOutput final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit TestOutput(bool open) {
    if (open) release();
  }
  void release() { open_.set_value(); }
  void fail(bool fails) {
    const std::lock_guard lock(mutex_);
    fails_ = fails;
  }
  std::vector<std::string> texts() {
    const std::lock_guard lock(mutex_);
    return texts_;
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    wait_.wait();
    if (fails_) throw spdlog::spdlog_ex("disk full");
    texts_.emplace_back(message.payload.data(), message.payload.size());
  }
  void flush_() override {}

  std::promise<void> open_;
  std::shared_future<void> wait_ = open_.get_future().share();
  std::vector<std::string> texts_;
  bool fails_ = false;
};

void say(LogQueue& queue, const std::string& text) {
  queue.log({"test", spdlog::level::info, text});
}

TEST(LogQueue, WritesEachMessageBeforeTheCallReturns) {
  const auto output = std::make_shared<TestOutput>(true);
  LogQueue queue(output);
  say(queue, "a");
  say(queue, "b");
  EXPECT_EQ(output->texts(), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(queue.finish(10s));
  say(queue, "c");
  EXPECT_EQ(output->texts().size(), 2u) << "messages after finish() are discarded";
}

TEST(LogQueue, DropsAndCountsTheOldestMessagesOfABlockedOutput) {
  const auto output = std::make_shared<TestOutput>(false);
  LogQueue queue(output);
  constexpr size_t kDropped = 5;
  const auto begin = std::chrono::steady_clock::now();
  // One message is being written and does not count.
  for (size_t i = 0; i < 1 + kDropped + LogQueue::kMessages; ++i) say(queue, std::to_string(i));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s) << "only the first message may wait";
  EXPECT_FALSE(queue.finish(1ms));
  output->release();
  ASSERT_EQ(join_stragglers(10s), 0u);

  const std::vector<std::string> texts = output->texts();
  ASSERT_EQ(texts.size(), 2 + LogQueue::kMessages);
  EXPECT_EQ(texts[0], "0");
  EXPECT_EQ(texts[1], "5 messages were dropped: the output was blocked");
  EXPECT_EQ(texts[2], std::to_string(1 + kDropped));
  EXPECT_EQ(texts.back(), std::to_string(kDropped + LogQueue::kMessages));
}

TEST(LogQueue, ReportsAFailureOnce) {
  const auto output = std::make_shared<TestOutput>(true);
  std::vector<std::string> failures;
  LogQueue queue(output, [&failures](const std::string& why) { failures.push_back(why); });
  output->fail(true);
  say(queue, "a");
  say(queue, "b");
  output->fail(false);
  say(queue, "c");
  output->fail(true);
  say(queue, "d");
  EXPECT_TRUE(queue.finish(10s));
  EXPECT_EQ(failures, (std::vector<std::string>{"disk full", "disk full"}));
  EXPECT_EQ(output->texts(), (std::vector<std::string>{"c"}));
}

TEST(LogLevel, HasTheNameThatSetsIt) {
  const std::string before = level();
  EXPECT_EQ(level_list(), "trace, debug, info, warn, error or off");
  for (const char* name : kLevelNames) {
    EXPECT_TRUE(set_level(name));
    EXPECT_EQ(level(), name);
  }
  EXPECT_FALSE(set_level("warning"));
  set_level(before);
}

}  // namespace
}  // namespace lensd::log

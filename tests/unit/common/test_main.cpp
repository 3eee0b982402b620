// main() of the test programs. Threads that tests left behind are joined, so that hanging threads are found.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>

#include "core/base/owned_thread.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int result = RUN_ALL_TESTS();
  const size_t running = lensd::join_stragglers(std::chrono::seconds(20));
  if (running == 0) return result;
  std::printf("FAILED: %zu threads still run 20 s after the tests\n", running);
  std::fflush(nullptr);
  _exit(1);  // exit() would destroy static objects that these threads use
}

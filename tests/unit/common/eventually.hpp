// Waits for another thread, with a limit that is long enough for a slow machine.
#pragma once

#include <chrono>
#include <thread>

namespace lensd {

/// Polls every 10 ms until `done` returns true, for at most 30 s. Returns the last result of `done`.
template <class F>
bool eventually(F done) {
  for (int i = 0; i < 3000; ++i) {
    if (done()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return done();
}

}  // namespace lensd

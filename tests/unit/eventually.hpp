// Waiting for what another thread brings about, without a bound that a slow machine would miss.
#pragma once

#include <chrono>
#include <thread>

namespace lensd {

/// Asks every ten milliseconds until `done` says yes or half a minute has passed; its last answer.
template <class F>
bool eventually(F done) {
  for (int i = 0; i < 3000; ++i) {
    if (done()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return done();
}

}  // namespace lensd

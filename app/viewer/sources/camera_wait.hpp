// Waits for a camera to be plugged in, while the viewer shows its test picture.
//
//   search thread: find(), once a second ──▶ wake() ──▶ take() on the UI thread
//
// The destructor waits at most 200 ms for the thread, which may hang in a driver
// (core/base/owned_thread.hpp).
//
// Call from the UI thread only.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "core/base/owned_thread.hpp"

namespace lensd {

class CameraWait {
 public:
  /// Returns a camera that can be opened, or an empty string if there is none. Called on the search thread,
  /// which may outlive this object.
  using Find = std::function<std::string()>;

  /// `wake` is called on the search thread when take() has a camera. The search ends then.
  CameraWait(Find find, std::function<void()> wake,
             std::chrono::milliseconds interval = std::chrono::seconds(1));
  ~CameraWait();

  /// Returns the camera that was found, but only once. Returns an empty string at all other calls.
  std::string take();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;  // shared with the thread
  OwnedThread thread_;
};

}  // namespace lensd

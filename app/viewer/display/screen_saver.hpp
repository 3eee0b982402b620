// Keeps the desktop from dimming, blanking or locking the screen while a video plays.
//
//   keep_off(on) ──▶ own thread ──▶ Inhibit and UnInhibit of org.freedesktop.ScreenSaver on the session bus
//
// Source: the Idle Inhibition Service Draft of freedesktop.org, which GNOME, KDE Plasma, Xfce, Cinnamon and
// MATE implement. Without such a service, or if lensd was built without PipeWire, keep_off() has no effect.
// The service drops the request when the connection closes, even after a crash. A request ends three seconds
// after keep_off(false), so that the next file of a playlist needs no new one. A service that was restarted
// gets the request again within ten seconds.
//
// Call from the UI thread only. The destructor waits at most 200 ms for the thread
// (core/base/owned_thread.hpp).
#pragma once

#include <memory>

#include "core/base/owned_thread.hpp"

namespace lensd {

class ScreenSaver {
 public:
  ScreenSaver() = default;
  ~ScreenSaver();
  ScreenSaver(const ScreenSaver&) = delete;
  ScreenSaver& operator=(const ScreenSaver&) = delete;

  /// Keeps the screen saver off, or permits it again. Does not block. The first request starts the thread;
  /// if that fails, the screen saver is left as it is.
  void keep_off(bool on);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;  // shared with the thread; null: keep_off(true) was not called
  OwnedThread thread_;
  bool on_ = false;
};

}  // namespace lensd

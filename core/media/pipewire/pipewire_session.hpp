// A connection to the PipeWire daemon, with the library's event thread.
//
//   connect() ──▶ core() ── the daemon ends ──▶ on_lost() ──▶ disconnect(), later connect() again
//
// The event thread holds the lock while it calls callbacks. Every other use of the connection's objects needs
// a PipewireLock.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/unique_fd.hpp"
#include "core/media/pipewire/pipewire_api.hpp"

namespace lensd {

class PipewireSession {
 public:
  /// Called on the event thread. Only on_timer() may call connect() or disconnect().
  struct Callbacks {
    std::function<void()> on_lost = [] {};    ///< the daemon closed the connection
    std::function<void()> on_timer = [] {};   ///< the time of set_timer() has passed
    std::function<void()> on_synced = [] {};  ///< the daemon has processed all requests before sync()
  };

  /// Starts the event thread. Does not connect. Throws Error(unavailable) if the library is missing or
  /// does not start.
  explicit PipewireSession(Callbacks callbacks);
  /// Ends the event thread and the connection. Destroy the objects of the connection first.
  ~PipewireSession();
  PipewireSession(const PipewireSession&) = delete;
  PipewireSession& operator=(const PipewireSession&) = delete;

  const PipewireApi& api() const noexcept { return api_; }

  // Call the following with the lock.

  /// Connects to the daemon, or uses the connection `remote` of the desktop portal. Returns why that fails,
  /// or an empty string. Does not wait for the daemon.
  std::string connect(UniqueFd remote = UniqueFd());
  void disconnect();
  /// Returns the connection, or null.
  pw_core* core() const noexcept { return core_; }
  /// Requests a call of on_timer after this time; 0: none. Replaces the previous request.
  void set_timer(int64_t delay_ns);
  void sync();

 private:
  friend class PipewireLock;
  static void core_error(void* data, uint32_t id, int sequence, int result, const char* message);
  static void core_done(void* data, uint32_t id, int sequence);
  static void timer_expired(void* data, uint64_t expirations);
  void release() noexcept;

  const PipewireApi& api_;
  const Callbacks callbacks_;
  pw_thread_loop* thread_ = nullptr;
  pw_context* context_ = nullptr;
  pw_core* core_ = nullptr;
  spa_source* timer_ = nullptr;
  spa_hook core_hook_ = {};
};

/// Holds the lock of a session's event thread. Locks may be nested on a thread.
class PipewireLock {
 public:
  explicit PipewireLock(const PipewireSession& session) : session_(session) {
    session_.api_.thread_loop_lock(session_.thread_);
  }
  ~PipewireLock() { session_.api_.thread_loop_unlock(session_.thread_); }
  PipewireLock(const PipewireLock&) = delete;
  PipewireLock& operator=(const PipewireLock&) = delete;

 private:
  const PipewireSession& session_;
};

}  // namespace lensd

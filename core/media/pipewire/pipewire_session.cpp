#include "core/media/pipewire/pipewire_session.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/error.hpp"

namespace lensd {

PipewireSession::PipewireSession(Callbacks callbacks)
    : api_(pipewire_api()), callbacks_(std::move(callbacks)) {
  thread_ = api_.thread_loop_new("lensd-pipewire", nullptr);
  pw_loop* const loop = thread_ ? api_.thread_loop_get_loop(thread_) : nullptr;
  context_ = loop ? api_.context_new(loop, nullptr, 0) : nullptr;
  if (context_) timer_ = pw_loop_add_timer(loop, timer_expired, this);
  if (!timer_ || api_.thread_loop_start(thread_) < 0) {
    const std::string reason = std::strerror(errno);
    release();
    throw Error(ExitCode::unavailable, "PipeWire", "its library does not start: " + reason,
                "install the packages libpipewire-0.3-modules and pipewire-bin");
  }
}

PipewireSession::~PipewireSession() {
  api_.thread_loop_stop(thread_);
  disconnect();
  release();
}

void PipewireSession::release() noexcept {
  if (timer_) pw_loop_destroy_source(api_.thread_loop_get_loop(thread_), timer_);
  if (context_) api_.context_destroy(context_);
  if (thread_) api_.thread_loop_destroy(thread_);
}

std::string PipewireSession::connect(UniqueFd remote) {
  static const pw_core_events events = [] {
    pw_core_events e = {};
    e.version = PW_VERSION_CORE_EVENTS, e.error = core_error, e.done = core_done;
    return e;
  }();
  disconnect();
  core_ = remote ? api_.context_connect_fd(context_, remote.release(), nullptr, 0)
                 : api_.context_connect(context_, nullptr, 0);
  if (!core_) return errno == EACCES ? "PipeWire refuses the connection" : "PipeWire is not running";
  pw_core_add_listener(core_, &core_hook_, &events, this);
  return {};
}

void PipewireSession::disconnect() {
  if (!core_) return;
  spa_hook_remove(&core_hook_);
  api_.core_disconnect(std::exchange(core_, nullptr));
}

void PipewireSession::set_timer(int64_t delay_ns) {
  timespec delay = {};
  delay.tv_sec = static_cast<time_t>(delay_ns / 1'000'000'000), delay.tv_nsec = delay_ns % 1'000'000'000;
  timespec once = {};
  pw_loop_update_timer(api_.thread_loop_get_loop(thread_), timer_, &delay, &once, false);
}

void PipewireSession::sync() {
  if (core_) pw_core_sync(core_, PW_ID_CORE, 0);
}

void PipewireSession::core_error(void* data, uint32_t id, int, int result, const char*) {
  if (id == PW_ID_CORE && result == -EPIPE) static_cast<PipewireSession*>(data)->callbacks_.on_lost();
}

void PipewireSession::core_done(void* data, uint32_t id, int) {
  if (id == PW_ID_CORE) static_cast<PipewireSession*>(data)->callbacks_.on_synced();
}

void PipewireSession::timer_expired(void* data, uint64_t) {
  static_cast<PipewireSession*>(data)->callbacks_.on_timer();
}

}  // namespace lensd

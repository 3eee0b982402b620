// The functions of libpipewire, which is loaded when PipeWire is first used.
//
// Include PipeWire's headers only in core/media/pipewire. Call its functions only through this table; its
// macros and inline functions need no library.
#pragma once

#include <pipewire/pipewire.h>

namespace lensd {

#define LENSD_PIPEWIRE_FUNCTIONS(X) \
  X(init)                           \
  X(log_set_level)                  \
  X(thread_loop_new)                \
  X(thread_loop_destroy)            \
  X(thread_loop_start)              \
  X(thread_loop_stop)               \
  X(thread_loop_lock)               \
  X(thread_loop_unlock)             \
  X(thread_loop_get_loop)           \
  X(context_new)                    \
  X(context_destroy)                \
  X(context_connect)                \
  X(context_connect_fd)             \
  X(core_disconnect)                \
  X(proxy_destroy)                  \
  X(properties_new)                 \
  X(properties_set)                 \
  X(stream_new)                     \
  X(stream_destroy)                 \
  X(stream_add_listener)            \
  X(stream_connect)                 \
  X(stream_update_params)           \
  X(stream_dequeue_buffer)          \
  X(stream_queue_buffer)            \
  X(stream_set_active)              \
  X(stream_is_driving)              \
  X(stream_trigger_process)

struct PipewireApi {
#define LENSD_PIPEWIRE_MEMBER(name) decltype(&::pw_##name) name = nullptr;
  LENSD_PIPEWIRE_FUNCTIONS(LENSD_PIPEWIRE_MEMBER)
#undef LENSD_PIPEWIRE_MEMBER
};

/// Returns the functions. Loads and initialises the library at the first call; it then stays loaded. Throws
/// Error(unavailable) if it is missing or too old. Thread-safe.
const PipewireApi& pipewire_api();

}  // namespace lensd

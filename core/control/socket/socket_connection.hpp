// A connection to the control socket: buffered input and output. Does not block.
//
//   receive() ──▶ in ──▶ requests        responses, events ──▶ out ── flush() ──▶ the client
//
// Call from the control socket's thread only.
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/unique_fd.hpp"

namespace lensd {

class Subscriber;

struct SocketConnection {
  SocketConnection(UniqueFd socket, uint64_t client_id);

  /// Appends received bytes to `in`. Sets `ending` at the end of the input or on an error.
  void receive();
  /// Sends as much of `out` as the socket accepts. Removes the sent part from `out` if all of `out` is sent
  /// or the sent part exceeds `max_sent` bytes. Sets `peer_gone` on an error. Discards all of `out` if
  /// `peer_gone` is set.
  void flush(size_t max_sent);

  /// Returns the number of bytes of `out` that are not sent yet.
  size_t unsent() const { return out.size() - sent; }
  bool has_line() const { return in.find('\n') != std::string::npos; }

  const UniqueFd fd;
  const uint64_t id;
  std::string in, out;
  size_t sent = 0;  ///< bytes of `out` already sent
  std::shared_ptr<Subscriber> subscriber;
  int pending = 0;  ///< requests that have no response yet
  /// Time of the last successful send(), or of the last flush() that left `out` empty.
  int64_t last_sent_ns = 0;
  uint32_t interest = EPOLLIN;  ///< epoll events that the server waits for
  bool ending = false;          ///< no more input; close once all responses are sent
  bool peer_gone = false;       ///< the peer no longer reads
  bool watched = true;          ///< the server waits for events of the connection
  bool dead = false;            ///< close at once
};

}  // namespace lensd

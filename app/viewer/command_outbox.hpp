// Holds commands of the user interface while the pipeline's queue is full.
//
//   panels, keys ── post() ──▶ Pipeline::try_post(), or a later post() if the queue is full
//
// The queue is full if the process thread has taken no commands for long, for example while a recording waits
// for a slow disk. The window must not wait for that thread. Call from the UI thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "core/pipeline/command.hpp"

namespace lensd {

class CommandOutbox {
 public:
  /// Ticket of a waiting command. It is larger than every ticket of the pipeline, so the command never counts
  /// as applied.
  static constexpr uint64_t kWaiting = UINT64_MAX;

  /// Queues a command; returns 0 if the queue is full. See Pipeline::try_post().
  using TryPost = std::function<uint64_t(const Command&)>;
  /// Called with each command and its ticket, or with kWaiting if the command must wait. After an older
  /// command was queued, called again for each waiting command. So the last call is for the newest command of
  /// its kind.
  using Sent = std::function<void(const Command&, uint64_t ticket)>;

  /// Queues the commands that wait, then `commands`, in this order, until the queue is full. The remaining
  /// commands wait for the next call. Does not block. Call in every display frame, also without commands.
  void post(const std::vector<Command>& commands, const TryPost& try_post, const Sent& sent);
  /// Discards the commands that wait. Call when their pipeline is replaced or has stopped.
  void clear() { waiting_.clear(); }

 private:
  std::deque<Command> waiting_;
};

}  // namespace lensd

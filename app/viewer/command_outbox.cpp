#include "app/viewer/command_outbox.hpp"

namespace lensd {

void CommandOutbox::post(const std::vector<Command>& commands, const TryPost& try_post, const Sent& sent) {
  bool any_queued = false;
  while (!waiting_.empty()) {
    const uint64_t ticket = try_post(waiting_.front());
    if (ticket == 0) break;
    sent(waiting_.front(), ticket);
    waiting_.pop_front();
    any_queued = true;
  }
  // The last call of `sent` must be for the newest command of its kind. Waiting commands are newer than the
  // queued ones, so report them again.
  if (any_queued)
    for (const Command& command : waiting_) sent(command, kWaiting);
  for (const Command& command : commands) {
    const uint64_t ticket = waiting_.empty() ? try_post(command) : 0;
    if (ticket == 0) waiting_.push_back(command);
    sent(command, ticket == 0 ? kWaiting : ticket);
  }
}

}  // namespace lensd

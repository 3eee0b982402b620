// Follows the connections of a live source.
#include "app/pipeline/pipeline.hpp"

namespace lensd {

/// Call before each picture of a live source. At the first one of a connection, and after placeholders,
/// resets the filters' state, which belongs to the earlier pictures, and tells the sinks a new rate.
void Pipeline::follow_connection(const FrameInfo& next) {
  if (current_picture_ && current_picture_.info.serial == next.serial) return;
  if (current_picture_) executor_->reset_state();
  if (next.placeholder) return;
  const double rate = source_->live_status().nominal_rate;
  if (rate <= 0 || rate == announced_rate_) return;
  announced_rate_ = rate;
  for (const auto& sink : options_.sinks) sink->rate_changed(rate);
}

}  // namespace lensd

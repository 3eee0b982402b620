#include "tests/peers/our_tracker.hpp"

#include "kernels/registry.hpp"

namespace lensd::peers {

OurTracker::OurTracker(Backend backend, const std::string& params)
    : backend_(backend),
      graph_(resolved(parse_chain("klt=" + params, registry()), registry())),
      executor_(make_executor(backend, {.frames = 1}, profiler_, timeline_)) {}

std::vector<Track> OurTracker::run(const PictureRef& picture) {
  if (!executor_->plan() || !(planned_ == picture.info)) {
    executor_->install(make_plan(graph_, picture.info, backend_, registry()));
    planned_ = picture.info;
  }
  const Frame frame = executor_->run(Picture(picture, {}, nullptr));
  frame.wait_ready();
  const TrackTable& table = *frame.tracks();
  return {table.tracks(), table.tracks() + table.capacity};
}

void OurTracker::set(const std::string& name, const ParamValue& value) {
  PlanNode& node = *executor_->plan()->find("klt");
  node.filter->set(name, value);
  executor_->plan()->refresh_block(node);
}

}  // namespace lensd::peers

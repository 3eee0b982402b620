#include "tests/peers/ours.hpp"

#include "kernels/registry.hpp"

namespace lensd::peers {
namespace {

GraphDesc graph_of(const std::string& filter, const std::string& params) {
  if (filter.empty()) return resolved({}, registry());
  return resolved(parse_chain(params.empty() ? filter : filter + "=" + params, registry()), registry());
}

}  // namespace

Ours::Ours(Backend backend, const std::string& filter, const std::string& params, Precision precision)
    : backend_(backend),
      precision_(precision),
      graph_(graph_of(filter, params)),
      executor_(make_executor(backend, {.frames = 1}, profiler_, timeline_)) {}

Planes Ours::run(const PictureRef& picture) {
  if (!executor_->plan() || !(planned_ == picture.info)) {
    executor_->install(make_plan(graph_, picture.info, backend_, registry(), {.precision = precision_}));
    planned_ = picture.info;
  }
  executor_->reset_state();
  const Frame frame = executor_->run(Picture(picture, {}, nullptr));
  frame.wait_ready();
  const ImageRef image = frame.image();
  const int type = CV_MAKETYPE(image.is_deep() ? CV_16U : CV_8U, image.channels());
  const cv::Mat view(image.height(), image.width(), type, image.data, static_cast<size_t>(image.pitch_bytes));
  Planes planes;
  cv::split(view, planes);
  return planes;
}

}  // namespace lensd::peers

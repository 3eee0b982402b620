#include "tests/peers/ours.hpp"

#include <fmt/format.h>

#include <sstream>

#include "core/base/error.hpp"
#include "kernels/registry.hpp"

namespace lensd::peers {
namespace {

/// Not parse_chain(): kernels of convolve contain commas.
GraphDesc graph_of(const std::string& filter, const std::string& params) {
  GraphDesc graph;
  if (filter.empty()) return resolved(graph, registry());
  NodeDesc node{.id = "node", .filter = filter};
  const FilterEntry* entry = registry().find(filter);
  if (!entry) throw Error(ExitCode::invalid_config, filter, "there is no such filter");
  std::istringstream text(params);
  for (std::string assignment; std::getline(text, assignment, ':');) {
    const size_t sign = assignment.find('=');
    const std::string key = assignment.substr(0, sign);
    const ParamSpec* spec = entry->schema().find(key);
    ParamValue value;
    if (!spec) throw Error(ExitCode::invalid_config, filter, "there is no parameter " + key);
    if (const auto problem = spec->parse(assignment.substr(sign + 1), value))
      throw Error(ExitCode::invalid_config, filter, *problem);
    node.params.emplace_back(key, value);
  }
  graph.nodes = {node};
  return resolved(graph, registry());
}

}  // namespace

Ours::Ours(Backend backend, const std::string& filter, const std::string& params)
    : backend_(backend),
      graph_(graph_of(filter, params)),
      executor_(make_executor(backend, {.frames = 1}, profiler_, timeline_)) {}

Planes Ours::run(const PictureRef& picture) {
  if (!executor_->plan() || !(planned_ == picture.info)) {
    executor_->install(make_plan(graph_, picture.info, backend_, registry()));
    planned_ = picture.info;
  }
  executor_->reset_state();
  const Frame frame = executor_->run(Picture(picture, {}, nullptr));
  frame.wait_ready();
  const ImageRef image = frame.image();
  const cv::Mat view(image.height(), image.width(), CV_8UC(image.channels()), image.data,
                     static_cast<size_t>(image.pitch_bytes));
  Planes planes;
  cv::split(view, planes);
  return planes;
}

}  // namespace lensd::peers

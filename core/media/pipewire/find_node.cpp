#include "core/media/pipewire/find_node.hpp"

#include <fmt/format.h>

#include <vector>

#include "core/base/error.hpp"

namespace lensd {
namespace {

/// Returns the node that `wanted` names, or null. If `wanted` is empty, returns the first camera.
const PipewireNode* choose(const std::vector<PipewireNode>& nodes, const std::string& wanted) {
  if (wanted.empty()) return !nodes.empty() && nodes.front().camera ? &nodes.front() : nullptr;
  for (const auto field : {&PipewireNode::name, &PipewireNode::serial, &PipewireNode::description})
    for (const PipewireNode& node : nodes)
      if (node.*field == wanted) return &node;
  return nullptr;
}

}  // namespace

PipewireNode find_node(const std::string& wanted, const std::string& where) {
  const PipewireSurvey survey = survey_pipewire();
  if (!survey.running) throw Error(ExitCode::bad_source, where, survey.text);
  if (const PipewireNode* node = choose(survey.nodes, wanted)) return *node;
  std::string there;
  for (const PipewireNode& node : survey.nodes) there += (there.empty() ? "" : ", ") + node.name;
  throw Error(ExitCode::bad_source, where,
              wanted.empty() ? "PipeWire has no camera" : fmt::format("PipeWire has no node '{}'", wanted),
              there.empty() ? "" : "it has " + there);
}

}  // namespace lensd

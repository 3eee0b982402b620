#include "core/media/pipewire_nodes.hpp"
#include "core/media/portal.hpp"

namespace lensd {

PipewireSurvey survey_pipewire() {
  PipewireSurvey survey;
  survey.text = "this lensd was built without PipeWire";
  return survey;
}

std::string portal_obstacle() {
  return "this lensd was built without PipeWire";
}

}  // namespace lensd

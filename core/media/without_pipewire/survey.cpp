#include "core/media/pipewire_nodes.hpp"

namespace lensd {

PipewireSurvey survey_pipewire(int) {
  PipewireSurvey survey;
  survey.text = "this lensd was built without PipeWire";
  return survey;
}

}  // namespace lensd

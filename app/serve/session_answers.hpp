// What the parts of Session share. Included by app/session*.cpp only.
#pragma once

#include <string>

#include "app/pipeline/pipeline.hpp"
#include "core/control/target.hpp"

namespace lensd {

inline constexpr const char* kNoSourceYet = "the source is still being opened";

inline Answer refused(const std::string& sentence) {
  return {Status::refused, sentence, {}};
}

/// How the recorder among the sinks does; streams have a state.
inline SinkStatus recorder_status(const Pipeline& pipeline) {
  for (const auto& sink : pipeline.sinks())
    if (SinkStatus status = sink->status(); status.state.empty()) return status;
  return {};
}

}  // namespace lensd

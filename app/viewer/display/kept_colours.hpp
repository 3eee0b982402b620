// With hdr = "keep", pictures keep the source's colours. KeptColours makes the presenter convert them to
// display colours. It updates the conversion when the source's colours or the settings change. Call from the
// UI thread only.
#pragma once

#include <optional>

#include "ui/gl/presenter.hpp"
#include "ui/model/model.hpp"

namespace lensd {

class KeptColours {
 public:
  /// Call before a picture is drawn.
  void update(const ui::ViewerModel& model, ui::Presenter& presenter);
  /// Call after the presenter was replaced, because a new presenter has no conversion.
  void reset() { source_.reset(); }

 private:
  std::optional<ColourSpec> source_;  ///< colours for which the presenter's conversion was set
  ColourSettings settings_;
};

}  // namespace lensd

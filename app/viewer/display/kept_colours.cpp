#include "app/viewer/display/kept_colours.hpp"

#include <memory>

#include "kernels/colour/deep_light.hpp"
#include "kernels/colour/light_conversion.hpp"

namespace lensd {

// shaders/display_light.frag repeats this layout: the curves as one array of floats, then weights and flags.
static_assert(sizeof(DeepLight) ==
              4 * (EvenCurve::kSteps + 2 + 3 * (26 * OctaveCurve::kSteps + 2) + 3 + 9 + 3));
static_assert(EvenCurve::kSteps == 4096 && OctaveCurve::kSteps == 128 && OctaveCurve::kOctavesBelow == 20);

void KeptColours::update(const ui::ViewerModel& model, ui::Presenter& presenter) {
  if (source_ == model.source_colour && settings_ == model.colour) return;
  source_ = model.source_colour, settings_ = model.colour;
  if (!source_->keep || !needs_linear_light(*source_, settings_)) return presenter.convert_colours({});
  const auto light = std::make_unique<DeepLight>();
  DeepLight::make(*source_, settings_, *light);
  presenter.convert_colours(std::as_bytes(std::span(light.get(), 1)));
}

}  // namespace lensd

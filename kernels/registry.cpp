#include "kernels/registry.hpp"

#include "kernels/auto_contrast/auto_contrast.hpp"
#include "kernels/blend/blend.hpp"
#include "kernels/colour/colour.hpp"
#include "kernels/convert/convert.hpp"
#include "kernels/difference/difference.hpp"
#include "kernels/gaussian/gaussian.hpp"
#include "kernels/grayscale/grayscale.hpp"
#include "kernels/grey_world/grey_world.hpp"
#include "kernels/invert/invert.hpp"
#include "kernels/levels/levels.hpp"
#include "kernels/median/median.hpp"
#include "kernels/mosaic/mosaic.hpp"
#include "kernels/temporal_denoise/temporal_denoise.hpp"
#include "kernels/threshold/threshold.hpp"

namespace lensd {
namespace {

constexpr FilterEntry kFilters[] = {
    entry<AutoContrast>(),
    entry<Blend>(2, 2),
    entry<Difference>(1, 2),
    entry<Gaussian>(),
    entry<Grayscale>(),
    entry<GreyWorld>(),
    entry<Invert>(),
    entry<Levels>(),
    entry<Median>(),
    entry<Mosaic>(),
    entry<TemporalDenoise>(),
    entry<Threshold>(),
};

}  // namespace

const Registry& registry() {
  static const Registry all{
      .filters = kFilters,
      .make_source = [] { return std::unique_ptr<Filter>(std::make_unique<Colour>()); },
      .make_convert = [](PixelFormat to) { return std::unique_ptr<Filter>(std::make_unique<Convert>(to)); }};
  return all;
}

}  // namespace lensd

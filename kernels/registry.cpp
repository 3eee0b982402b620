#include "kernels/registry.hpp"

#include "kernels/align_channels/align_channels.hpp"
#include "kernels/colour/colour.hpp"
#include "kernels/convert/convert.hpp"
#include "kernels/crop/crop.hpp"
#include "kernels/flip/flip.hpp"
#include "kernels/gaussian/gaussian.hpp"
#include "kernels/grayscale/grayscale.hpp"
#include "kernels/invert/invert.hpp"
#include "kernels/median/median.hpp"
#include "kernels/mosaic/mosaic.hpp"
#include "kernels/resize/resize.hpp"
#include "kernels/rotate/rotate.hpp"

namespace lensd {
namespace {

constexpr FilterEntry kFilters[] = {
    entry<Gaussian>(), entry<Grayscale>(),
    entry<Invert>(),   entry<Median>(),
    entry<Mosaic>(),   entry<Resize>(),
    entry<Crop>(),     entry<Flip>(),
    entry<Rotate>(),   entry<AlignChannels>(1, 1, Accepts::rgba8),
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

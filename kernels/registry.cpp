#include "kernels/registry.hpp"

#include "kernels/bilateral/bilateral.hpp"
#include "kernels/box/box.hpp"
#include "kernels/canny/canny.hpp"
#include "kernels/colour/colour.hpp"
#include "kernels/convert/convert.hpp"
#include "kernels/convolve/convolve.hpp"
#include "kernels/diffusion/diffusion.hpp"
#include "kernels/gaussian/gaussian.hpp"
#include "kernels/grayscale/grayscale.hpp"
#include "kernels/invert/invert.hpp"
#include "kernels/median/median.hpp"
#include "kernels/mosaic/mosaic.hpp"
#include "kernels/sobel/sobel.hpp"
#include "kernels/unsharp/unsharp.hpp"

namespace lensd {
namespace {

constexpr FilterEntry kFilters[] = {
    entry<Grayscale>(),
    entry<Invert>(),
    entry<Gaussian>(),
    entry<Box>(),
    entry<Median>(),
    entry<Convolve>(),
    entry<Unsharp>(),
    entry<Sobel>(1, 1, Accepts::gray8),
    entry<Canny>(1, 1, Accepts::gray8),
    entry<Bilateral>(),
    entry<Diffusion>(),
    entry<Mosaic>(),
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

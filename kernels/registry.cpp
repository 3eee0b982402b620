#include "kernels/registry.hpp"

#include "kernels/align_channels/align_channels.hpp"
#include "kernels/auto_contrast/auto_contrast.hpp"
#include "kernels/bilateral/bilateral.hpp"
#include "kernels/blend/blend.hpp"
#include "kernels/box/box.hpp"
#include "kernels/canny/canny.hpp"
#include "kernels/colour/colour.hpp"
#include "kernels/compare/compare.hpp"
#include "kernels/convert/convert.hpp"
#include "kernels/convolve/convolve.hpp"
#include "kernels/crop/crop.hpp"
#include "kernels/difference/difference.hpp"
#include "kernels/diffusion/diffusion.hpp"
#include "kernels/draw_tracks/draw_tracks.hpp"
#include "kernels/flip/flip.hpp"
#include "kernels/gaussian/gaussian.hpp"
#include "kernels/grayscale/grayscale.hpp"
#include "kernels/grey_world/grey_world.hpp"
#include "kernels/invert/invert.hpp"
#include "kernels/klt/klt.hpp"
#include "kernels/levels/levels.hpp"
#include "kernels/median/median.hpp"
#include "kernels/mosaic/mosaic.hpp"
#include "kernels/resize/resize.hpp"
#include "kernels/rotate/rotate.hpp"
#include "kernels/scopes/scopes.hpp"
#include "kernels/sobel/sobel.hpp"
#include "kernels/stabilize/stabilize.hpp"
#include "kernels/temporal_denoise/temporal_denoise.hpp"
#include "kernels/threshold/threshold.hpp"
#include "kernels/unsharp/unsharp.hpp"

namespace lensd {
namespace {

/// In the order of docs/filters.md.
constexpr FilterEntry kFilters[] = {
    entry<Grayscale>(),
    entry<Invert>(),
    entry<Threshold>(),
    entry<Levels>(),
    entry<GreyWorld>(),
    entry<AutoContrast>(),
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
    entry<Resize>(),
    entry<Crop>(),
    entry<Flip>(),
    entry<Rotate>(),
    entry<AlignChannels>(1, 1, Accepts::rgba8),
    entry<TemporalDenoise>(),
    entry<Difference>(1, 2),
    entry<Blend>(2, 2),
    tracker<Klt>(),
    track_reader<DrawTracks>(),
    track_reader<Stabilize>(),
};

}  // namespace

const Registry& registry() {
  static const Registry all{
      .filters = kFilters,
      .make_source = [] { return std::unique_ptr<Filter>(std::make_unique<Colour>()); },
      .make_convert = [](PixelFormat to) { return std::unique_ptr<Filter>(std::make_unique<Convert>(to)); },
      .make_scope = [](ScopeKind kind) -> std::unique_ptr<Filter> {
        if (kind == ScopeKind::compare) return std::make_unique<Compare>();
        return std::make_unique<Scope>(kind);
      }};
  return all;
}

}  // namespace lensd

#include "kernels/registry.hpp"

#include <filters/all.hpp>  // generated; includes the header of every folder

namespace lensd {
namespace {

/// Purposes of filters. README's table groups the filters by them.
constexpr const char kValues[] = "change values", kSmooth[] = "smooth and denoise",
                     kEdges[] = "sharpen, find edges, convolve", kCombine[] = "hide, compare, combine",
                     kGeometry[] = "change geometry", kTracks[] = "track motion, draw tracks, stabilize";

/// All filters, in the order of docs/filters.md. `./dev lists` updates the lists that are generated from this
/// table.
constexpr FilterEntry kFilters[] = {
    entry<Grayscale>(kValues),
    entry<Invert>(kValues),
    entry<Threshold>(kValues),
    entry<Levels>(kValues),
    entry<GreyWorld>(kValues),
    entry<AutoContrast>(kValues),
    entry<Gaussian>(kSmooth),
    entry<Box>(kSmooth),
    entry<Median>(kSmooth),
    entry<Convolve>(kEdges),
    entry<Unsharp>(kEdges),
    entry<Sobel>(kEdges, {.accepts = Accepts::gray}),
    entry<Canny>(kEdges, {.accepts = Accepts::gray}),
    entry<Bilateral>(kSmooth),
    entry<Diffusion>(kSmooth),
    entry<Mosaic>(kCombine),
    entry<Resize>(kGeometry),
    entry<Crop>(kGeometry, {.moves_pixels = true}),
    entry<Flip>(kGeometry, {.moves_pixels = true}),
    entry<Rotate>(kGeometry, {.moves_pixels = true}),
    entry<AlignChannels>(kGeometry, {.accepts = Accepts::rgba}),
    entry<Deinterlace>(kSmooth),
    entry<TemporalDenoise>(kSmooth),
    entry<Difference>(kCombine, {.max_inputs = 2}),
    entry<Blend>(kCombine, {.min_inputs = 2, .max_inputs = 2}),
    entry<Klt>(kTracks, {.gives_tracks = true}),
    entry<DrawTracks>(kTracks, {.needs_tracks = true}),
    entry<Stabilize>(kTracks, {.needs_tracks = true, .moves_pixels = true}),
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
  // Create all schemas now: the first call of schema() may throw, but Registry::find(), which calls it, is
  // noexcept.
  [[maybe_unused]] static const bool made = [] {
    for (const FilterEntry& filter : all.filters) filter.schema();
    return true;
  }();
  return all;
}

}  // namespace lensd

#include "kernels/scopes/scopes.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "kernels/common/tally.hpp"
#include "kernels/scopes/scope_rows.hpp"

namespace lensd {
namespace {

int channel(const Image& image, int x, int y, int c) {
  return image.sample(x, y, image.channels() == 1 ? 0 : c);
}

/// Returns the level, 0 to 1023, of a colour difference of 16-bit samples: 512 + 1023 · d, rounded once.
int deep_difference_reference(const LumaBlock& w, const int rgb[3]) {
  const int64_t sum = int64_t{w.r} * rgb[0] + int64_t{w.g} * rgb[1] + int64_t{w.b} * rgb[2];
  constexpr int64_t white = int64_t{65535} << 15;
  return static_cast<int>(std::min<int64_t>(1023, (2 * 1023 * sum + (2 * 512 + 1) * white) / (2 * white)));
}

/// Returns the 16-bit sample scaled to 0 … 1023, rounded to nearest.
int level_of(int sample) {
  return (sample * 1023 + 32767) / 65535;
}

}  // namespace

FilterSchema Scope::make_schema() {
  return Schema<ScopeParams>("scope", "counts of an image's pixels").build();
}

Layout Scope::configure(const FilterInputs& inputs) {
  const ImageFormat in = inputs.images[0];
  const Extent extent = in.extent;
  params_.follow(inputs.picture);
  const size_t stats = scope_counts(kind_, in) * sizeof(uint32_t);
  const double read = static_cast<double>(in.row_bytes()) * extent.height;
  const auto width = static_cast<size_t>(extent.width);
  const bool deep = sample_bytes(in.format) == 2;
  const size_t row_levels = deep ? in.row_samples() * sizeof(uint16_t) : 0;  // bytes of a converted row
  const size_t table = deep ? sizeof(ColumnTable<1024>) : sizeof(ColumnTable<256>);
  const size_t luma_row = deep ? width * sizeof(uint16_t) : width;
  PassSpec pass{.name = name(kind_),
                .items = extent.height,
                .bytes = read + static_cast<double>(stats),
                .operations = 2 * read};
  size_t worker = 0;
  switch (kind_) {
    case ScopeKind::histogram:
      pass.run = cpu_pass<&Scope::count_histogram>, pass.launch = cuda_pass<&Scope::launch_histogram>;
      pass.grain = tally_grain(extent), worker = std::max(luma_row, row_levels);
      break;
    case ScopeKind::waveform:
      pass.run = cpu_pass<&Scope::count_waveform>, pass.launch = cuda_pass<&Scope::launch_waveform>;
      pass.items = scope_columns(extent.width), pass.grain = kColumnGrain, worker = table + luma_row;
      break;
    case ScopeKind::parade:
      pass.run = cpu_pass<&Scope::count_parade>, pass.launch = cuda_pass<&Scope::launch_parade>;
      pass.items = scope_columns(extent.width), pass.grain = kColumnGrain, worker = 3 * table + row_levels;
      break;
    case ScopeKind::vectorscope:
      pass.run = cpu_pass<&Scope::count_chroma>, pass.launch = cuda_pass<&Scope::launch_chroma>;
      pass.grain = kChromaPixels / extent.width + 1;
      worker = deep ? sizeof(DeepChromaTable) + width * sizeof(uint32_t)
                    : kChromaTableBytes + width * sizeof(uint16_t);
      break;
    case ScopeKind::compare:
      throw Error(ExitCode::runtime_failure, "scope", "kind compare has its own filter");
  }
  return {.output = {PixelFormat::gray8, {1, 1}},
          .passes = {pass},
          .scratch_bytes = {},
          .worker_bytes = worker,
          .stats_bytes = stats};
}

void Scope::reference(ReferenceRun& run) const {
  run.out = Image({PixelFormat::gray8, {1, 1}});
}

std::vector<uint32_t> Scope::count_reference(const Image& image) const {
  const ScopeBlock block = ScopeBlock::make(params_);
  const int width = image.width(), columns = scope_columns(width);
  const int levels = scope_levels(image.format.format);
  const bool gray = image.channels() == 1, deep = image.is_deep();
  std::vector<uint32_t> counts(scope_counts(kind_, image.format));
  const auto count = [&](int index) { ++counts[static_cast<size_t>(index)]; };
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < width; ++x) {
      const int r = channel(image, x, y, 0), g = channel(image, x, y, 1), b = channel(image, x, y, 2);
      const int column = x * columns / width;
      int rgb[] = {r, g, b}, l = gray ? r : deep ? luma16(block.luma, r, g, b) : luma(block.luma, r, g, b);
      int chroma = grey_index(levels);
      if (!gray)
        chroma =
            deep ? deep_difference_reference(block.cr, rgb) * 1024 + deep_difference_reference(block.cb, rgb)
                 : chroma_index(block, r, g, b);
      if (deep) l = level_of(l);
      for (int c = 0; c < 3 && deep; ++c) rgb[c] = level_of(rgb[c]);
      switch (kind_) {
        case ScopeKind::histogram:
          for (int c = 0; c < 3 && !gray; ++c) count(c * levels + rgb[c]);
          count(3 * levels + l);
          break;
        case ScopeKind::waveform:
          count(column * levels + l);
          break;
        case ScopeKind::parade:
          for (int c = 0; c < 3; ++c) count((c * columns + column) * levels + rgb[c]);
          break;
        case ScopeKind::vectorscope:
          count(chroma);
          break;
        case ScopeKind::compare:
          break;
      }
    }
  return counts;
}

}  // namespace lensd

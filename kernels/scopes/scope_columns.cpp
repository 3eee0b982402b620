// Waveform and parade on the CPU. A band is a range of columns and writes only the counters of its columns.
#include <algorithm>

#include "kernels/scopes/scope_rows.hpp"
#include "kernels/scopes/scopes.hpp"

namespace lensd {
namespace {

/// At most kColumnGrain neighbouring scope columns of an image.
struct ColumnBand {
  int begin[kColumnGrain + 1];  ///< first pixel of each column; begin[columns] is the end of the last one
  int columns;

  ColumnBand(Band band, int width) : columns(band.end - band.begin) {
    for (int c = 0; c <= columns; ++c) begin[c] = scope_column_begin(band.begin + c, width);
  }
  int first() const { return begin[0]; }
  int end() const { return begin[columns]; }

  /// Calls `count(c, x)` for each column c and each pixel x of it, counted from first(). Consecutive calls
  /// are for different columns, which avoids store-forwarding stalls on a counter.
  template <class Count>
  void walk(Count count) const {
    int widest = 0;
    for (int c = 0; c < columns; ++c) widest = std::max(widest, begin[c + 1] - begin[c]);
    for (int k = 0; k < widest; ++k)
      for (int c = 0; c < columns; ++c)
        if (const int x = begin[c] + k; x < begin[c + 1]) count(c, x - begin[0]);
  }
};

/// Returns the levels of luma of the band's pixels of row y: a pointer into the image, or `buffer`.
template <class S>
const S* luma_levels(const ConstImageRef& in, int y, const ColumnBand& band, const LumaBlock& weights,
                     S* buffer) {
  if constexpr (sizeof(S) == 1) {
    return luma_of_row(in, y, band.first(), band.end(), weights, buffer);
  } else {
    deep_luma_levels_row(in.samples<S>(y) + band.first() * in.channels(), in.channels(), buffer,
                         band.end() - band.first(), weights);
    return buffer;
  }
}

/// Returns the levels of all samples of the band's pixels of row y: a pointer into the image, or `buffer`.
template <class S>
const S* sample_levels(const ConstImageRef& in, int y, const ColumnBand& band, S* buffer) {
  const S* samples = in.samples<S>(y) + band.first() * in.channels();
  if constexpr (sizeof(S) == 1) {
    return samples;
  } else {
    deep_levels_row(samples, buffer, (band.end() - band.first()) * in.channels());
    return buffer;
  }
}

/// Calls `count(group)` for groups of at most kColumnGrain columns of a band, whose counters fit in the
/// cache.
template <class Count>
void for_each_group(Band columns, Count count) {
  for (int begin = columns.begin; begin < columns.end; begin += kColumnGrain)
    count(Band{begin, std::min(begin + kColumnGrain, columns.end)});
}

}  // namespace

void Scope::count_waveform(const PassArgs& args, Band columns) const {
  const ConstImageRef in = args.in[0];
  with_sample_type(in.format.format, [&]<class S>() {
    constexpr int levels = kScopeLevels<S>;
    auto* table = reinterpret_cast<ColumnTable<levels>*>(args.worker);
    auto* buffer = reinterpret_cast<S*>(args.worker + sizeof(*table));
    for_each_group(columns, [&](Band group) {
      const ColumnBand band(group, in.width());
      table->clear(band.columns);
      for (int y = 0; y < in.height(); ++y) {
        const S* luma = luma_levels<S>(in, y, band, block_of(args).luma, buffer);
        band.walk([&](int c, int x) { ++table->count[c][luma[x]]; });
      }
      table->copy_to(static_cast<uint32_t*>(args.stats) + group.begin * levels, band.columns);
    });
  });
}

void Scope::count_parade(const PassArgs& args, Band columns) const {
  const ConstImageRef in = args.in[0];
  const int channels = in.channels(), green = channels == 1 ? 0 : 1, blue = channels == 1 ? 0 : 2;
  with_sample_type(in.format.format, [&]<class S>() {
    constexpr int levels = kScopeLevels<S>;
    auto* table = reinterpret_cast<ColumnTable<levels>*>(args.worker);
    auto* buffer = reinterpret_cast<S*>(args.worker + 3 * sizeof(*table));
    const int plane = scope_columns(in.width()) * levels;
    for_each_group(columns, [&](Band group) {
      const ColumnBand band(group, in.width());
      for (int p = 0; p < 3; ++p) table[p].clear(band.columns);
      for (int y = 0; y < in.height(); ++y) {
        const S* row = sample_levels<S>(in, y, band, buffer);
        band.walk([&](int c, int x) {
          const S* v = row + x * channels;
          ++table[0].count[c][v[0]], ++table[1].count[c][v[green]], ++table[2].count[c][v[blue]];
        });
      }
      for (int p = 0; p < 3; ++p)
        table[p].copy_to(static_cast<uint32_t*>(args.stats) + p * plane + group.begin * levels, band.columns);
    });
  });
}

}  // namespace lensd

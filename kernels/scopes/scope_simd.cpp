#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "kernels/common/tally.hpp"
#include "kernels/scopes/scope_rows.hpp"
#include "kernels/scopes/scopes.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/scopes/scope_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#include "kernels/common/pair_dot-inl.hpp"

/// Computes chroma_index() of each pixel; a pixel is a 32-bit lane.
void chroma_row(const uint8_t* rgba, uint16_t* index, size_t pixels, const ScopeBlock& block) {
  const hn::ScalableTag<int32_t> d32;
  const hn::RepartitionToNarrow<decltype(d32)> d16;
  const hn::Repartition<uint8_t, decltype(d32)> d8;
  const hn::Rebind<uint16_t, decltype(d32)> d16_half;
  const auto rb_of = [&](const LumaBlock& w) {
    return hn::BitCast(d16, hn::Set(d32, static_cast<int32_t>(static_cast<uint16_t>(w.r) |
                                                              static_cast<uint32_t>(w.b) << 16)));
  };
  const auto g_of = [&](const LumaBlock& w) {
    return hn::BitCast(d16, hn::Set(d32, static_cast<int32_t>(static_cast<uint16_t>(w.g))));
  };
  const auto cb_rb = rb_of(block.cb), cb_g = g_of(block.cb), cr_rb = rb_of(block.cr), cr_g = g_of(block.cr);
  const auto low = hn::Set(d16, int16_t{0xff});
  const auto offset = hn::Set(d32, (128 << 15) + (1 << 14)), most = hn::Set(d32, 255);
  const size_t lanes = hn::Lanes(d32);
  size_t x = 0;
  for (; x + lanes <= pixels; x += lanes) {
    const auto pixel = hn::BitCast(d16, hn::LoadU(d8, rgba + 4 * x));
    const auto rb = hn::And(pixel, low), ga = hn::And(hn::ShiftRight<8>(pixel), low);
    const auto cb = hn::Add(hn::Add(pair_dot(d32, rb, cb_rb), pair_dot(d32, ga, cb_g)), offset);
    const auto cr = hn::Add(hn::Add(pair_dot(d32, rb, cr_rb), pair_dot(d32, ga, cr_g)), offset);
    const auto value = hn::Or(hn::ShiftLeft<8>(hn::Min(hn::ShiftRight<15>(cr), most)),
                              hn::Min(hn::ShiftRight<15>(cb), most));
    hn::StoreU(hn::DemoteTo(d16_half, value), d16_half, index + x);
  }
  for (; x < pixels; ++x)
    index[x] = static_cast<uint16_t>(chroma_index(block, rgba[4 * x], rgba[4 * x + 1], rgba[4 * x + 2]));
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(chroma_row);

namespace {

void add(uint32_t& total, uint32_t count) {
  if (count != 0) std::atomic_ref(total).fetch_add(count, std::memory_order_relaxed);
}

/// Calls `count(c, x)` for each column c and its pixels x from begin[c] to begin[c + 1] − 1. Consecutive
/// calls are for different columns, which avoids store-forwarding stalls on a counter.
template <class Count>
void walk_columns(const int* begin, int columns, Count count) {
  int widest = 0;
  for (int c = 0; c < columns; ++c) widest = std::max(widest, begin[c + 1] - begin[c]);
  for (int k = 0; k < widest; ++k)
    for (int c = 0; c < columns; ++c)
      if (const int x = begin[c] + k; x < begin[c + 1]) count(c, x);
}

/// Adds the band's pixels of an image with 16 bits to the counts of R, G, B and Y.
void add_deep_pixels(const ConstImageRef& in, Band rows, const LumaBlock& weights, uint32_t* counts) {
  constexpr int kBins = 1024;
  const int channels = in.channels();
  std::array<uint32_t, 4 * kBins> table{};
  for (int y = rows.begin; y < rows.end; ++y) {
    const uint16_t* p = in.samples<uint16_t>(y);
    for (int x = 0; x < in.width(); ++x, p += channels) {
      if (channels == 1) {
        ++table[static_cast<size_t>(3 * kBins + deep_bin(*p))];
        continue;
      }
      for (int c = 0; c < 3; ++c) ++table[static_cast<size_t>(c * kBins + deep_bin(p[c]))];
      ++table[static_cast<size_t>(3 * kBins + deep_bin(luma16(weights, p[0], p[1], p[2])))];
    }
  }
  for (size_t i = 0; i < table.size(); ++i) add(counts[i], table[i]);
}

}  // namespace

void Scope::count_histogram(const PassArgs& args, Band rows) const {
  const ConstImageRef in = args.in[0];
  auto* counts = static_cast<uint32_t*>(args.stats);
  if (in.is_deep()) return add_deep_pixels(in, rows, block_of(args).luma, counts);
  static_assert(sizeof(Histogram) == 3 * 256 * sizeof(uint32_t));
  if (in.channels() == 4) add_tally(in, rows, *reinterpret_cast<Histogram*>(counts));
  uint32_t tables[4][256] = {};  // adjacent pixels increment different tables, see walk_columns()
  for (int y = rows.begin; y < rows.end; ++y) {
    const uint8_t* luma = luma_of_row(in, y, 0, in.width(), block_of(args).luma, args.worker);
    for (int x = 0; x < in.width(); ++x) ++tables[x & 3][luma[x]];
  }
  for (int v = 0; v < 256; ++v)
    add(counts[3 * 256 + v], tables[0][v] + tables[1][v] + tables[2][v] + tables[3][v]);
}

void Scope::count_waveform(const PassArgs& args, Band columns) const {
  const ConstImageRef in = args.in[0];
  int begin[kScopeColumns + 1];
  const int n = columns.end - columns.begin;
  for (int c = 0; c <= n; ++c) begin[c] = scope_column_begin(columns.begin + c, in.width());
  uint32_t* own = static_cast<uint32_t*>(args.stats) + columns.begin * 256;
  for (int y = 0; y < in.height(); ++y) {
    const uint8_t* luma = luma_of_row(in, y, begin[0], begin[n], block_of(args).luma, args.worker);
    walk_columns(begin, n, [&](int c, int x) { ++own[c * 256 + luma[x - begin[0]]]; });
  }
}

void Scope::count_parade(const PassArgs& args, Band columns) const {
  const ConstImageRef in = args.in[0];
  int begin[kScopeColumns + 1];
  const int n = columns.end - columns.begin, channels = in.channels(),
            plane = scope_columns(in.width()) * 256;
  for (int c = 0; c <= n; ++c) begin[c] = scope_column_begin(columns.begin + c, in.width());
  uint32_t* own = static_cast<uint32_t*>(args.stats) + columns.begin * 256;
  const int green = channels == 1 ? 0 : 1, blue = channels == 1 ? 0 : 2;
  for (int y = 0; y < in.height(); ++y) {
    const uint8_t* row = bytes_of_row(in, y, begin[0], begin[n], args.worker);
    walk_columns(begin, n, [&](int c, int x) {
      const uint8_t* p = row + (x - begin[0]) * channels;
      ++own[c * 256 + p[0]], ++own[plane + c * 256 + p[green]], ++own[2 * plane + c * 256 + p[blue]];
    });
  }
}

void Scope::count_chroma(const PassArgs& args, Band rows) const {
  const ConstImageRef in = args.in[0];
  auto* counts = static_cast<uint32_t*>(args.stats);
  const auto width = static_cast<size_t>(in.width());
  if (in.channels() == 1)
    return add(counts[kGreyIndex],
               static_cast<uint32_t>(width) * static_cast<uint32_t>(rows.end - rows.begin));
  auto* table = reinterpret_cast<uint32_t*>(args.worker);
  auto* index = reinterpret_cast<uint16_t*>(args.worker + kChromaTableBytes);
  std::memset(table, 0, kChromaTableBytes);
  const auto row = &HWY_DYNAMIC_DISPATCH(chroma_row);
  for (int y = rows.begin; y < rows.end; ++y) {
    if (in.is_deep())
      deep_chroma_row(in.samples<uint16_t>(y), index, in.width(), block_of(args));
    else
      row(in.row(y), index, width, block_of(args));
    for (size_t x = 0; x < width; ++x) ++table[index[x]];
  }
  for (int i = 0; i < 65536; ++i) add(counts[i], table[i]);
}

}  // namespace lensd
#endif

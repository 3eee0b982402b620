#include <cstring>

#include "kernels/common/add_shared.hpp"
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

/// Returns deep_colour_difference() of the pixels in `a` and `b`, two vectors of RGBA16 minus 32768.
/// `weights` are those of R, G, B and A, repeated. They sum to 0, so the subtraction does not change the
/// result.
template <class D32, class V16>
HWY_INLINE hn::Vec<D32> deep_difference_lanes(D32 d32, V16 a, V16 b, V16 weights) {
  const auto first = pair_dot(d32, a, weights), second = pair_dot(d32, b, weights);
  const auto sum = hn::Add(hn::ConcatEven(d32, second, first), hn::ConcatOdd(d32, second, first));
  const auto by_1023 = [](auto v) { return hn::Sub(hn::ShiftLeft<10>(v), v); };
  const auto high = by_1023(hn::ShiftRight<15>(sum)), low = by_1023(hn::And(sum, hn::Set(d32, 32767)));
  const auto scaled = hn::Add(hn::Add(high, hn::ShiftRight<15>(hn::Add(low, hn::Set(d32, 1 << 14)))),
                              hn::Set(d32, 1025 * 65535 / 2));
  const auto quotient =
      hn::ShiftRight<16>(hn::Add(hn::Add(scaled, hn::ShiftRight<16>(scaled)), hn::Set(d32, 1)));
  return hn::Min(quotient, hn::Set(d32, 1023));
}

/// Computes DeepChromaTable::place() of each pixel.
void deep_chroma_row(const uint16_t* rgba, uint32_t* places, size_t pixels, const ScopeBlock& block) {
  const hn::ScalableTag<int32_t> d32;
  const hn::RepartitionToNarrow<decltype(d32)> d16;
  const hn::Repartition<uint16_t, decltype(d32)> u16;
  const hn::Repartition<uint64_t, decltype(d32)> u64;
  const hn::RebindToUnsigned<decltype(d32)> u32;
  const auto weights_of = [&](const LumaBlock& w) {
    const auto bits = [](int16_t v) { return uint64_t{static_cast<uint16_t>(v)}; };
    return hn::BitCast(d16, hn::Set(u64, bits(w.r) | bits(w.g) << 16 | bits(w.b) << 32));
  };
  const auto cb_weights = weights_of(block.cb), cr_weights = weights_of(block.cr);
  const auto load = [&](const uint16_t* from) {
    return hn::BitCast(d16, hn::Xor(hn::LoadU(u16, from), hn::Set(u16, uint16_t{0x8000})));
  };
  const auto in_tile = hn::Set(d32, 31), tile = hn::Set(d32, 31 << 5);
  const size_t lanes = hn::Lanes(d32);
  size_t x = 0;
  for (; x + lanes <= pixels; x += lanes) {
    const auto a = load(rgba + 4 * x), b = load(rgba + 4 * x + 2 * lanes);
    const auto cb = deep_difference_lanes(d32, a, b, cb_weights),
               cr = deep_difference_lanes(d32, a, b, cr_weights);
    const auto tiles = hn::Or(hn::ShiftLeft<10>(hn::And(cr, tile)), hn::ShiftLeft<5>(hn::And(cb, tile)));
    const auto inside = hn::Or(hn::ShiftLeft<5>(hn::And(cr, in_tile)), hn::And(cb, in_tile));
    hn::StoreU(hn::BitCast(u32, hn::Or(tiles, inside)), u32, places + x);
  }
  for (; x < pixels; ++x) {
    const int r = rgba[4 * x], g = rgba[4 * x + 1], b = rgba[4 * x + 2];
    places[x] = DeepChromaTable::place(static_cast<uint32_t>(deep_colour_difference(block.cb, r, g, b)),
                                       static_cast<uint32_t>(deep_colour_difference(block.cr, r, g, b)));
  }
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(chroma_row);
HWY_EXPORT(deep_chroma_row);

namespace {

/// Histogram counters of a band of a 16-bit image. Adjacent pixels increment different tables, which avoids
/// store-forwarding stalls on a counter. Their distance is not a multiple of 4 KiB. Otherwise a load from one
/// would wait for the store to another (4K aliasing).
struct DeepTables {
  static constexpr size_t kLevels = kScopeLevels<uint16_t>;
  struct Table {
    uint32_t count[kLevels], gap[16];
  };
  Table table[2][4] = {};

  void count_luma(const uint16_t* luma, int width) {
    for (int x = 0; x + 1 < width; x += 2) ++table[0][3].count[luma[x]], ++table[1][3].count[luma[x + 1]];
    if (width % 2 == 1) ++table[0][3].count[luma[width - 1]];
  }
  void count_rgba(const uint16_t* levels, int width) {
    for (int x = 0; x + 1 < width; x += 2, levels += 8)
      for (int c = 0; c < 3; ++c) ++table[0][c].count[levels[c]], ++table[1][c].count[levels[4 + c]];
    for (int c = 0; c < 3 && width % 2 == 1; ++c) ++table[0][c].count[levels[c]];
  }
  void add_to(uint32_t* counts) const {
    for (size_t c = 0; c < 4; ++c)
      for (size_t v = 0; v < kLevels; ++v)
        add_shared(counts[c * kLevels + v], table[0][c].count[v] + table[1][c].count[v]);
  }
};

/// Adds the band's pixels of a 16-bit image to the counts of R, G, B and Y.
void add_deep_pixels(const ConstImageRef& in, Band rows, const LumaBlock& weights, uint32_t* counts,
                     uint16_t* buffer) {
  DeepTables tables;
  for (int y = rows.begin; y < rows.end; ++y) {
    const uint16_t* from = in.samples<uint16_t>(y);
    deep_luma_levels_row(from, in.channels(), buffer, in.width(), weights);
    tables.count_luma(buffer, in.width());
    if (in.channels() == 1) continue;
    deep_levels_row(from, buffer, 4 * in.width());
    tables.count_rgba(buffer, in.width());
  }
  tables.add_to(counts);
}

/// Counts the vectorscope of a band of an image in RGBA16.
void add_deep_chroma(const ConstImageRef& in, Band rows, const ScopeBlock& block, uint32_t* counts,
                     uint8_t* worker) {
  auto& table = *reinterpret_cast<DeepChromaTable*>(worker);
  auto* places = reinterpret_cast<uint32_t*>(worker + sizeof(DeepChromaTable));
  table.clear();
  const auto row = &HWY_DYNAMIC_DISPATCH(deep_chroma_row);
  for (int y = rows.begin; y < rows.end; ++y) {
    row(in.samples<uint16_t>(y), places, static_cast<size_t>(in.width()), block);
    table.add(places, in.width());
  }
  table.add_to(counts);
}

}  // namespace

void Scope::count_histogram(const PassArgs& args, Band rows) const {
  const ConstImageRef in = args.in[0];
  auto* counts = static_cast<uint32_t*>(args.stats);
  if (in.is_deep())
    return add_deep_pixels(in, rows, block_of(args).luma, counts, reinterpret_cast<uint16_t*>(args.worker));
  static_assert(sizeof(Histogram) == 3 * 256 * sizeof(uint32_t));
  if (in.channels() == 4) add_tally(in, rows, *reinterpret_cast<Histogram*>(counts));
  // Adjacent pixels increment different tables, which avoids store-forwarding stalls.
  uint32_t tables[4][256] = {};
  for (int y = rows.begin; y < rows.end; ++y) {
    const uint8_t* luma = luma_of_row(in, y, 0, in.width(), block_of(args).luma, args.worker);
    for (int x = 0; x < in.width(); ++x) ++tables[x & 3][luma[x]];
  }
  for (int v = 0; v < 256; ++v)
    add_shared(counts[3 * 256 + v], tables[0][v] + tables[1][v] + tables[2][v] + tables[3][v]);
}

void Scope::count_chroma(const PassArgs& args, Band rows) const {
  const ConstImageRef in = args.in[0];
  auto* counts = static_cast<uint32_t*>(args.stats);
  const auto width = static_cast<size_t>(in.width());
  if (in.channels() == 1)
    return add_shared(counts[grey_index(scope_levels(in.format.format))],
                      static_cast<uint32_t>(width) * static_cast<uint32_t>(rows.end - rows.begin));
  if (in.is_deep()) return add_deep_chroma(in, rows, block_of(args), counts, args.worker);
  auto* table = reinterpret_cast<uint32_t*>(args.worker);
  auto* index = reinterpret_cast<uint16_t*>(args.worker + kChromaTableBytes);
  std::memset(table, 0, kChromaTableBytes);
  const auto row = &HWY_DYNAMIC_DISPATCH(chroma_row);
  for (int y = rows.begin; y < rows.end; ++y) {
    row(in.row(y), index, width, block_of(args));
    for (size_t x = 0; x < width; ++x) ++table[index[x]];
  }
  for (int i = 0; i < 65536; ++i) add_shared(counts[i], table[i]);
}

}  // namespace lensd
#endif

#include "kernels/common/table/lut.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/common/table/lut.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Looks up bytes in a table of 256 entries by 16 byte shuffles, one for each block of 16 entries. Each half
// of the table is processed separately. The index of a block's shuffle is the value minus the block's first
// value. A shuffle returns 0 if its index is negative; otherwise it uses only the low nibble. So the blocks
// before the value's own block also return an entry. Therefore each block is stored as its XOR with the
// previous block, and the XOR of all results is the value's entry. This takes three operations per block
// (shuffle, XOR, subtraction) and no masks.
struct Telescoped {
  alignas(64) uint8_t entry[256];

  explicit Telescoped(const uint8_t* table) {
    for (int i = 0; i < 256; ++i)
      entry[i] = static_cast<uint8_t>(i % 128 < 16 ? table[i] : table[i] ^ table[i - 16]);
  }
};

/// Returns the shuffle index of each byte: its sign bit and its low nibble. On x86, returns all bits, because
/// the shuffle ignores the others.
template <class D, class V>
HWY_INLINE hn::Vec<D> shuffle_index(D d, V v) {
#if HWY_ARCH_X86
  return hn::BitCast(d, v);
#else
  return hn::And(hn::BitCast(d, v), hn::Set(d, 0x8f));
#endif
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V look_up(D d, V v, const Telescoped& table) {
  const hn::RebindToSigned<D> signed_d;
  const auto step = hn::Set(signed_d, 16);
  auto low = hn::BitCast(signed_d, v);  // negative for 128 and more
  auto high = hn::BitCast(signed_d, hn::Xor(v, hn::Set(d, 0x80)));
  V result = hn::Zero(d);
  for (int i = 0; i < 128; i += 16) {
    const V a = hn::TableLookupBytesOr0(hn::LoadDup128(d, table.entry + i), shuffle_index(d, low));
    const V b = hn::TableLookupBytesOr0(hn::LoadDup128(d, table.entry + 128 + i), shuffle_index(d, high));
    result = hn::Xor(result, hn::Xor(a, b));
    low = hn::SaturatedSub(low, step), high = hn::SaturatedSub(high, step);
  }
  return result;
}

void lut_gray(const ConstImageRef& in, const ImageRef& out, const LutTables& tables, Band band) {
  const uint8_t* table = tables.channel[0];
  const size_t width = in.row_bytes();
  const hn::ScalableTag<uint8_t> d;
  const Telescoped telescoped(table);
  for (int y = band.begin; y < band.end; ++y) {
    const uint8_t* from = in.row(y);
    uint8_t* to = out.row(y);
    size_t x = 0;
    for (; x + hn::Lanes(d) <= width; x += hn::Lanes(d))
      hn::StoreU(look_up(d, hn::LoadU(d, from + x), telescoped), d, to + x);
    for (; x < width; ++x) to[x] = table[from[x]];
  }
}

void lut_rgba(const ConstImageRef& in, const ImageRef& out, const LutTables& tables, Band band) {
  const size_t width = static_cast<size_t>(in.width());
  const hn::ScalableTag<uint8_t> d;
  const Telescoped red(tables.channel[0]), green(tables.channel[1]), blue(tables.channel[2]);
  for (int y = band.begin; y < band.end; ++y) {
    const uint8_t* from = in.row(y);
    uint8_t* to = out.row(y);
    size_t x = 0;
    for (; x + hn::Lanes(d) <= width; x += hn::Lanes(d)) {
      hn::Vec<decltype(d)> r, g, b, a;
      hn::LoadInterleaved4(d, from + 4 * x, r, g, b, a);
      hn::StoreInterleaved4(look_up(d, r, red), look_up(d, g, green), look_up(d, b, blue), a, d, to + 4 * x);
    }
    for (; x < width; ++x) {
      for (size_t c = 0; c < 3; ++c) to[4 * x + c] = tables.channel[c][from[4 * x + c]];
      to[4 * x + 3] = from[4 * x + 3];
    }
  }
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(lut_gray);
HWY_EXPORT(lut_rgba);

void apply_lut(const ConstImageRef& in, const ImageRef& out, const LutTables& tables, Band band) {
  if (in.format.format == PixelFormat::gray8)
    HWY_DYNAMIC_DISPATCH(lut_gray)(in, out, tables, band);
  else
    HWY_DYNAMIC_DISPATCH(lut_rgba)(in, out, tables, band);
}

}  // namespace lensd
#endif

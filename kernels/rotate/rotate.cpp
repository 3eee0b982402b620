#include "kernels/rotate/rotate.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rotate/rotate.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Performs one step of the byte transposition: interleaves rows i and i + 8 into rows 2i and 2i + 1. Four
/// steps transpose 16×16 bytes.
template <class V>
HWY_INLINE void interleave_halves(const V* in, V* out) {
  const hn::Full128<uint8_t> d;
  for (int i = 0; i < 8; ++i) {
    out[2 * i] = hn::InterleaveLower(d, in[i], in[i + 8]);
    out[2 * i + 1] = hn::InterleaveUpper(d, in[i], in[i + 8]);
  }
}

/// Transposes 16×16 bytes: out[j][i] = in[i][j]. Strides may be negative.
void transpose_gray(const uint8_t* in, ptrdiff_t in_stride, uint8_t* out, ptrdiff_t out_stride) {
  const hn::Full128<uint8_t> d;
  hn::Vec<decltype(d)> a[16], b[16];
  for (int i = 0; i < 16; ++i) a[i] = hn::LoadU(d, in + i * in_stride);
  interleave_halves(a, b);
  interleave_halves(b, a);
  interleave_halves(a, b);
  interleave_halves(b, a);
  for (int i = 0; i < 16; ++i) hn::StoreU(a[i], d, out + i * out_stride);
}

/// Transposes 16×16 pixels of 4 bytes, in squares of 4×4 pixels.
void transpose_rgba(const uint8_t* in, ptrdiff_t in_stride, uint8_t* out, ptrdiff_t out_stride) {
  const hn::Full128<uint8_t> d8;
  const hn::Full128<uint32_t> d32;
  const hn::Full128<uint64_t> d64;
  for (int j = 0; j < 16; j += 4)
    for (int i = 0; i < 16; i += 4) {
      const uint8_t* src = in + i * in_stride + j * 4;
      uint8_t* dst = out + j * out_stride + i * 4;
      const auto row = [&](int r) { return hn::BitCast(d32, hn::LoadU(d8, src + r * in_stride)); };
      const auto r0 = row(0), r1 = row(1), r2 = row(2), r3 = row(3);
      const auto wide = [&](auto v) { return hn::BitCast(d64, v); };
      const auto a = wide(hn::InterleaveLower(d32, r0, r1)), b = wide(hn::InterleaveLower(d32, r2, r3));
      const auto e = wide(hn::InterleaveUpper(d32, r0, r1)), f = wide(hn::InterleaveUpper(d32, r2, r3));
      const auto put = [&](int r, auto v) { hn::StoreU(hn::BitCast(d8, v), d8, dst + r * out_stride); };
      put(0, hn::InterleaveLower(d64, a, b)), put(1, hn::InterleaveUpper(d64, a, b));
      put(2, hn::InterleaveLower(d64, e, f)), put(3, hn::InterleaveUpper(d64, e, f));
    }
}

/// Transposes 16×16 pixels of 2 bytes, in squares of 8×8. Three steps of interleaving rows i and i + 4
/// transpose a square.
void transpose_gray16(const uint8_t* in, ptrdiff_t in_stride, uint8_t* out, ptrdiff_t out_stride) {
  const hn::Full128<uint8_t> d8;
  const hn::Full128<uint16_t> d16;
  using V = hn::Vec<decltype(d16)>;
  const auto interleave = [&](const V* from, V* to) HWY_ATTR {
    for (int i = 0; i < 4; ++i) {
      to[2 * i] = hn::InterleaveLower(d16, from[i], from[i + 4]);
      to[2 * i + 1] = hn::InterleaveUpper(d16, from[i], from[i + 4]);
    }
  };
  for (int j = 0; j < 16; j += 8)
    for (int i = 0; i < 16; i += 8) {
      V a[8], b[8];
      for (int r = 0; r < 8; ++r) a[r] = hn::BitCast(d16, hn::LoadU(d8, in + (i + r) * in_stride + j * 2));
      interleave(a, b);
      interleave(b, a);
      interleave(a, b);
      for (int r = 0; r < 8; ++r) hn::StoreU(hn::BitCast(d8, b[r]), d8, out + (j + r) * out_stride + i * 2);
    }
}

/// Transposes 16×16 pixels of 8 bytes, in squares of 2×2.
void transpose_rgba16(const uint8_t* in, ptrdiff_t in_stride, uint8_t* out, ptrdiff_t out_stride) {
  const hn::Full128<uint8_t> d8;
  const hn::Full128<uint64_t> d64;
  for (int j = 0; j < 16; j += 2)
    for (int i = 0; i < 16; i += 2) {
      const uint8_t* const src = in + i * in_stride + j * 8;
      uint8_t* const dst = out + j * out_stride + i * 8;
      const auto a = hn::BitCast(d64, hn::LoadU(d8, src)),
                 b = hn::BitCast(d64, hn::LoadU(d8, src + in_stride));
      hn::StoreU(hn::BitCast(d8, hn::InterleaveLower(d64, a, b)), d8, dst);
      hn::StoreU(hn::BitCast(d8, hn::InterleaveUpper(d64, a, b)), d8, dst + out_stride);
    }
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {
namespace {

constexpr int kSide = 16;

HWY_EXPORT(transpose_gray);
HWY_EXPORT(transpose_rgba);
HWY_EXPORT(transpose_gray16);
HWY_EXPORT(transpose_rgba16);

/// Rotates input pixels [x0, x1) × [y0, y1) one by one. Used at the right and bottom edges, where no whole
/// 16×16 square fits.
void rotate_pixels(RotateAngle angle, const ConstImageRef& in, const ImageRef& out, int x0, int x1, int y0,
                   int y1) {
  const size_t size = static_cast<size_t>(in.pixel_bytes());
  for (int y = y0; y < y1; ++y)
    for (int x = x0; x < x1; ++x) {
      const RotateTarget to = rotate_target(angle, in.format.extent, x, y);
      std::memcpy(out.row(to.y) + static_cast<size_t>(to.x) * size, in.row(y) + static_cast<size_t>(x) * size,
                  size);
    }
}

/// Rotates input columns [x0, x1), at most kSide, from top to bottom: consecutive squares write to the same
/// output rows, so cache lines are filled before eviction.
void rotate_columns(RotateAngle angle, const ConstImageRef& in, const ImageRef& out, int x0, int x1) {
  const int bytes = in.pixel_bytes();
  const auto transpose = bytes == 1   ? &HWY_DYNAMIC_DISPATCH(transpose_gray)
                         : bytes == 2 ? &HWY_DYNAMIC_DISPATCH(transpose_gray16)
                         : bytes == 4 ? &HWY_DYNAMIC_DISPATCH(transpose_rgba)
                                      : &HWY_DYNAMIC_DISPATCH(transpose_rgba16);
  const bool quarter = angle == RotateAngle::quarter;
  const int whole = in.height() / kSide * kSide;
  if (x1 - x0 < kSide) return rotate_pixels(angle, in, out, x0, x1, 0, in.height());
  for (int y = 0; y < whole; y += kSide) {
    // For `quarter`, rows are read upwards; for `three_quarters`, rows are written upwards.
    const RotateTarget to = rotate_target(angle, in.format.extent, x0, quarter ? y + kSide - 1 : y);
    transpose(in.row(quarter ? y + kSide - 1 : y) + static_cast<ptrdiff_t>(x0) * bytes,
              quarter ? -in.pitch_bytes : in.pitch_bytes,
              out.row(to.y) + static_cast<ptrdiff_t>(to.x) * bytes,
              quarter ? out.pitch_bytes : -out.pitch_bytes);
  }
  rotate_pixels(angle, in, out, x0, x1, whole, in.height());
}

}  // namespace

FilterSchema Rotate::make_schema() {
  return Schema<RotateParams>("rotate", "turns the picture clockwise")
      .choice("angle", &RotateParams::angle, {"90", "180", "270"}, "degrees, clockwise",
              {.unit = "°", .change = ParamChange::reconfigure})
      .build();
}

Layout Rotate::configure(const FilterInputs& inputs) {
  angle_ = params_.angle;
  ImageFormat output = inputs.images[0];
  if (angle_ != RotateAngle::half) std::swap(output.extent.width, output.extent.height);
  Layout layout = single_pass(output, cost);
  layout.passes[0].grain = kSide;
  return layout;
}

void Rotate::apply(const PassArgs& args, Band band) const {
  if (angle_ == RotateAngle::half) return flip_rows(block_of(args).half, args.in[0], args.out, band);
  for (int x = band.begin; x < band.end; x += kSide)
    rotate_columns(angle_, args.in[0], args.out, x, std::min(x + kSide, band.end));
}

void Rotate::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  const Extent extent = in.format.extent;
  const bool half = params_.angle == RotateAngle::half;
  run.out = Image({in.format.format, half ? extent : Extent{extent.height, extent.width}});
  for_each_sample(extent, in.channels(), [&](int x, int y, int c) {
    const RotateTarget to = rotate_target(params_.angle, extent, x, y);
    run.out.set_sample(to.x, to.y, c, in.sample(x, y, c));
  });
}

}  // namespace lensd
#endif

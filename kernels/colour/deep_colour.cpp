// The CPU side of colour with 16 bits, and its oracle.
#include "kernels/colour/deep_colour.hpp"

#include <bit>
#include <memory>

#include "kernels/colour/colour_simd.hpp"
#include "kernels/colour/light_conversion.hpp"
#include "kernels/common/vectorised.hpp"

namespace lensd {
namespace {

/// Writes R, G and B, where white is 65535, and opaque alpha.
void pack_row(const float* r, const float* g, const float* b, int width, uint16_t* out) {
  for (int x = 0; x < width; ++x) {
    out[4 * x] = deep_sample(r[x]), out[4 * x + 1] = deep_sample(g[x]), out[4 * x + 2] = deep_sample(b[x]);
    out[4 * x + 3] = 65535;
  }
}

/// Replaces the samples of three planes by colours, which are stored as floats.
template <bool kYuv>
void colours_in_place(const DeepMatrix& matrix, int32_t* const* planes, int width) {
  vectorised([&matrix, planes, width] {
    const DeepMatrix m = matrix;
    int32_t* const a = planes[0];
    int32_t* const b = planes[1];
    int32_t* const c = planes[2];
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) {
      const DeepColours v = kYuv ? deep_of_yuv(m, a[x], b[x], c[x]) : deep_of_rgb(m, a[x], b[x], c[x]);
      a[x] = std::bit_cast<int32_t>(v.r), b[x] = std::bit_cast<int32_t>(v.g),
      c[x] = std::bit_cast<int32_t>(v.b);
    }
  });
}

}  // namespace

void deep_colour_row(const PictureRef& picture, const DeepConversion& conversion, int y, uint16_t* out,
                     uint8_t* worker) {
  const int width = picture.info.extent.width;
  const DeepMatrix& m = conversion.matrix;
  const ComponentRows rows = component_rows(picture, conversion.sample_mask, y, worker);
  if (picture.info.format.model == ColourModel::gray) {
    vectorised([&m, out, width, luma = rows.planes[0]] {
      const DeepMatrix copy = m;
      for (int x = 0; x < width; ++x) out[x] = deep_sample(deep_plain(copy, luma[x]));
    });
    return;
  }
  const bool yuv = picture.info.format.model == ColourModel::yuv;
  (yuv ? colours_in_place<true> : colours_in_place<false>)(m, rows.planes, width);
  float* const r = reinterpret_cast<float*>(rows.planes[0]);
  float* const g = reinterpret_cast<float*>(rows.planes[1]);
  float* const b = reinterpret_cast<float*>(rows.planes[2]);
  if (conversion.light) deep_light_row(*conversion.light, r, g, b, width);
  vectorised([=] { pack_row(r, g, b, width, out); });
  for (int x = 0; rows.alpha && x < width; ++x) out[4 * x + 3] = deep_alpha(m, rows.alpha[x]);
}

Image deep_colour_reference(const PictureRef& picture, const ImageFormat& output,
                            const ColourSettings& settings) {
  const PictureInfo& info = picture.info;
  const PictureFormat& f = info.format;
  const DeepMatrix m = DeepMatrix::make(info);
  const bool lit = needs_light(info, settings);
  const auto light = std::make_unique<DeepLight>();
  if (lit) DeepLight::make(info.colour, settings, *light);
  Image out(output);
  const auto sample = [&](int component, int x, int y) {
    const ComponentLayout& layout = f.components[static_cast<size_t>(component)];
    return load_sample(picture.planes[layout.plane] + y * picture.pitch_bytes[layout.plane], layout, x,
                       f.depth > 8, (1 << f.depth) - 1);
  };
  const int chroma_w = chroma_size(info.extent.width, f.chroma_shift_x);
  const int chroma_h = chroma_size(info.extent.height, f.chroma_shift_y);
  for (int y = 0; y < info.extent.height; ++y)
    for (int x = 0; x < info.extent.width; ++x) {
      const Position p = upright_position(info.orientation, info.upright(), x, y);
      if (f.model == ColourModel::gray) {
        out.set_sample(p.x, p.y, 0, deep_sample(deep_plain(m, sample(0, x, y))));
        continue;
      }
      const ChromaTap tx = chroma_tap(x, f.chroma_shift_x, cosited_x(info), chroma_w);
      const ChromaTap ty = chroma_tap(y, f.chroma_shift_y, cosited_y(info), chroma_h);
      const auto chroma = [&](int component) {
        return ty.first_weight * (tx.first_weight * sample(component, tx.first, ty.first) +
                                  tx.second_weight * sample(component, tx.second, ty.first)) +
               ty.second_weight * (tx.first_weight * sample(component, tx.first, ty.second) +
                                   tx.second_weight * sample(component, tx.second, ty.second));
      };
      DeepColours v = f.model == ColourModel::rgb
                          ? deep_of_rgb(m, sample(0, x, y), sample(1, x, y), sample(2, x, y))
                          : deep_of_yuv(m, sample(0, x, y), chroma(1), chroma(2));
      if (lit) light->convert(v.r, v.g, v.b);
      out.set_sample(p.x, p.y, 0, deep_sample(v.r)), out.set_sample(p.x, p.y, 1, deep_sample(v.g));
      out.set_sample(p.x, p.y, 2, deep_sample(v.b));
      out.set_sample(p.x, p.y, 3, f.has_alpha ? deep_alpha(m, sample(3, x, y)) : 65535);
    }
  return out;
}

}  // namespace lensd

// colour for 16-bit images on the CPU, and its oracle.
#include "kernels/colour/deep_colour.hpp"

#include <bit>
#include <memory>
#include <optional>

#include "kernels/colour/colour_simd.hpp"
#include "kernels/colour/light_conversion.hpp"
#include "kernels/common/vectorised.hpp"

namespace lensd {
namespace {

/// Replaces the samples of three planes with colours, which are floats in the same memory.
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

/// Returns the row for deep_halved_row(), or nullopt for other layouts.
std::optional<HalvedRow> halved_row(const PictureRef& picture, int sample_mask, int y) {
  const PictureInfo& info = picture.info;
  const PictureFormat& f = info.format;
  const auto &luma = f.components[0], &u = f.components[1], &v = f.components[2];
  const int bytes = f.depth > 8 ? 2 : 1;
  const bool interleaved = u.step == 2 * bytes && v.plane == u.plane && v.offset == u.offset + bytes;
  if (f.model != ColourModel::yuv || f.chroma_shift_x != 1 || f.has_alpha || luma.step != bytes ||
      u.shift != v.shift || v.step != u.step || (u.step != bytes && !interleaved))
    return std::nullopt;
  const ChromaTap tap = chroma_rows(info, y);
  const auto row = [&](const ComponentLayout& c, int i) {
    return picture.planes[c.plane] + i * picture.pitch_bytes[c.plane] + c.offset;
  };
  return HalvedRow{.luma = row(luma, y),
                   .u = {row(u, tap.first), row(u, tap.second)},
                   .v = {row(v, tap.first), row(v, tap.second)},
                   .first_weight = static_cast<float>(tap.first_weight),
                   .second_weight = static_cast<float>(tap.second_weight),
                   .luma_shift = luma.shift,
                   .chroma_shift = u.shift,
                   .mask = sample_mask,
                   .two_bytes = bytes == 2,
                   .interleaved = interleaved,
                   .cosited = cosited_x(info)};
}

}  // namespace

void deep_colour_row(const PictureRef& picture, const DeepConversion& conversion, int y, uint16_t* out,
                     uint8_t* worker) {
  const int width = picture.info.extent.width;
  const DeepMatrix& m = conversion.matrix;
  const auto row_of = [&](int i) { return reinterpret_cast<float*>(row_buffer(worker, width, i)); };
  float* const colours[] = {row_of(0), row_of(1), row_of(2)};
  const int32_t* alpha = nullptr;
  if (const auto halved = halved_row(picture, conversion.sample_mask, y)) {
    float *const u = row_of(3) + kLightPadding, *const v = row_of(4) + kLightPadding;
    if (!conversion.light) return deep_halved_row(*halved, m, width, u, v, out);
    deep_halved_colours(*halved, m, width, u, v, colours);
  } else {
    const ComponentRows rows = component_rows(picture, conversion.sample_mask, y, worker);
    if (picture.info.format.model == ColourModel::gray) {
      vectorised([&m, out, width, luma = rows.planes[0]] {
        const DeepMatrix copy = m;
        for (int x = 0; x < width; ++x) out[x] = to_deep_sample(deep_plain(copy, luma[x]));
      });
      return;
    }
    const bool yuv = picture.info.format.model == ColourModel::yuv;
    (yuv ? colours_in_place<true> : colours_in_place<false>)(m, rows.planes, width);
    alpha = rows.alpha;
  }
  if (conversion.light) deep_light_row(*conversion.light, colours[0], colours[1], colours[2], width);
  deep_pack_row(colours[0], colours[1], colours[2], width, out);
  for (int x = 0; alpha && x < width; ++x) out[4 * x + 3] = deep_alpha(m, alpha[x]);
}

Image deep_colour_reference(const PictureRef& picture, const ImageFormat& output,
                            const ColourSettings& settings) {
  const PictureInfo& info = picture.info;
  const PictureFormat& f = info.format;
  const DeepMatrix m = DeepMatrix::make(info);
  const bool lit = needs_linear_light(info, settings);
  const auto light = std::make_unique<DeepLight>();
  if (lit) DeepLight::make(info.colour, settings, *light);
  Image out(output);
  const StoredSamples stored{picture};
  for (int y = 0; y < info.extent.height; ++y)
    for (int x = 0; x < info.extent.width; ++x) {
      const Position p = upright_position(info.orientation, info.upright(), x, y);
      if (f.model == ColourModel::gray) {
        out.set_sample(p.x, p.y, 0, to_deep_sample(deep_plain(m, stored.at(0, x, y))));
        continue;
      }
      DeepColours v =
          f.model == ColourModel::rgb
              ? deep_of_rgb(m, stored.at(0, x, y), stored.at(1, x, y), stored.at(2, x, y))
              : deep_of_yuv(m, stored.at(0, x, y), stored.chroma(1, x, y), stored.chroma(2, x, y));
      if (lit) light->convert(v.r, v.g, v.b);
      out.set_sample(p.x, p.y, 0, to_deep_sample(v.r)), out.set_sample(p.x, p.y, 1, to_deep_sample(v.g));
      out.set_sample(p.x, p.y, 2, to_deep_sample(v.b));
      out.set_sample(p.x, p.y, 3, f.has_alpha ? deep_alpha(m, stored.at(3, x, y)) : 65535);
    }
  return out;
}

}  // namespace lensd

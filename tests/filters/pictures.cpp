#include "tests/filters/pictures.hpp"

namespace lensd::test {
namespace {

using C = ComponentLayout;

PictureFormat make(ColourModel model, int depth, int shift_x, int shift_y, bool alpha, int planes,
                   std::array<C, 4> components) {
  const auto byte = [](int v) { return static_cast<uint8_t>(v); };
  return {model, byte(depth), byte(shift_x), byte(shift_y), alpha, byte(planes), components};
}
PictureFormat yuv(int depth, int shift_x, int shift_y, int planes, std::array<C, 4> components) {
  return make(ColourModel::yuv, depth, shift_x, shift_y, false, planes, components);
}
PictureFormat planar(int depth, int shift_x, int shift_y, bool alpha = false) {
  const uint8_t step = depth > 8 ? 2 : 1;
  return make(ColourModel::yuv, depth, shift_x, shift_y, alpha, alpha ? 4 : 3,
              {C{0, step, 0, 0}, C{1, step, 0, 0}, C{2, step, 0, 0}, C{3, step, 0, 0}});
}
PictureFormat rgb(int depth, int planes, std::array<C, 4> components, bool alpha = false) {
  return make(ColourModel::rgb, depth, 0, 0, alpha, planes, components);
}
PictureFormat gray(int depth, C luma, C alpha_layout = {}, bool alpha = false) {
  return make(ColourModel::gray, depth, 0, 0, alpha, 1, {luma, C{}, C{}, alpha_layout});
}

}  // namespace

const std::vector<NamedFormat>& picture_formats() {
  static const std::vector<NamedFormat> all = {
      {"yuv420p", planar(8, 1, 1)},
      {"nv12", yuv(8, 1, 1, 2, {C{0, 1, 0, 0}, C{1, 2, 0, 0}, C{1, 2, 1, 0}})},
      {"nv21", yuv(8, 1, 1, 2, {C{0, 1, 0, 0}, C{1, 2, 1, 0}, C{1, 2, 0, 0}})},
      {"yuv422p", planar(8, 1, 0)},
      {"yuyv422", yuv(8, 1, 0, 1, {C{0, 2, 0, 0}, C{0, 4, 1, 0}, C{0, 4, 3, 0}})},
      {"uyvy422", yuv(8, 1, 0, 1, {C{0, 2, 1, 0}, C{0, 4, 0, 0}, C{0, 4, 2, 0}})},
      {"yuv440p", planar(8, 0, 1)},
      {"yuv444p", planar(8, 0, 0)},
      {"yuva420p", planar(8, 1, 1, true)},
      {"yuva444p", planar(8, 0, 0, true)},
      {"yuv420p10le", planar(10, 1, 1)},
      {"p010le", yuv(10, 1, 1, 2, {C{0, 2, 0, 6}, C{1, 4, 0, 6}, C{1, 4, 2, 6}})},
      {"yuv422p10le", planar(10, 1, 0)},
      {"yuv422p12le", planar(12, 1, 0)},
      {"p012le", yuv(12, 1, 1, 2, {C{0, 2, 0, 4}, C{1, 4, 0, 4}, C{1, 4, 2, 4}})},
      {"y210le", yuv(10, 1, 0, 1, {C{0, 4, 0, 6}, C{0, 8, 2, 6}, C{0, 8, 6, 6}})},
      {"yuv440p12le", planar(12, 0, 1)},
      {"yuv444p12le", planar(12, 0, 0)},
      {"yuv420p14le", planar(14, 1, 1)},
      {"yuv422p16le", planar(16, 1, 0)},
      {"p016le", yuv(16, 1, 1, 2, {C{0, 2, 0, 0}, C{1, 4, 0, 0}, C{1, 4, 2, 0}})},
      {"yuva444p16le", planar(16, 0, 0, true)},
      {"gbrp", rgb(8, 3, {C{2, 1, 0, 0}, C{0, 1, 0, 0}, C{1, 1, 0, 0}})},
      {"gbrap12le", rgb(12, 4, {C{2, 2, 0, 0}, C{0, 2, 0, 0}, C{1, 2, 0, 0}, C{3, 2, 0, 0}}, true)},
      {"rgb24", rgb(8, 1, {C{0, 3, 0, 0}, C{0, 3, 1, 0}, C{0, 3, 2, 0}})},
      {"bgra", rgb(8, 1, {C{0, 4, 2, 0}, C{0, 4, 1, 0}, C{0, 4, 0, 0}, C{0, 4, 3, 0}}, true)},
      {"bgr0", rgb(8, 1, {C{0, 4, 2, 0}, C{0, 4, 1, 0}, C{0, 4, 0, 0}})},
      {"rgb48le", rgb(16, 1, {C{0, 6, 0, 0}, C{0, 6, 2, 0}, C{0, 6, 4, 0}})},
      {"rgba64le", rgb(16, 1, {C{0, 8, 0, 0}, C{0, 8, 2, 0}, C{0, 8, 4, 0}, C{0, 8, 6, 0}}, true)},
      {"gray", gray(8, C{0, 1, 0, 0})},
      {"ya8", gray(8, C{0, 2, 0, 0}, C{0, 2, 1, 0}, true)},
      {"gray10le", gray(10, C{0, 2, 0, 0})},
      {"gray16le", gray(16, C{0, 2, 0, 0})},
  };
  return all;
}

HostPicture random_picture(const PictureInfo& info, std::mt19937& random, int padding, bool bottom_up) {
  HostPicture picture;
  picture.ref.info = info;
  picture.planes.resize(info.format.plane_count);
  for (int p = 0; p < info.format.plane_count; ++p) {
    const auto i = static_cast<size_t>(p);
    const size_t row = info.plane_row_bytes(p), pitch = row + static_cast<size_t>(padding);
    const auto rows = static_cast<size_t>(info.plane_rows(p));
    picture.planes[i].resize(pitch * (rows - 1) + row);
    for (uint8_t& v : picture.planes[i]) v = static_cast<uint8_t>(random() >> 11);
    picture.ref.planes[i] = picture.planes[i].data() + (bottom_up ? pitch * (rows - 1) : 0);
    picture.ref.pitch_bytes[i] =
        bottom_up ? -static_cast<std::ptrdiff_t>(pitch) : static_cast<std::ptrdiff_t>(pitch);
  }
  return picture;
}

int sample_of(const PictureRef& picture, int component, int x, int y) {
  const PictureFormat& f = picture.info.format;
  const ComponentLayout& c = f.components[static_cast<size_t>(component)];
  const uint8_t* p = picture.planes[c.plane] + y * picture.pitch_bytes[c.plane] + x * c.step + c.offset;
  if (f.depth == 8) return *p;
  return ((p[0] + 256 * p[1]) >> c.shift) % (1 << f.depth);
}

}  // namespace lensd::test

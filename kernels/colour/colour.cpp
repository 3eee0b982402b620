#include "kernels/colour/colour.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "core/base/error.hpp"
#include "core/device/memory.hpp"
#include "kernels/colour/colour_simd.hpp"
#include "kernels/colour/light_conversion.hpp"

namespace lensd {
namespace {

/// Number of rows that are converted before they are written to a rotated or flipped image. In a transposed
/// image, the pixels of 16 RGBA8 rows are adjacent and fill a cache line.
constexpr int kTransposeRows = 16;

bool is_upright(const Orientation& turn) {
  return !turn.transpose && !turn.flip_x && !turn.flip_y;
}

ImageFormat output_format(const PictureInfo& info, int precision) {
  return {make_format(info.format.model == ColourModel::gray, precision / 8), info.upright()};
}

/// Writes `count` converted rows, starting with stored row y, to their positions in the upright image.
template <int kBytes>
void write_turned(const uint8_t* rows, size_t pitch, int y, int count, int width, const Orientation& turn,
                  ImageRef out) {
  const auto put = [&](int x, int row) {
    const Position p = upright_position(turn, out.format.extent, x, y + row);
    std::memcpy(out.row(p.y) + p.x * kBytes,
                rows + static_cast<size_t>(row) * pitch + static_cast<size_t>(x) * kBytes, kBytes);
  };
  if (turn.transpose) {
    for (int x = 0; x < width; ++x)
      for (int row = 0; row < count; ++row) put(x, row);
  } else {
    for (int row = 0; row < count; ++row)
      for (int x = 0; x < width; ++x) put(x, row);
  }
}

}  // namespace

FilterSchema Colour::make_schema() {
  return Schema<ColourParams>("colour", "decoded picture to working image").build();
}

Layout Colour::configure(const FilterInputs& inputs) {
  if (!inputs.picture) throw Error(ExitCode::invalid_config, "colour", "can only be the source node");
  info_ = *inputs.picture, settings_ = inputs.colour;
  const PictureFormat& f = info_.format;
  if (f.depth < 8 || f.depth > 16 || f.chroma_shift_x > 1 || f.chroma_shift_y > 1)
    throw Error(ExitCode::bad_source, "colour", "cannot convert " + describe(info_));
  matrix_ = ColourMatrix::make(info_), codes_ = ColourMatrix::make(info_, DisplayLight::kCodeBits);
  deep_ = inputs.precision == 16, deep_matrix_ = DeepMatrix::make(info_);
  const ImageFormat output = output_format(info_, inputs.precision);
  const size_t row_bytes =
      static_cast<size_t>(info_.extent.width) * static_cast<size_t>(output.pixel_bytes());
  double bytes = static_cast<double>(row_bytes) * info_.extent.height;
  for (int p = 0; p < f.plane_count; ++p)
    bytes += static_cast<double>(info_.plane_row_bytes(p)) * info_.plane_rows(p);
  const int rows = is_upright(info_.orientation) ? 0 : kTransposeRows;
  return {.output = output,
          .passes = {{.name = "colour",
                      .run = cpu_pass<&Colour::convert>,
                      .launch = cuda_pass<&Colour::launch_convert>,
                      .items = info_.extent.height,
                      .grain = kTransposeRows,
                      .bytes = bytes,
                      .operations = static_cast<double>(info_.extent.width) * info_.extent.height * 25,
                      .reads_picture = true}},
          .scratch_bytes = {},
          .worker_bytes = align_up(colour_worker_bytes(info_.extent.width), kHostAlignment) +
                          static_cast<size_t>(rows) * row_bytes};
}

bool Colour::has_tables() const {
  return needs_linear_light(info_, settings_);
}

size_t Colour::block_bytes() const {
  if (!has_tables()) return sizeof(ColourBlock);
  return deep_ ? sizeof(DeepLight) : sizeof(DisplayLight);
}

void Colour::fill_block(void* block) const {
  if (!has_tables())
    FilterBase::fill_block(block);
  else if (deep_)
    DeepLight::make(info_.colour, settings_, *static_cast<DeepLight*>(block));
  else
    DisplayLight::make(info_.colour, settings_, *static_cast<DisplayLight*>(block));
}

/// Converts `count` stored rows, starting with row y, to `out`, whose rows are `pitch` bytes apart.
void Colour::convert_rows(const PassArgs& args, int y, int count, uint8_t* out, size_t pitch) const {
  const PictureRef& picture = *args.picture;
  for (int i = 0; i < count; ++i) {
    uint8_t* row = out + static_cast<size_t>(i) * pitch;
    if (deep_)
      deep_colour_row(picture, {deep_matrix_, matrix_.sample_mask, light_of<DeepLight>(args)}, y + i,
                      reinterpret_cast<uint16_t*>(row), args.worker);
    else
      colour_row(picture, {matrix_, codes_, light_of<DisplayLight>(args)}, y + i, row, args.worker);
  }
}

void Colour::convert(const PassArgs& args, Band band) const {
  const Orientation turn = info_.orientation;
  if (is_upright(turn))
    return convert_rows(args, band.begin, band.end - band.begin, args.out.row(band.begin),
                        static_cast<size_t>(args.out.pitch_bytes));
  const int width = info_.extent.width, bytes = args.out.pixel_bytes();
  const size_t pitch = static_cast<size_t>(width) * static_cast<size_t>(bytes);
  uint8_t* rows = args.worker + align_up(colour_worker_bytes(width), kHostAlignment);
  for (int y = band.begin; y < band.end; y += kTransposeRows) {
    const int count = std::min(kTransposeRows, band.end - y);
    convert_rows(args, y, count, rows, pitch);
    const auto write = bytes == 1   ? write_turned<1>
                       : bytes == 2 ? write_turned<2>
                       : bytes == 4 ? write_turned<4>
                                    : write_turned<8>;
    write(rows, pitch, y, count, width, turn, args.out);
  }
}

void Colour::reference(ReferenceRun&) const {
  throw Error(ExitCode::runtime_failure, "colour", "has no input image", "use colour_reference()");
}

Image colour_reference(const PictureRef& picture, int precision, const ColourSettings& settings) {
  if (precision == 16) return deep_colour_reference(picture, output_format(picture.info, 16), settings);
  const PictureInfo& info = picture.info;
  const PictureFormat& f = info.format;
  const ColourMatrix m = ColourMatrix::make(info), codes = ColourMatrix::make(info, DisplayLight::kCodeBits);
  const auto light = std::make_unique<DisplayLight>();
  const bool lit = needs_linear_light(info, settings);
  if (lit) DisplayLight::make(info.colour, settings, *light);
  Image out(output_format(info, 8));
  const StoredSamples stored{picture};
  for (int y = 0; y < info.extent.height; ++y)
    for (int x = 0; x < info.extent.width; ++x) {
      const Position p = upright_position(info.orientation, info.upright(), x, y);
      if (f.model == ColourModel::gray) {
        out.at(p.x, p.y) = static_cast<uint8_t>(colour_of_plain<int64_t>(m, stored.at(0, x, y)));
        continue;
      }
      uint32_t pixel = 0;
      if (f.model == ColourModel::rgb) {
        if (lit)
          pixel = display_of_rgb<int64_t>(codes, *light, stored.at(0, x, y), stored.at(1, x, y),
                                          stored.at(2, x, y));
        else
          for (int c = 0; c < 3; ++c) pixel |= colour_of_plain<int64_t>(m, stored.at(c, x, y)) << (8 * c);
      } else {
        const int luma = stored.at(0, x, y), u = stored.chroma(1, x, y), v = stored.chroma(2, x, y);
        pixel =
            lit ? display_of_yuv<int64_t>(codes, *light, luma, u, v) : colour_of_yuv<int64_t>(m, luma, u, v);
      }
      for (int c = 0; c < 3; ++c) out.at(p.x, p.y, c) = static_cast<uint8_t>(pixel >> (8 * c));
      out.at(p.x, p.y, 3) =
          f.has_alpha ? static_cast<uint8_t>(colour_of_alpha<int64_t>(m, stored.at(3, x, y))) : uint8_t{255};
    }
  return out;
}

}  // namespace lensd

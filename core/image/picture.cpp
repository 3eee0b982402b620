#include "core/image/picture.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lensd {
namespace {

bool is_chroma(const PictureInfo& info, int component) {
  return info.format.model == ColourModel::yuv && (component == 1 || component == 2);
}

int component_count(const PictureFormat& format) {
  return (format.model == ColourModel::gray ? 1 : 3) + (format.has_alpha ? 1 : 0);
}

/// Returns the index in `components` of the i-th used component; alpha is always at 3.
int component_at(const PictureFormat& format, int i) {
  return format.model == ColourModel::gray && i == 1 ? 3 : i;
}

int ceil_shift(int value, int shift) {
  return (value + (1 << shift) - 1) >> shift;
}

}  // namespace

ColourTags ColourSpec::working(bool bt601) const {
  constexpr uint8_t kBt709 = 1;
  if (!keep && converted(bt601)) return {.primaries = Primaries::bt709};
  ColourTags tags{.transfer = keep ? transfer : Transfer::sdr};
  if (primaries != Primaries::bt709 || coded.primaries == kBt709) tags.primaries = primaries;
  return tags;
}

ColourTags PictureInfo::working(bool bt601) const {
  ColourTags tags = colour.working(bt601);
  tags.alpha = format.has_alpha;
  return tags;
}

bool PictureInfo::has_field_chroma() const {
  return interlaced.value && format.model == ColourModel::yuv && format.chroma_shift_y == 1 &&
         extent.height % 4 == 0 && !orientation.transpose && !orientation.flip_y;
}

size_t PictureInfo::plane_row_bytes(int p) const {
  size_t bytes = 0;
  for (int i = 0; i < component_count(format); ++i) {
    const int c = component_at(format, i);
    const ComponentLayout& layout = format.components[static_cast<size_t>(c)];
    if (layout.plane != p) continue;
    const int samples = is_chroma(*this, c) ? ceil_shift(extent.width, format.chroma_shift_x) : extent.width;
    // A packed row ends with a complete group of `step` bytes.
    bytes = std::max(bytes, static_cast<size_t>(samples) * layout.step);
  }
  return bytes;
}

int PictureInfo::plane_rows(int p) const {
  int rows = 0;
  for (int i = 0; i < component_count(format); ++i) {
    const int c = component_at(format, i);
    if (format.components[static_cast<size_t>(c)].plane != p) continue;
    rows = std::max(rows,
                    is_chroma(*this, c) ? ceil_shift(extent.height, format.chroma_shift_y) : extent.height);
  }
  return rows;
}

namespace {

/// Returns what differs from SDR with BT.709 colours, for example ", PQ up to 1000 cd/m², BT.2020 colours".
std::string describe_light(const ColourSpec& colour) {
  std::string text;
  const auto mark = [](bool guessed) { return guessed ? " (guessed)" : ""; };
  if (colour.transfer == Transfer::pq)
    text = fmt::format(", PQ up to {} cd/m²{}", colour.peak, mark(colour.guessed.peak));
  if (colour.transfer == Transfer::hlg) text = ", HLG";
  if (colour.transfer == Transfer::linear) text = ", linear light";
  if (colour.primaries == Primaries::bt2020)
    text += fmt::format(", BT.2020 colours{}", mark(colour.guessed.primaries));
  if (colour.primaries == Primaries::p3) text += ", P3 colours";
  if (colour.primaries == Primaries::bt601_525) text += ", BT.601 colours of 525 lines";
  if (colour.primaries == Primaries::bt601_625) text += ", BT.601 colours of 625 lines";
  if (!text.empty() && colour.keep) text += " (not converted)";
  return colour.guessed.icc ? text + ", ICC profile ignored" : text;
}

/// Returns the matrix and the range of a YUV picture, for example "bt601 limited (guessed)" if both are
/// guessed.
std::string describe_coding(const ColourSpec& colour) {
  constexpr const char* matrices[] = {"bt601", "bt709", "bt2020"};
  const bool one = colour.guessed.matrix && colour.guessed.range;
  return fmt::format("{}{} {}{}", matrices[static_cast<int>(colour.matrix)],
                     colour.guessed.matrix && !one ? " (guessed)" : "",
                     colour.range == Range::full ? "full" : "limited",
                     one                    ? " (guessed)"
                     : colour.guessed.range ? " (range guessed)"
                                            : "");
}

/// Returns the usual name of the chroma subsampling, such as "420", or its factors if it has none.
std::string subsampling_of(const PictureFormat& format) {
  const int across = 1 << format.chroma_shift_x, down = 1 << format.chroma_shift_y;
  const bool named = across <= 4 && (down == 1 || (down == 2 && across <= 2) || (down == 4 && across == 4));
  if (!named) return fmt::format(" with chroma of 1/{}×1/{}", across, down);
  // 4:a:b describes two rows of four pixels: a chroma samples in the first one, b changes in the second.
  const int first = 4 / across;
  return down == 1 ? fmt::format("4{}{}", first, first) : fmt::format("4{}0", first);
}

}  // namespace

std::string describe(const PictureInfo& info) {
  const PictureFormat& f = info.format;
  if (f.model == ColourModel::gray)
    return fmt::format("gray {}-bit{}", f.depth, info.colour.guessed.icc ? ", ICC profile ignored" : "");
  if (f.model == ColourModel::rgb)
    return fmt::format("rgb{} {}-bit", f.has_alpha ? "a" : "", f.depth) + describe_light(info.colour);
  const std::string subsampling = subsampling_of(f);
  constexpr const char* sitings[] = {"left", "center", "top-left"};
  std::string text = fmt::format("yuv{} {}-bit, {}", subsampling, f.depth, describe_coding(info.colour));
  if (f.chroma_shift_x) text += fmt::format(", siting {}", sitings[static_cast<int>(info.colour.siting)]);
  return text + describe_light(info.colour);
}

}  // namespace lensd

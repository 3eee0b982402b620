#include "core/media/live/placeholder.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/media/live/glyphs.hpp"

namespace lensd {
namespace {

constexpr int kBackground = 30, kText = 222, kBox = 14;  ///< grey levels, 0 to 255
constexpr int kDim = 84;                                 ///< contrast of the last picture in 1/256
constexpr int kAdvance = kGlyphWidth + 1, kLeading = kGlyphHeight + 4;

/// Returns `text` in ASCII, which the font has: "×" as "x", "…" as "...", all other characters as "?".
std::string ascii_of(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i++;
    if (static_cast<unsigned char>(text[begin]) < 0x80) {
      out += text[begin];
      continue;
    }
    while (i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80) ++i;
    const std::string_view character = text.substr(begin, i - begin);
    out += character == "×" ? "x" : character == "…" ? "..." : "?";
  }
  return out;
}

class BlockOwner final : public PictureOwner {
 public:
  explicit BlockOwner(MemoryBlock block) : block_(std::move(block)) {}
  void recycle() noexcept override { delete this; }

 private:
  MemoryBlock block_;
};

/// The samples of one component.
struct Samples {
  uint8_t* base = nullptr;
  std::ptrdiff_t pitch = 0;
  int step = 1, shift = 0, width = 0, height = 0, max = 255;
  bool wide = false;

  int get(int x, int y) const {
    const uint8_t* p = base + y * pitch + std::ptrdiff_t{x} * step;
    return wide ? (p[0] | p[1] << 8) >> shift : *p;
  }
  void put(int x, int y, int value) const {
    uint8_t* p = base + y * pitch + std::ptrdiff_t{x} * step;
    const int bits = value << shift;
    p[0] = static_cast<uint8_t>(bits);
    if (wide) p[1] = static_cast<uint8_t>(bits >> 8);
  }
};

bool is_chroma(const PictureInfo& info, int component) {
  return info.format.model == ColourModel::yuv && (component == 1 || component == 2);
}

bool has_component(const PictureInfo& info, int component) {
  if (component == 3) return info.format.has_alpha;
  return component == 0 || info.format.model != ColourModel::gray;
}

Samples samples_of(const PictureRef& picture, int component) {
  const PictureFormat& format = picture.info.format;
  const ComponentLayout& layout = format.components[static_cast<size_t>(component)];
  Samples s;
  s.base = const_cast<uint8_t*>(picture.planes[layout.plane]) + layout.offset;
  s.pitch = picture.pitch_bytes[layout.plane];
  s.step = layout.step, s.shift = layout.shift, s.wide = format.depth > 8;
  s.max = (1 << format.depth) - 1;
  const bool chroma = is_chroma(picture.info, component);
  const int shift_x = chroma ? format.chroma_shift_x : 0, shift_y = chroma ? format.chroma_shift_y : 0;
  s.width = (picture.info.extent.width + (1 << shift_x) - 1) >> shift_x;
  s.height = (picture.info.extent.height + (1 << shift_y) - 1) >> shift_y;
  return s;
}

bool limited(const PictureInfo& info) {
  return info.format.model != ColourModel::rgb && info.colour.range == Range::limited;
}

/// Returns the sample value of a grey level of 0 to 255.
int grey_sample(const PictureInfo& info, int level) {
  const int max = (1 << info.format.depth) - 1;
  return limited(info) ? (16 * 255 + 219 * level) * (max + 1) / (255 * 256) : level * max / 255;
}

/// Returns the sample value of black or of neutral chroma. Darkening moves samples towards it.
int neutral_sample(const PictureInfo& info, int component) {
  return is_chroma(info, component) ? 1 << (info.format.depth - 1) : grey_sample(info, 0);
}

}  // namespace

PictureInfo Placeholder::default_info(Extent size) {
  PictureInfo info;
  info.format = {.model = ColourModel::yuv,
                 .depth = 8,
                 .chroma_shift_x = 1,
                 .chroma_shift_y = 1,
                 .plane_count = 3,
                 .components = {{{0, 1, 0, 0}, {1, 1, 0, 0}, {2, 1, 0, 0}, {}}}};
  info.extent = size;
  info.colour.matrix = YuvMatrix::bt709;
  return info;
}

PictureRef Placeholder::planes_in(uint8_t* bytes) const {
  PictureRef ref;
  ref.info = info_;
  size_t offset = 0;
  for (int p = 0; p < info_.format.plane_count; ++p) {
    const size_t pitch = align_up(info_.plane_row_bytes(p), kHostAlignment);
    const auto i = static_cast<size_t>(p);
    ref.planes[i] = bytes + offset;
    ref.pitch_bytes[i] = static_cast<std::ptrdiff_t>(pitch);
    offset += pitch * static_cast<size_t>(info_.plane_rows(p));
  }
  return ref;
}

void Placeholder::set_background(const PictureInfo& info, const Picture* last) {
  info_ = info;
  size_t bytes = kHostAlignment;  // SIMD may read past the end
  for (int p = 0; p < info_.format.plane_count; ++p)
    bytes += align_up(info_.plane_row_bytes(p), kHostAlignment) * static_cast<size_t>(info_.plane_rows(p));
  background_ = MemoryBlock(MemoryKind::host, bytes);
  std::memset(background_.data(), 0, bytes);
  const PictureRef target = planes_in(background_.data());
  const bool usable = last && *last && last->planes.memory != MemoryKind::device && last->planes.info == info;
  for (int component = 0; component < 4; ++component) {
    if (!has_component(info_, component)) continue;
    const Samples to = samples_of(target, component);
    const Samples from = usable ? samples_of(last->planes, component) : to;
    const int neutral = neutral_sample(info_, component);
    const int plain = component == 3                ? to.max
                      : is_chroma(info_, component) ? neutral
                                                    : grey_sample(info_, kBackground);
    for (int y = 0; y < to.height; ++y)
      for (int x = 0; x < to.width; ++x)
        to.put(x, y, usable && component != 3 ? neutral + (from.get(x, y) - neutral) * kDim / 256 : plain);
  }
}

void Placeholder::fill(const PictureRef& target, Box box, int level, bool colour) const {
  const Extent upright = info_.upright();
  const int left = std::clamp(box.x, 0, upright.width), top = std::clamp(box.y, 0, upright.height);
  const int right = std::clamp(box.x + box.width, left, upright.width);
  const int bottom = std::clamp(box.y + box.height, top, upright.height);
  // From upright to stored coordinates: first the flips, then the transposition.
  const Orientation& turn = info_.orientation;
  int x0 = turn.flip_x ? upright.width - right : left, x1 = turn.flip_x ? upright.width - left : right;
  int y0 = turn.flip_y ? upright.height - bottom : top, y1 = turn.flip_y ? upright.height - top : bottom;
  if (turn.transpose) std::swap(x0, y0), std::swap(x1, y1);
  for (int component = 0; component < 3; ++component) {
    const bool chroma = is_chroma(info_, component);
    if (!has_component(info_, component) || (chroma && !colour)) continue;
    const Samples to = samples_of(target, component);
    const int sx = chroma ? info_.format.chroma_shift_x : 0, sy = chroma ? info_.format.chroma_shift_y : 0;
    const int value = chroma ? neutral_sample(info_, component) : grey_sample(info_, level);
    for (int y = y0 >> sy; y < std::min(to.height, (y1 + (1 << sy) - 1) >> sy); ++y)
      for (int x = x0 >> sx; x < std::min(to.width, (x1 + (1 << sx) - 1) >> sx); ++x) to.put(x, y, value);
  }
}

/// Returns the lines to draw: the title, then the text, wrapped at spaces.
std::vector<Placeholder::Line> Placeholder::lines_of(const std::string& title,
                                                     const std::string& text) const {
  const Extent size = info_.upright();
  const int small = std::max(1, size.height / 180);
  const auto fit = [&](const std::string& line, int scale) {
    const int room = size.width * 9 / 10, wide = static_cast<int>(line.size()) * kAdvance;
    return wide > 0 ? std::clamp(room / wide, 1, scale) : scale;
  };
  std::vector<Line> lines{{title, fit(title, small * 2)}};
  const size_t columns = static_cast<size_t>(std::max(8, size.width * 9 / 10 / (kAdvance * small)));
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.size(), at + columns);
    if (end < text.size())
      if (const size_t space = text.rfind(' ', end); space != std::string::npos && space > at) end = space;
    const std::string line = text.substr(at, end - at);
    lines.push_back({line, fit(line, small)});
    at = end;
    while (at < text.size() && text[at] == ' ') ++at;
  }
  return lines;
}

void Placeholder::draw_text(const PictureRef& target, const std::vector<Line>& lines) const {
  const Extent size = info_.upright();
  int height = 0, width = 0, margin = 0;
  for (const Line& line : lines) {
    height += kLeading * line.scale;
    width = std::max(width, static_cast<int>(line.text.size()) * kAdvance * line.scale);
    margin = std::max(margin, 4 * line.scale);
  }
  int top = (size.height - height) / 2;
  fill(target, {(size.width - width) / 2 - margin, top - margin, width + 2 * margin, height + 2 * margin},
       kBox, true);
  for (const Line& line : lines) {
    const int dots = static_cast<int>(line.text.size()) * kAdvance - 1;
    int left = (size.width - dots * line.scale) / 2;
    const int first_row = top + (kLeading - kGlyphHeight) / 2 * line.scale;
    for (const char c : line.text) {
      const auto& rows = glyph(c);
      for (int y = 0; y < kGlyphHeight; ++y)
        for (int x = 0; x < kGlyphWidth; ++x)
          if (rows[static_cast<size_t>(y)] >> (kGlyphWidth - 1 - x) & 1)
            fill(target, {left + x * line.scale, first_row + y * line.scale, line.scale, line.scale}, kText,
                 false);
      left += kAdvance * line.scale;
    }
    top += kLeading * line.scale;
  }
}

Picture Placeholder::make(const std::string& title, const std::string& text, const FrameInfo& info) const {
  MemoryBlock block(MemoryKind::host, background_.size());
  std::memcpy(block.data(), background_.data(), background_.size());
  PictureRef ref = planes_in(block.data());
  if (!title.empty() || !text.empty()) draw_text(ref, lines_of(ascii_of(title), ascii_of(text)));
  return Picture(ref, info, new BlockOwner(std::move(block)));
}

}  // namespace lensd

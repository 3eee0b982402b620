// History of tracks and coverage of pixels by marks, shared by both backends and the oracle. Floats in a
// fixed order, so that all three output the same bytes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/image/tracks.hpp"

namespace lensd {

enum class DrawStyle : uint8_t { points, trails, both };
enum class DrawColour : uint8_t { age, residual, motion, fixed };

struct DrawTracksParams {
  DrawStyle style = DrawStyle::both;
  int trail = 24;
  double size = 3;
  DrawColour colour = DrawColour::motion;
  double opacity = 0.9;
};

/// Nine colours from blue (low) over green to red (high), evenly spaced in OKLCH hue and light enough to
/// contrast with the dark rim.
inline constexpr uint32_t kDrawRamp[9] = {0x6d86ff, 0x2baefe, 0x12cde9, 0x09e3c8, 0x5def88,
                                          0xc8e93d, 0xfecf00, 0xfe9730, 0xf45a51};
inline constexpr uint32_t kDrawFixed = 0xffc400;

struct DrawTracksBlock {
  float point_radius, trail_radius;
  DrawStyle style;
  DrawColour colour;
  uint16_t opacity, rim;  ///< opacity of a mark's fill and of its dark rim, 0 to 256
  uint32_t ramp[256];     ///< colours as R, G, B and, in the highest byte, the grey for grey pictures

  static DrawTracksBlock make(const DrawTracksParams& p) {
    DrawTracksBlock block{};
    block.point_radius = static_cast<float>(p.size);
    block.trail_radius = std::max(0.6f, static_cast<float>(p.size) * 0.4f);
    block.style = p.style, block.colour = p.colour;
    block.opacity = static_cast<uint16_t>(std::lround(256 * p.opacity));
    block.rim = static_cast<uint16_t>(std::lround(256 * 0.7 * p.opacity));
    for (uint32_t i = 0; i < 256; ++i) {
      const uint32_t at = i * 8 * 256 / 255, left = at / 256 < 8 ? at / 256 : 7, part = at - left * 256;
      uint32_t colour = 0;
      for (int c = 0; c < 3; ++c) {
        const auto channel = [&](uint32_t rgb) { return rgb >> (16 - 8 * c) & 255; };
        const uint32_t mixed =
            (channel(kDrawRamp[left]) * (256 - part) + channel(kDrawRamp[left + 1]) * part + 128) / 256;
        colour |= (p.colour == DrawColour::fixed ? channel(kDrawFixed) : mixed) << (8 * c);
      }
      const uint32_t grey = p.colour == DrawColour::fixed ? 255 : 128 + i / 2;
      block.ramp[i] = colour | grey << 24;
    }
    return block;
  }
};

/// The track that is drawn for a slot of the table. A lost track stays until another one takes the slot, so
/// that its trail fades out.
struct DrawSlot {
  uint32_t id;      ///< id of the track; 0: none
  uint32_t colour;  ///< index of a colour in the ramp
};

/// Header of one half of the state. kMaxTracks DrawSlots follow, then the points of all slots. A slot has
/// trail + 1 points, newest first, packed by DrawGrid.
struct DrawHistory {
  uint32_t capacity;  ///< number of slots of the frame's table; further slots are invalid
  uint32_t reserved[3];

  static size_t bytes(int trail) {
    return sizeof(DrawHistory) + kMaxTracks * (sizeof(DrawSlot) + sizeof(uint32_t) * entries(trail));
  }
  LENSD_HD static size_t entries(int trail) { return static_cast<size_t>(trail) + 1; }
  LENSD_HD DrawSlot* slots() { return reinterpret_cast<DrawSlot*>(this + 1); }
  LENSD_HD const DrawSlot* slots() const { return reinterpret_cast<const DrawSlot*>(this + 1); }
  LENSD_HD uint32_t* points(int slot, int trail) {
    return reinterpret_cast<uint32_t*>(slots() + kMaxTracks) + static_cast<size_t>(slot) * entries(trail);
  }
  LENSD_HD const uint32_t* points(int slot, int trail) const {
    return const_cast<DrawHistory*>(this)->points(slot, trail);
  }
};

inline constexpr uint32_t kNoPoint = 0xffffffffu;

/// Packs positions into 16 + 16 bits: steps of 1/16 pixel in pictures up to 4096 × 4096, coarser in larger
/// ones. Scales a table from before a resize to this picture.
struct DrawGrid {
  float steps, step;  ///< steps per pixel, and length of a step in pixels
  float scale_x, scale_y;

  LENSD_HD static DrawGrid make(Extent picture, Extent table) {
    const int side = picture.width > picture.height ? picture.width : picture.height;
    const bool same = table == picture || table.width < 1 || table.height < 1;
    const float steps = side <= 4096 ? 16.f : side <= 8192 ? 8.f : 4.f;
    return {steps, 1.f / steps,
            same ? 1.f : static_cast<float>(picture.width) / static_cast<float>(table.width),
            same ? 1.f : static_cast<float>(picture.height) / static_cast<float>(table.height)};
  }
  LENSD_HD uint32_t pack(float x, float y) const {
    return coordinate(x, scale_x) | coordinate(y, scale_y) << 16;
  }
  LENSD_HD float x(uint32_t point) const { return static_cast<float>(point & 0xffff) * step; }
  LENSD_HD float y(uint32_t point) const { return static_cast<float>(point >> 16) * step; }

 private:
  LENSD_HD uint32_t coordinate(float v, float scale) const {
    if (scale != 1.f) v = (v + 0.5f) * scale - 0.5f;
    const float at = v * steps + 0.5f;
    return static_cast<uint32_t>(at > 0 ? (at < 65534.f ? at : 65534.f) : 0.f);  // NaN becomes 0
  }
};

/// Returns true if the previous points of this slot are part of its trail: the track is the same or was lost.
LENSD_HD inline bool continues_trail(const DrawSlot& before, const Track& now) {
  return before.id != 0 && (now.status == TrackStatus::empty || now.id == before.id);
}

/// Returns point k of a slot. `keeps`: result of continues_trail(). `before`: the slot's points in the
/// previous frame.
LENSD_HD inline uint32_t next_point(const DrawGrid& grid, const Track& now, bool keeps,
                                    const uint32_t* before, int k) {
  if (k == 0) return is_alive(now.status) ? grid.pack(now.x, now.y) : kNoPoint;
  if (keeps) return before[k - 1];
  return k == 1 && now.status == TrackStatus::tracked ? grid.pack(now.previous_x, now.previous_y) : kNoPoint;
}

/// Returns 255 · v / (v + half), clamped to 0 … 255.
LENSD_HD inline uint32_t saturating(float v, float half) {
  const float index = 255.f * (v / (v + half));
  return static_cast<uint32_t>(index > 0 ? (index < 255.f ? index : 255.f) : 0.f);
}
/// Returns the ramp index of a motion in pixels per frame.
LENSD_HD inline uint32_t colour_of_motion(float dx, float dy) {
  return saturating(sqrtf(dx * dx + dy * dy), 3.f);
}

LENSD_HD inline DrawSlot next_slot(DrawColour colour, bool keeps, const DrawSlot& before, const Track& now) {
  if (!is_alive(now.status)) return keeps ? before : DrawSlot{0, 0};
  uint32_t index = 0;
  if (colour == DrawColour::age) index = saturating(static_cast<float>(now.age), 40.f);
  if (colour == DrawColour::residual) index = saturating(now.residual, 6.f);
  if (colour == DrawColour::motion) index = colour_of_motion(now.x - now.previous_x, now.y - now.previous_y);
  return {now.id, index};
}

/// A disc, or a line with round ends. Coverage falls off over one pixel at the edge, linearly in the squared
/// distance, which avoids a square root.
struct DrawMark {
  float x, y, dx, dy;                            ///< start and vector to the end (0 for a disc)
  float inverse;                                 ///< 1 / (dx² + dy²); 0 for a disc
  float level;                                   ///< maximum strength of fill and rim, up to 255
  float outer, outer_slope, inner, inner_slope;  ///< squared outer radii and slopes of rim and fill
  float reach;                                   ///< coverage is 0 from this distance on
  uint32_t colour;
};

/// Width of the dark rim in pixels.
inline constexpr float kDrawRim = 1.f;

LENSD_HD inline DrawMark make_mark(float x, float y, float dx, float dy, float radius, float level,
                                   uint32_t colour) {
  const float length2 = dx * dx + dy * dy, rim = radius + kDrawRim;
  const float core = radius > 0.5f ? radius - 0.5f : 0.f;
  DrawMark mark{x, y, dx, dy, length2 > 0 ? 1.f / length2 : 0.f, level, 0, 0, 0, 0, 0, colour};
  mark.inner = (radius + 0.5f) * (radius + 0.5f), mark.inner_slope = level / (mark.inner - core * core);
  mark.outer = (rim + 0.5f) * (rim + 0.5f);
  mark.outer_slope = level / (mark.outer - (rim - 0.5f) * (rim - 0.5f));
  mark.reach = rim + 0.5625f;  // half a pixel of soft edge, and a margin for rounding
  return mark;
}

/// Writes mark k of a slot: mark 0 is its point, the others are the steps of its trail, newest first. Returns
/// false if there is no mark. Trails are weaker than points, so that points are on top.
LENSD_HD inline bool mark_of(const DrawTracksBlock& block, const DrawGrid& grid, const DrawSlot& slot,
                             const uint32_t* points, int k, int trail, DrawMark& mark) {
  if (k == 0) {
    if (block.style == DrawStyle::trails || points[0] == kNoPoint) return false;
    mark = make_mark(grid.x(points[0]), grid.y(points[0]), 0, 0, block.point_radius, 255.f, slot.colour);
    return true;
  }
  const uint32_t from = points[k - 1], to = points[k];
  if (block.style == DrawStyle::points || from == kNoPoint || to == kNoPoint || from == to) return false;
  const float x = grid.x(from), y = grid.y(from), dx = grid.x(to) - x, dy = grid.y(to) - y;
  const float fade = static_cast<float>(trail + 1 - k) / static_cast<float>(trail);
  const uint32_t colour = block.colour == DrawColour::motion ? colour_of_motion(dx, dy) : slot.colour;
  mark = make_mark(x, y, dx, dy, block.trail_radius * (0.5f + 0.5f * fade), 250.f * fade, colour);
  return true;
}

/// Returns the key of a mark at a pixel: fill in bits 16 to 23, rim in bits 8 to 15, colour in bits 0 to 7. A
/// pixel takes the largest key: the strongest fill, then the strongest rim, then the highest colour. So a rim
/// never covers the fill of another mark, and newer marks, whose fill is stronger, cover older ones. A
/// maximum does not depend on the order in which marks are drawn.
LENSD_HD inline uint32_t mark_key(const DrawMark& m, float x, float y) {
  const float ex = x - m.x, ey = y - m.y;
  float along = (ex * m.dx + ey * m.dy) * m.inverse;
  along = along > 0 ? (along < 1.f ? along : 1.f) : 0.f;
  const float qx = ex - along * m.dx, qy = ey - along * m.dy;
  const float distance2 = qx * qx + qy * qy;
  float rim = (m.outer - distance2) * m.outer_slope, fill = (m.inner - distance2) * m.inner_slope;
  rim = rim > 0 ? (rim < m.level ? rim : m.level) : 0.f;
  fill = fill > 0 ? (fill < m.level ? fill : m.level) : 0.f;
  const uint32_t rim8 = static_cast<uint32_t>(rim + 0.5f), fill8 = static_cast<uint32_t>(fill + 0.5f);
  return rim8 == 0 ? 0 : fill8 << 16 | rim8 << 8 | m.colour;
}

/// Rows or columns that a mark may cover, both ends included; outside, the mark's key is 0.
struct DrawSpan {
  int first, last;
};
LENSD_HD inline DrawSpan span_around(float a, float b, float reach, int size) {
  const float low = (a < b ? a : b) - reach, high = (a < b ? b : a) + reach;
  const int below = low > 0 ? static_cast<int>(low) : 0;
  return {static_cast<float>(below) < low ? below + 1 : below, high >= static_cast<float>(size - 1) ? size - 1
                                                               : high < 0                           ? -1
                                                                          : static_cast<int>(high)};
}
LENSD_HD inline DrawSpan rows_of(const DrawMark& m, int height) {
  return span_around(m.y, m.y + m.dy, m.reach, height);
}
/// Returns the columns that a mark may cover in row y. For a long line, considers only its part near the row.
LENSD_HD inline DrawSpan columns_of(const DrawMark& m, int y, int width) {
  const float steep = m.dy > 0 ? m.dy : -m.dy, wide = m.dx > 0 ? m.dx : -m.dx;
  if (wide < 8.f || steep < 0.25f) return span_around(m.x, m.x + m.dx, m.reach, width);
  const float slope = m.dx / m.dy, middle = static_cast<float>(y) - m.y;
  const auto at = [&](float row) {
    const float end =
        m.dy > 0 ? (row > 0 ? (row < m.dy ? row : m.dy) : 0.f) : (row < 0 ? (row > m.dy ? row : m.dy) : 0.f);
    return m.x + slope * end;
  };
  return span_around(at(middle - m.reach), at(middle + m.reach), m.reach, width);
}

LENSD_HD constexpr uint32_t div_255(uint32_t v) {
  return (v + 128 + ((v + 128) >> 8)) >> 8;  // v / 255 rounded, for v up to 255²
}

/// Blends a key into a channel's value `v`: the rim darkens it, then the fill blends `colour` over it.
LENSD_HD constexpr uint32_t blend_key(uint32_t v, uint32_t key, uint32_t colour, uint32_t rim,
                                      uint32_t opacity) {
  const uint32_t shade = (key >> 8 & 255) * rim >> 8, fill = (key >> 16) * opacity >> 8;
  const uint32_t darkened = div_255(v * (255 - shade));
  return div_255(darkened * (255 - fill) + colour * fill);
}

/// Blends a key into a channel's 16-bit value like blend_key(). `colour` has 8 bits.
LENSD_HD constexpr uint32_t deep_blend_key(uint32_t v, uint32_t key, uint32_t colour, uint32_t rim,
                                           uint32_t opacity) {
  const uint32_t shade = (key >> 8 & 255) * rim >> 8, fill = (key >> 16) * opacity >> 8;
  const uint32_t darkened = (v * (255 - shade) + 127) / 255;
  return (darkened * (255 - fill) + colour * 257 * fill + 127) / 255;
}

}  // namespace lensd

// Draws points and fading trails of the tracks over the picture.
//
//   TrackTable ── push() ──▶ ring of tables in a GL buffer ── draw(): one instance per track ──▶ back buffer
//
// Per shown frame the CPU only copies the table's bytes. Call from the UI thread only. The GL context must be
// current and outlive the overlay.
#pragma once

#include <array>
#include <memory>

#include "core/image/tracks.hpp"
#include "ui/panel.hpp"

namespace lensd::ui {

class TrackOverlay {
 public:
  static constexpr int kTrail = 24;  ///< length of trails in shown frames; at most 32, the shaders' limit

  TrackOverlay();
  ~TrackOverlay();
  TrackOverlay(const TrackOverlay&) = delete;
  TrackOverlay& operator=(const TrackOverlay&) = delete;

  /// Adds the tracks of the shown frame. If the frame was rerun, replaces its tracks. `serial` is
  /// FrameInfo::serial. Trails restart if the serial, the picture's size or the table's capacity changes, or
  /// if the frame index decreases.
  void push(const TrackTable& table, uint32_t serial);
  /// Removes all tracks, so that draw() draws nothing until the next push().
  void clear() { filled_ = 0; }

  /// Draws over `picture`, the whole picture's rectangle in framebuffer pixels, clipped to `area`. `scale`:
  /// Look::scale.
  void draw(Extent framebuffer, const Rect& area, const Rect& picture, const TracksState& look, float scale);

 private:
  struct Gl;
  void make_room(uint32_t capacity);

  std::unique_ptr<Gl> gl_;
  uint32_t capacity_ = 0, serial_ = 0;
  int newest_ = 0, filled_ = 0;
  Extent picture_;
  std::array<int, kTrail> frames_{};  ///< frame indices of the tables, newest first
};

/// The range of a colour ramp.
struct TrackScale {
  float full;  ///< value of the ramp's last colour
  const char* unit;
};
TrackScale track_scale(TrackColour by);

}  // namespace lensd::ui

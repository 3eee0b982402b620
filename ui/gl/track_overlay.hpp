// Points and fading trails of the tracks over the picture.
//
//   TrackTable ── push() ──▶ ring of tables in a GL buffer ── draw(): instanced, a place an instance ──▶ back
//   buffer
//
// The CPU copies a table's bytes once per shown frame and looks at no track. UI thread only; the GL context
// must be current and outlive the overlay.
#pragma once

#include <array>
#include <memory>

#include "core/image/tracks.hpp"
#include "ui/panel.hpp"

namespace lensd::ui {

class TrackOverlay {
 public:
  static constexpr int kTrail = 24;  ///< shown frames that a trail reaches back; the shaders allow 32

  TrackOverlay();
  ~TrackOverlay();
  TrackOverlay(const TrackOverlay&) = delete;
  TrackOverlay& operator=(const TrackOverlay&) = delete;

  /// The tracks of the frame that is shown from now on. `serial` counts seeks: trails do not reach across
  /// one.
  void push(const TrackTable& table, uint32_t serial);
  /// Nothing is drawn until the next push().
  void clear() { filled_ = 0; }

  /// Draws over `picture` (framebuffer pixels, may reach beyond `area`, to which it is clipped).
  void draw(Extent framebuffer, const Rect& area, const Rect& picture, const TracksState& look, float scale);

 private:
  struct Gl;
  void make_room(uint32_t capacity);

  std::unique_ptr<Gl> gl_;
  uint32_t capacity_ = 0, serial_ = 0;
  int newest_ = 0, filled_ = 0;
  Extent picture_;
  std::array<int, kTrail> frames_{};  ///< newest first
};

/// The value that has the last colour of the ramp.
float full_colour(TrackColour by);

}  // namespace lensd::ui

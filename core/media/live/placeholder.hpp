// The picture that is shown while a live source delivers none: text on the darkened last picture or on grey.
//
//   last picture (or its format) ── set_background ──▶ background ── make(title, text) ──▶ Picture
//
// Placeholders have the PictureInfo of the source's pictures, so that the plan stays the same. They use
// ordinary memory: two pictures a second need no page-locked memory. Call from the decode thread only. The
// pictures may outlive this object.
#pragma once

#include <string>
#include <vector>

#include "core/device/memory.hpp"
#include "core/image/picture_handle.hpp"

namespace lensd {

class Placeholder {
 public:
  /// Returns the format to use before the first picture: 8-bit 4:2:0, the most common one.
  static PictureInfo default_info(Extent size);

  /// Sets the format and the background: `last`, darkened, or plain grey if `last` is null, empty, in GPU
  /// memory or has another PictureInfo than `info`.
  void set_background(const PictureInfo& info, const Picture* last);
  void drop_background() { background_ = MemoryBlock(); }

  /// Returns the background with the title and the text in a centred box, in capitals. Draws no box if both
  /// are empty. Shows characters outside ASCII as "?", but "×" and "…" as "x" and "...". Characters without a
  /// glyph are blank. Call set_background() first. Throws MemoryError if out of memory.
  Picture make(const std::string& title, const std::string& text, const FrameInfo& info) const;

 private:
  struct Line {
    std::string text;
    int scale = 1;
  };
  struct Box {
    int x = 0, y = 0, width = 0, height = 0;
  };

  PictureRef planes_in(uint8_t* bytes) const;
  std::vector<Line> lines_of(const std::string& title, const std::string& text) const;
  void draw_text(const PictureRef& target, const std::vector<Line>& lines) const;
  /// Fills a box of the upright picture with a grey level. If `colour` is true, also makes its chroma
  /// neutral.
  void fill(const PictureRef& target, Box upright, int level, bool colour) const;

  PictureInfo info_;
  MemoryBlock background_;
};

}  // namespace lensd

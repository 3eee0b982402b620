// The picture shown while a live source has none: the last one, darkened, or dark grey, with text.
//
//   last picture (or its format) ── set_background ──▶ background ── make(title, text) ──▶ Picture
//
// It has the PictureInfo of the source's pictures, so that the plan stays the same. Its memory is ordinary:
// two pictures a second do not need page-locking. Belongs to the decode thread; the pictures may outlive it.
#pragma once

#include <string>
#include <vector>

#include "core/device/memory.hpp"
#include "core/image/picture_handle.hpp"

namespace lensd {

class Placeholder {
 public:
  /// The format before the first picture: 8-bit 4:2:0, the most common one.
  static PictureInfo default_info(Extent size = {1280, 720});

  /// Makes the background from `last`, or plain grey if that is null or not on the host.
  void set_background(const PictureInfo& info, const Picture* last);
  void drop_background() { background_ = MemoryBlock(); }

  /// The background with title and text in its middle, in capitals. Characters without a glyph are blank.
  /// Throws Error(runtime_failure) if out of memory.
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
  /// Fills a box of the upright picture with a grey; `colour`: makes its chroma neutral, too.
  void fill(const PictureRef& target, Box upright, int level, bool colour) const;

  PictureInfo info_;
  MemoryBlock background_;
};

}  // namespace lensd

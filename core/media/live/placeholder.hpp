// The picture shown while a live source has none: the last one, darkened, or dark grey, with a line of text.
//
//   last picture (or its format) ── set_ground ──▶ dark ground ── make(title, text) ──▶ Picture, same format
//
// It has the very PictureInfo of the source's pictures, so that no plan changes when the source goes and
// comes. Its memory is ordinary: two pictures a second are not worth page-locking. Belongs to the decode
// thread; the pictures may outlive it.
#pragma once

#include <string>
#include <vector>

#include "core/device/memory.hpp"
#include "core/image/picture_handle.hpp"

namespace lensd {

class Placeholder {
 public:
  /// The format before there was any picture: 8-bit 4:2:0, as most streams have it.
  static PictureInfo default_info(Extent size = {1280, 720});

  /// Makes the ground from `last`; where its pixels are not on the host, or there is none, it is plain.
  void set_ground(const PictureInfo& info, const Picture* last);
  void drop_ground() { ground_ = MemoryBlock(); }
  bool has_ground() const { return static_cast<bool>(ground_); }

  /// The ground with a title and a text below it in its middle, in capitals; what has no glyph shows as a
  /// gap. Throws Error(runtime_failure) without memory.
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
  /// Fills a box of the upright picture with a grey; `colour`: the chroma below it becomes neutral as well.
  void fill(const PictureRef& target, Box upright, int level, bool colour) const;

  PictureInfo info_;
  MemoryBlock ground_;
};

}  // namespace lensd

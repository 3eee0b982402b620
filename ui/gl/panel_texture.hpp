// A GL texture of an image that a panel shows: a painted scope, a thumbnail.
#pragma once

#include <cstdint>
#include <memory>

#include "core/image/view.hpp"

namespace lensd::ui {

/// Call from the UI thread only, with a current GL context.
class PanelTexture {
 public:
  PanelTexture();
  ~PanelTexture();
  PanelTexture(const PanelTexture&) = delete;
  PanelTexture& operator=(const PanelTexture&) = delete;

  /// Returns the GL name. It does not change.
  unsigned name() const noexcept;
  /// Uploads an RGBA8 image, rows from the top, if `version` differs from that of the last upload. Before the
  /// first upload, that version is 0. Call after the panels are built and before they are rendered.
  void update(const void* pixels, Extent size, uint64_t version);

 private:
  struct Texture;
  std::unique_ptr<Texture> texture_;
  Extent size_;
  uint64_t uploaded_ = 0;
};

}  // namespace lensd::ui

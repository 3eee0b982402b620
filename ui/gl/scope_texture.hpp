// Uploads the painted waveform or vectorscope to a GL texture for ImGui.
#pragma once

#include <cstdint>
#include <memory>

#include "ui/panel.hpp"

namespace lensd::ui {

/// Call from the UI thread only, with a current GL context. One per window.
class ScopeTexture {
 public:
  ScopeTexture();
  ~ScopeTexture();
  ScopeTexture(const ScopeTexture&) = delete;
  ScopeTexture& operator=(const ScopeTexture&) = delete;

  /// Sets `state.texture` and uploads `state.pixels` if they have changed. Call after the panels are built
  /// and before they are rendered.
  void update(ScopesState& state);

 private:
  struct Texture;
  std::unique_ptr<Texture> texture_;
  Extent size_;
  uint64_t uploaded_ = 0;
};

}  // namespace lensd::ui

// The painted waveform or vectorscope as a GL texture for ImGui.
#pragma once

#include <cstdint>
#include <memory>

#include "ui/panel.hpp"

namespace lensd::ui {

/// UI thread; a GL context must be current in every call. One per window.
class ScopeTexture {
 public:
  ScopeTexture();
  ~ScopeTexture();
  ScopeTexture(const ScopeTexture&) = delete;
  ScopeTexture& operator=(const ScopeTexture&) = delete;

  /// After the panels were built and before they are rendered: uploads what was painted since the last call.
  void update(ScopesState& state);

 private:
  struct Texture;
  std::unique_ptr<Texture> texture_;
  Extent size_;
  uint64_t uploaded_ = 0;
};

}  // namespace lensd::ui

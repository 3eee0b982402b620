// Format, size and rate of a camera as controls in addition to the driver's. The panel, control clients and
// presets can thus change them.
//
// Each has the value "auto" or one of the camera's values. A change restarts the camera.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/media/camera/mode_choice.hpp"
#include "core/pipeline/source_control.hpp"

namespace lensd {

class ModeControls {
 public:
  /// `configured`: the controls' defaults. Omits controls for which the camera has fewer than two values.
  ModeControls(std::vector<CameraFormat> formats, const RequestedMode& configured);

  /// Returns true for the names of these controls: format, size and rate.
  static bool has(std::string_view name) noexcept;

  const std::vector<SourceControl>& list() const noexcept { return list_; }
  /// Sets the controls that `values` contains. Ignores unknown names and values that are not allowed.
  void adopt(const ControlValues& values);
  /// Sets a value that check_control() has converted. While the camera has no mode with all three values,
  /// resets the other values to "auto", in the order rate, format, size. Returns the names of the controls
  /// that were reset.
  std::vector<std::string> set(const std::string& name, const ParamValue& value);
  /// Returns the values that differ from the default.
  ControlValues chosen() const;
  RequestedMode request() const;

 private:
  SourceControl* find(std::string_view name) noexcept;
  std::string text(std::string_view name) const;

  const std::vector<CameraFormat> formats_;
  const RequestedMode configured_;
  std::vector<SourceControl> list_;
};

}  // namespace lensd

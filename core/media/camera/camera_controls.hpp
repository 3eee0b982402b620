// Reads and sets the controls of a connected camera, on the thread that reads its pictures.
//
//   SharedControls ── queued writes ──▶ VIDIOC_S_EXT_CTRLS     between two pictures
//   V4L2_EVENT_CTRL, changes by any program ──▶ publish()
//
// A control may be overridden by another one, for example the exposure time by automatic exposure. A write to
// an overridden control is repeated when the driver reports the control as active. Some drivers accept such a
// write at once; uvcvideo refuses it with EACCES.
//
// A write that fails with a connection error is retried for 500 ms. If the camera was unplugged, the next
// connection applies the value. An action that fails is neither retried nor applied by a later connection.
// Call from one thread only.
#pragma once

#include <linux/videodev2.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/media/camera/mode_controls.hpp"
#include "core/media/camera/shared_controls.hpp"
#include "core/media/camera/v4l2_controls.hpp"

namespace lensd {

class CameraControls {
 public:
  /// Reads all controls of the open `device`, subscribes to their events and applies the wanted values. Call
  /// before streaming begins, after the camera was set to `mode`. `device` must outlive this object.
  CameraControls(V4l2Device& device, std::shared_ptr<SharedControls> shared, const CameraIdentity& identity,
                 ModeControls mode);

  /// Updates the controls after an event of the driver.
  void take_event(const v4l2_event& event);
  /// Applies queued writes for about 20 ms at most and publishes changes. Every 500 ms, also reads the values
  /// that change without events, if SharedControls::watched().
  void service(int64_t now_ns);
  /// Returns true after a change of the mode. The camera must be reopened then.
  bool mode_changed() const noexcept { return mode_changed_; }

 private:
  void apply_mode(const std::string& name, const ParamValue& value);
  std::vector<SourceControl> all() const;
  enum class Applied : uint8_t { done, refused, failed, device_gone };
  Applied apply(const SharedControls::Write& write);
  void apply_all(const std::vector<SharedControls::Write>& writes);
  void retry(SharedControls::Write write);
  void overridden(const SharedControls::Write& write, const ParamValue& value);
  void refresh_after(SourceControl& written);
  void apply_activated();
  void write_queued();
  void refresh_all();
  SourceControl* find(const std::string& name);

  V4l2Device& device_;
  const std::shared_ptr<SharedControls> shared_;
  ModeControls mode_;
  std::vector<SourceControl> controls_;            ///< without those of mode_
  std::vector<SharedControls::Write> overridden_;  ///< writes to controls that were inactive
  int64_t refreshed_ns_ = 0;
  int64_t time_ns_ = 0;   ///< start of the current service() call or of the constructor
  int64_t retry_ns_ = 0;  ///< do not write before this time
  bool mode_changed_ = false;
  bool changed_ = false;  ///< mode_ and controls_ may differ from the published ones
};

}  // namespace lensd

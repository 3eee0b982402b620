// Holds the frame on the screen: uploads its pictures, passes its tracks to the model, and reads pixels for
// the probe and snapshots.
//
//   Pipeline ── show() ──▶ ShownFrame ─┬▶ Presenter (A, B)
//                                      ├▶ tracks, once the GPU has finished
//                                      └▶ pixels of any picture in the frame, copied to the host
//
// Call from the UI thread only. Holds one frame of the pipeline's pool: call reset() before the pipeline is
// destroyed.
#pragma once

#include <optional>
#include <string>

#include "app/viewer/viewer_model.hpp"
#include "core/graph/exec/device_frame_sync.hpp"
#include "core/image/image.hpp"
#include "ui/gl/presenter.hpp"
#include "ui/gl/track_overlay.hpp"
#include "ui/viewer_ui.hpp"

namespace lensd {

class ShownFrame {
 public:
  /// Call before show(). `sync` copies device frames to the host; null if frames are in host memory. If
  /// `live` is true, alpha is not shown as transparency, because captured screens and cameras leave it
  /// undefined.
  void attach(DeviceFrameSync* sync, bool live) { sync_ = sync, live_ = live; }
  void reset();

  explicit operator bool() const { return static_cast<bool>(frame_); }
  const FrameInfo& info() const { return frame_.info; }

  /// Takes a new frame and uploads the pictures that are shown or compared.
  void show(Frame frame, ui::Presenter& presenter, const ui::ViewerUi& ui);
  /// Uploads other pictures of the same frame if a comparison, the bypass or crop editing now needs them.
  void refresh(ui::Presenter& presenter, const ui::ViewerUi& ui);
  bool has_second() const { return second_image_ >= 0; }

  /// Passes the frame's tracks to the model and the overlay, once. Does nothing if the GPU has not written
  /// them yet: call in every display frame. Does not block.
  void take_side_data(ViewerModelBuilder& model, ui::TrackOverlay& overlay);
  /// Reads the probed pixel of every picture, and the pixels of a magnified view.
  void read_pixels(const ui::ProbeState& probe, ViewerModelBuilder& model) const;
  /// Returns a copy of ViewerUi::first_picture() in full size, or nullopt if there is no frame or the frame
  /// is not finished.
  std::optional<Image> picture() const;

 private:
  /// Returns the index of a node's image, or -1. Frames of the plan before a rename have it under the former
  /// name.
  int find(const std::string& node, const ui::ViewerUi& ui) const;
  /// Copies a rectangle of one of the frame's pictures to the host.
  Image part(int image, int x, int y, Extent size) const;

  DeviceFrameSync* sync_ = nullptr;
  Frame frame_;
  bool live_ = false, side_data_pending_ = false;
  int first_image_ = 0, second_image_ = -1;
};

}  // namespace lensd

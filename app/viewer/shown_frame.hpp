// The frame on the screen: its pictures' way to the presenter, its side data, its pixels for probe and
// snapshots.
//
//   Pipeline ── take() ──▶ ShownFrame ─┬▶ Presenter (A, B)
//                                      ├▶ tracks, once the GPU has finished
//                                      └▶ pixels on the host, of any picture that the frame carries
//
// UI thread only. Holds one frame of the pipeline's pool; drop it before the pipeline goes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/viewer/viewer_model.hpp"
#include "core/graph/exec/device_frame_sync.hpp"
#include "core/image/image.hpp"
#include "ui/gl/presenter.hpp"
#include "ui/gl/track_overlay.hpp"
#include "ui/viewer_ui.hpp"

namespace lensd {

class ShownFrame {
 public:
  /// `sync` is null where frames are in host memory.
  void attach(DeviceFrameSync* sync) { sync_ = sync; }
  void reset();

  explicit operator bool() const { return static_cast<bool>(frame_); }
  const FrameInfo& info() const { return frame_.info; }

  /// Takes a new frame and brings what is compared into the presenter's textures.
  void show(Frame frame, ui::Presenter& presenter, const ui::ViewerUi& ui);
  /// What is compared may have changed since: other pictures of the same frame.
  void refresh(ui::Presenter& presenter, const ui::ViewerUi& ui);
  bool has_second() const { return second_image_ >= 0; }

  /// The tracks go to the model and the overlay once they are there.
  void take_side_data(ViewerModelBuilder& model, ui::TrackOverlay& overlay);
  /// Reads the probed pixel of every picture, and the pixels of a close view.
  void read_pixels(const ui::ProbeState& probe, ViewerModelBuilder& model) const;
  /// The shown picture B as a whole; nothing while the GPU is at it.
  std::optional<Image> picture() const;

 private:
  /// A part of one of the frame's pictures.
  Image part(int image, int x, int y, Extent size) const;

  DeviceFrameSync* sync_ = nullptr;
  Frame frame_;
  bool side_data_awaited_ = false;
  int first_image_ = 0, second_image_ = -1;
};

}  // namespace lensd

#include "ui/model/frame_counts.hpp"

#include <fmt/format.h>

namespace lensd::ui {

std::string frame_count_lines(const FrameCounts& c, bool live) {
  std::string text;
  const auto line = [&](uint64_t count, const char* what) {
    text += fmt::format("{}{}  {}", text.empty() ? "" : "\n", count, what);
  };
  if (live) {
    line(c.received, "received from the source");
    if (c.camera_broken > 0) line(c.camera_broken, "damaged by the camera or in transit: not shown");
    if (c.camera_missed > 0) line(c.camera_missed, "missed by the camera's driver");
    line(c.replaced_source, "dropped at the source: a newer picture arrived first");
    line(c.replaced_graph, "dropped before the graph: it was busy with an older picture");
    line(c.skipped, "skipped while paused");
    if (c.placeholders > 0) line(c.placeholders, "placeholders: the source was not connected");
  }
  line(c.processed, "processed by the graph");
  if (c.rerun > 0) line(c.rerun, "processed again after a change");
  line(c.shown, "shown");
  line(c.not_shown, "finished but not shown: a newer frame was ready first, or the window was hidden");
  if (!live) line(c.late, "shown late: graph or decoder were slower than the source");
  line(c.repeated, "repeated: an older frame stayed for one more frame duration");
  if (live || c.recorder > 0) line(c.recorder, "missing in the recording: the encoder was too slow");
  if (c.stream > 0)
    line(c.stream, "not sent: the encoder, the network or a receiver of the virtual camera was too slow");
  return text;
}

}  // namespace lensd::ui

#include "app/viewer/ui_map.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace lensd {
namespace {

/// Returns the "value/name" lines. value/placed is the rectangle of the whole picture B in framebuffer
/// pixels.
std::string values(const ui::ViewerUi& ui, const ui::ViewerModel& m) {
  const ui::Placement placed = ui::place(m.picture, ui.own_rect(), ui.view());
  const ui::Rect& r = placed.picture;
  std::string text = fmt::format("value/placed {:.0f} {:.0f} {:.0f} {:.0f}\n", r.x, r.y, r.w, r.h);
  text += fmt::format("value/frame {}\nvalue/paused {}\nvalue/views {}\nvalue/compared {}\n", m.frame_index,
                      m.paused ? 1 : 0, m.views.size(), m.compared ? 1 : 0);
  text += fmt::format("value/counts {} {} {}\n", m.counts.processed, m.counts.shown, m.counts.not_shown);
  text += fmt::format("value/source {}\nvalue/opening {}\nvalue/on_top {}\n", m.source_name,
                      m.progress.opening, ui.state().on_top ? 1 : 0);
  if (!m.notices.empty()) text += fmt::format("value/notice {}\n", m.notices.back().text);
  if (m.live_status.live)
    text += fmt::format("value/live {} {} {}\n", name(m.live_status.state), m.live_status.reconnects,
                        m.live_status.reason);
  const ui::FrameCounts& c = m.counts;
  text += fmt::format("value/losses {} {} {} {} {} {} {}\n", c.received, c.placeholders, c.replaced_source,
                      c.replaced_graph, c.skipped, c.late, c.rerun);
  text += fmt::format("value/sound {:.0f} {} {}\n", m.volume, m.muted ? 1 : 0, sound_reason(m.sound));
  text += fmt::format("value/record {} {}\n", m.recording ? 1 : 0, m.record_frames);
  const SinkStatus& camera = m.virtual_camera;
  text += fmt::format("value/virtual_camera {}\n", camera.wanted ? camera.state + " " + camera.path : "off");
  if (const TrackTable* tracks = m.track_table()) text += fmt::format("value/tracks {}\n", tracks->alive);
  if (!m.probe.empty()) text += fmt::format("value/probe/at {} {}\n", m.probe_x, m.probe_y);
  for (const ui::ProbeRow& row : m.probe)
    text += fmt::format("value/probe/{} {} {} {}\n", row.node, row.value.r, row.value.g, row.value.b);
  return text;
}

}  // namespace

UiMap::UiMap() {
  if (const char* path = std::getenv("LENSD_UI_MAP")) path_ = path;
}

void UiMap::update(const ui::ViewerUi& ui, const ui::ViewerModel& model) {
  if (!wanted()) return;
  std::string controls = ui.widget_map();
  const bool stable = controls == controls_;
  controls_ = std::move(controls);
  if (!stable) return;
  std::string map = controls_ + values(ui, model);
  if (map == written_) return;
  const std::string temporary = path_ + ".tmp";
  std::ofstream(temporary) << map;
  std::error_code ignored;  // a test may remove the folder before the window closes
  std::filesystem::rename(temporary, path_, ignored);
  written_ = std::move(map);
}

}  // namespace lensd

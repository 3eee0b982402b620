// Shows the panels around a picture with synthetic values, for visual checks and screenshots.
//
//   lensd_ui_demo [--size WxH] [--picture FILE.ppm] [--gray] [--frames N] [--screenshot FILE.ppm]
//                 [--help-keys] [--stats] [--notice] [--live] [--details] [--log] [--pointer X,Y]
//                 [--map FILE] [--sources] [--camera] [--controls]
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "tests/unit/ui/sample_model.hpp"
#include "ui/gl/imgui_session.hpp"
#include "ui/gl/presenter.hpp"
#include "ui/viewer_ui.hpp"

using namespace lensd;

namespace {

struct Arguments {
  int width = 1280, height = 720, frames = 0;
  std::string picture, screenshot, map;
  bool gray = false, keys = false, stats = false, notice = false, live = false;
  bool details = false, log = false, sources = false, camera = false, controls = false;
  float pointer_x = -1, pointer_y = -1;
};

Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto next = [&] { return i + 1 < argc ? argv[++i] : ""; };
    if (name == "--size") std::sscanf(next(), "%dx%d", &a.width, &a.height);
    if (name == "--picture") a.picture = next();
    if (name == "--frames") a.frames = std::atoi(next());
    if (name == "--screenshot") a.screenshot = next();
    if (name == "--map") a.map = next();
    if (name == "--pointer") std::sscanf(next(), "%f,%f", &a.pointer_x, &a.pointer_y);
    a.details |= name == "--details", a.log |= name == "--log";
    a.gray |= name == "--gray", a.keys |= name == "--help-keys", a.stats |= name == "--stats";
    a.sources |= name == "--sources", a.camera |= name == "--camera";
    a.controls |= name == "--controls";
    a.notice |= name == "--notice", a.live |= name == "--live";
  }
  return a;
}

/// Returns the picture of a binary PPM file, or a gradient if no file is given.
Frame load(const Arguments& a) {
  std::ifstream in(a.picture, std::ios::binary);
  std::string magic;
  int w = 768, h = 576, most = 255;
  if (in) in >> magic >> w >> h >> most, in.get();
  auto pool =
      FramePool::make({a.gray ? PixelFormat::gray8 : PixelFormat::rgba8, {w, h}}, MemoryKind::host, 1);
  Frame frame = pool->try_acquire();
  const ImageRef image = frame.image();
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      unsigned char rgb[3] = {static_cast<unsigned char>(x), static_cast<unsigned char>(y), 96};
      if (in) in.read(reinterpret_cast<char*>(rgb), 3);
      uint8_t* p = image.row(y) + x * image.channels();
      p[0] = rgb[a.gray ? 1 : 0];
      if (!a.gray) p[1] = rgb[1], p[2] = rgb[2], p[3] = 255;
    }
  return frame;
}

void save(const Image& image, const std::string& path) {
  std::ofstream out(path, std::ios::binary);
  out << "P6 " << image.width() << " " << image.height() << " 255\n";
  for (size_t i = 0; i < image.pixels.size(); i += 4)
    out.write(reinterpret_cast<const char*>(&image.pixels[i]), 3);
}

/// Applies a command to the model, in place of a pipeline.
void obey(ui::ViewerModel& m, const Command& command) {
  test::set_controls(m, command);
  if (const auto* p = std::get_if<Pause>(&command)) m.paused = p->paused;
  if (const auto* p = std::get_if<Seek>(&command))
    m.position_ns = p->relative ? m.position_ns + p->position_ns : p->position_ns;
  if (const auto* p = std::get_if<SetSpeed>(&command)) m.speed = p->speed;
  if (const auto* p = std::get_if<SetLoop>(&command))
    m.loop_file = p->file, m.loop_a_ns = p->a_ns, m.loop_b_ns = p->b_ns;
  if (const auto* p = std::get_if<SetFileLoop>(&command)) m.loop_file = p->on;
  if (const auto* p = std::get_if<EditMark>(&command)) m.graph_mark = p->mark, ++m.graph_version;
  if (const auto* p = std::get_if<SetGraph>(&command)) m.graph = p->graph;
  if (const auto* p = std::get_if<SetEnabled>(&command)) m.graph.find(p->node)->enabled = p->enabled;
  if (const auto* p = std::get_if<SetParam>(&command)) test::set_value(m, p->node, p->param, p->value);
  if (const auto* p = std::get_if<Batch>(&command))
    for (const auto& change : p->changes) std::visit([&](const auto& one) { obey(m, Command(one)); }, change);
}

int show(const Arguments& a) {
  ui::WindowOptions options;
  options.width = a.width, options.height = a.height, options.vsync = a.frames == 0;
  ui::Window window(options);
  ui::ImGuiSession session(window);
  ui::Presenter presenter(ui::make_display_path(ui::DisplayKind::pixel_buffer, nullptr));
  ui::ViewerUi viewer;
  viewer.track_widgets(!a.map.empty());
  viewer.state().timings_view.details = a.details, viewer.state().log.open = a.log;
  viewer.state().help = a.keys, viewer.state().stats = a.stats;
  ui::ViewerModel model = test::sample_model();
  const Frame frame = load(a);
  model.picture = frame.image().format.extent;
  model.live = a.live;
  model.choices = std::make_shared<const ui::SourceChoices>(test::sample_choices());
  model.source_folder = "/videos";
  if (a.sources || a.camera) viewer.state().source.ask = true;
  if (a.controls) {
    model.controls = std::make_shared<const SourceControls>(test::sample_controls());
    viewer.state().camera.open = true;
  }
  if (a.notice)
    model.notices = {{now_ns(), false, "Saved snapshot /home/me/lensd-0001.png"},
                     {now_ns(), true, "edges.low = 2000 is not allowed, expected a number 0 to 1000"}};
  std::vector<Command> commands;
  const int64_t start = now_ns();
  int drawn = 0;
  int64_t present_ns = 0;
  while (window.poll() && (a.frames == 0 || drawn < a.frames)) {
    session.begin();
    if (a.pointer_x >= 0) ImGui::GetIO().MousePos = {a.pointer_x, a.pointer_y};
    viewer.draw(model, window.input(), session.look(), commands);
    if (a.camera) viewer.state().source.camera = "/dev/video0";
    for (const Command& command : commands) obey(model, command);
    commands.clear();
    if (viewer.requests().quit) window.close();
    if (viewer.requests().toggle_fullscreen) window.set_fullscreen(!window.fullscreen());
    if (viewer.requests().leave_fullscreen) window.set_fullscreen(false);
    presenter.show(frame);
    presenter.draw(window.framebuffer(), viewer.picture_rect(), viewer.view());
    session.end();
    if (++drawn == a.frames && !a.screenshot.empty()) save(window.read_pixels(), a.screenshot);
    window.present();
    if (const auto ns = presenter.take_draw_ns()) present_ns = *ns;
  }
  if (!a.map.empty()) std::ofstream(a.map) << viewer.widget_map();
  fmt::print("{}: {} frames, {:.2f} ms each, panels {:.3f} ms, picture {:.2f} ms\n", window.renderer(), drawn,
             to_ms(now_ns() - start) / std::max(drawn, 1), viewer.state().panels_ms, to_ms(present_ns));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return show(parse(argc, argv));
  } catch (const Error& error) {
    fmt::print(stderr, "lensd_ui_demo: {}\n", error.what());
    return static_cast<int>(error.code());
  }
}

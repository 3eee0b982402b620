// Measures the contrast of all drawn text: the colour of each glyph against the fills below it, by the
// formula of WCAG 2.1. Translucent text, as of disabled controls, is measured as it appears.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/base/clock.hpp"
#include "tests/unit/ui/panel_driver.hpp"

namespace lensd::ui {
namespace {

constexpr double kMinContrast = 4.5;

struct TextColour {
  double r = 0, g = 0, b = 0, a = 1;  ///< 0 to 1
};

TextColour unpacked(ImU32 c) {
  const auto part = [&](int shift) { return static_cast<double>(c >> shift & 0xFF) / 255; };
  return {part(IM_COL32_R_SHIFT), part(IM_COL32_G_SHIFT), part(IM_COL32_B_SHIFT), part(IM_COL32_A_SHIFT)};
}

TextColour over(const TextColour& below, const TextColour& c) {
  const auto mix = [&](double from, double to) { return from + (to - from) * c.a; };
  return {mix(below.r, c.r), mix(below.g, c.g), mix(below.b, c.b), 1};
}

double luminance(const TextColour& c) {
  const auto linear = [](double v) { return v <= 0.03928 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
  return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
}

double contrast(const TextColour& a, const TextColour& b) {
  const double one = luminance(a), other = luminance(b);
  return (std::max(one, other) + 0.05) / (std::min(one, other) + 0.05);
}

struct Triangle {
  ImVec2 at[3];
  ImVec4 box;  ///< clipped bounds: left, top, right, bottom
  TextColour colour;
  bool covers(ImVec2 p) const {
    if (p.x < box.x || p.y < box.y || p.x > box.z || p.y > box.w) return false;
    const auto side = [&](int i, int k) {
      return (at[k].x - at[i].x) * (p.y - at[i].y) - (at[k].y - at[i].y) * (p.x - at[i].x);
    };
    const float a = side(0, 1), b = side(1, 2), c = side(2, 0);
    return (a >= 0 && b >= 0 && c >= 0) || (a <= 0 && b <= 0 && c <= 0);
  }
};

/// Processes the drawn triangles in order and collects text with too little contrast.
class ContrastMeter {
 public:
  /// `picture`: the colour behind all panels.
  explicit ContrastMeter(TextColour picture) : picture_(picture) {}

  void measure(const ImDrawData& data) {
    for (int i = 0; i < data.CmdListsCount; ++i) {
      const ImDrawList& list = *data.CmdLists[i];
      for (const ImDrawCmd& command : list.CmdBuffer) measure(list, command);
    }
  }

  size_t glyphs() const { return glyphs_; }
  /// The first place for each pair of colours: "text 146 146 146 on 58 58 58" → "contrast 3.10 at 10,20".
  const std::map<std::string, std::string>& faults() const { return faults_; }

 private:
  void measure(const ImDrawList& list, const ImDrawCmd& command) {
    const ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    if (command.GetTexID() != atlas.TexID) return;
    for (unsigned i = 0; i + 2 < command.ElemCount; i += 3) {
      const ImDrawVert* v[3];
      for (unsigned k = 0; k < 3; ++k)
        v[k] = &list.VtxBuffer[static_cast<int>(command.VtxOffset +
                                                list.IdxBuffer[static_cast<int>(command.IdxOffset + i + k)])];
      Triangle t = triangle(v, command.ClipRect);
      // A glyph is two triangles with corners 0 1 2 and 0 2 3. The first one is measured at the glyph's
      // middle, the second one at the middle of its left edge.
      if (is_glyph(v, atlas))
        measure_glyph(*v[0], *v[2], command.ClipRect);
      else if (t.box.x < t.box.z && t.box.y < t.box.w && t.colour.a > 0)
        drawn_.push_back(t);
    }
  }

  static Triangle triangle(const ImDrawVert* const* v, const ImVec4& clip) {
    Triangle t;
    TextColour& sum = t.colour;
    sum.a = 0;
    for (int k = 0; k < 3; ++k) {
      t.at[k] = v[k]->pos;
      const TextColour c = unpacked(v[k]->col);
      sum.r += c.r / 3, sum.g += c.g / 3, sum.b += c.b / 3, sum.a += c.a / 3;
    }
    const auto [left, right] = std::minmax({t.at[0].x, t.at[1].x, t.at[2].x});
    const auto [top, bottom] = std::minmax({t.at[0].y, t.at[1].y, t.at[2].y});
    t.box = {std::max(left, clip.x), std::max(top, clip.y), std::min(right, clip.z),
             std::min(bottom, clip.w)};
    return t;
  }

  static bool is_glyph(const ImDrawVert* const* v, const ImFontAtlas& atlas) {
    const ImVec2 white = atlas.TexUvWhitePixel, uv = v[0]->uv;
    if (uv.x == white.x && uv.y == white.y) return false;
    return std::none_of(std::begin(atlas.TexUvLines), std::end(atlas.TexUvLines),
                        [&](const ImVec4& line) { return uv.y == line.y || uv.y == line.w; });
  }

  void measure_glyph(const ImDrawVert& a, const ImDrawVert& c, const ImVec4& clip) {
    const ImVec2 middle{(a.pos.x + c.pos.x) * 0.5f, (a.pos.y + c.pos.y) * 0.5f};
    if (middle.x < clip.x || middle.y < clip.y || middle.x > clip.z || middle.y > clip.w) return;
    ++glyphs_;
    TextColour below = picture_;
    for (const Triangle& t : drawn_)
      if (t.covers(middle)) below = over(below, t.colour);
    const TextColour ink = over(below, unpacked(a.col));
    const double found = contrast(ink, below);
    if (found >= kMinContrast) return;
    const auto text = [](const TextColour& k) {
      return fmt::format("{:.0f} {:.0f} {:.0f}", k.r * 255, k.g * 255, k.b * 255);
    };
    faults_.emplace(fmt::format("text {} on {}", text(ink), text(below)),
                    fmt::format("contrast {:.2f} at {:.0f},{:.0f}", found, middle.x, middle.y));
  }

  TextColour picture_;
  std::vector<Triangle> drawn_;
  std::map<std::string, std::string> faults_;
  size_t glyphs_ = 0;
};

class Contrast : public PanelDriver {
 protected:
  /// Measures the last frame over a black and over a white picture.
  void expect_legible(const std::string& what, size_t least_glyphs = 200) {
    frames(4);
    for (const double v : {0.0, 1.0}) {
      ContrastMeter meter({v, v, v});
      meter.measure(*ImGui::GetDrawData());
      EXPECT_GE(meter.glyphs(), least_glyphs) << what;
      for (const auto& [colours, where] : meter.faults())
        ADD_FAILURE() << what << ": " << colours << ", " << where;
    }
  }
};

TEST_F(Contrast, PanelsAreLegible) {
  expect_legible("panels");
  viewer.state().scopes.open = viewer.state().tracks.open = true;
  expect_legible("scopes and tracks");
  model.notices = {{now_ns(), true, "edges.low = 2000 is not allowed"}, {now_ns(), false, "saved"}};
  viewer.state().stats = true;
  expect_legible("notices and statistics");
  model.sound = SoundState::refused;
  expect_legible("no sound");
  for (const CompareMode mode : {CompareMode::split, CompareMode::side, CompareMode::difference}) {
    viewer.state().compare.mode = mode;
    expect_legible("comparison");
  }
}

TEST_F(Contrast, DimmedNodesAreLegible) {
  frames(4);
  GraphEditor& editor = viewer.state().editor;
  editor.toggle_solo("median");
  expect_legible("nodes after the soloed one");
  for (const char* name : {"graph/edges/title", "graph/edges/low", "graph/edges/aperture"}) {
    if (there(name)) point_at(name);
    expect_legible(std::string("pointer after the soloed node on ") + name);
  }
  editor.toggle_solo("median");
  for (const NodeDesc& node : std::vector<NodeDesc>(editor.graph().nodes)) editor.set_enabled(node.id, false);
  expect_legible("disabled nodes");
}

TEST_F(Contrast, ProbeAndCropAreLegible) {
  type('x');
  model.probe = {{"output", false, false, {0x11, 0xdd, 0x11, 0xff}}, {"source", true, false, {9, 9, 9, 255}}};
  const Rect area = rect("picture");
  point(area.x + area.w / 2, area.y + area.h / 2);
  expect_legible("probe");
  EXPECT_TRUE(there("probe/table"));
  type('x');
  viewer.state().editor.add("crop", "median");
  frames(3);
  click("graph/crop/on_picture"), frames(2);
  EXPECT_TRUE(there("crop/label"));
  expect_legible("rectangle of a crop");
}

TEST_F(Contrast, PixelValuesAreLegible) {
  frames(4);
  viewer.state().panels = false;
  viewer.state().view.zoom = 48 / fit_scale(model.picture, viewer.picture_rect());
  frames(4);
  const ProbeState& probe = viewer.state().probe;
  for (const Rgba16 c : {Rgba16{117, 117, 117, 255},
                         {118, 118, 118, 255},
                         {127, 127, 127, 255},
                         {200, 60, 60, 255},
                         {0, 140, 0, 255},
                         {90, 90, 255, 255}}) {
    model.patch_x = probe.patch_x, model.patch_y = probe.patch_y, model.patch_size = probe.patch;
    model.patch.assign(static_cast<size_t>(probe.patch.width) * static_cast<size_t>(probe.patch.height), c);
    frames(2);
    ContrastMeter meter(unpacked(IM_COL32(c.r, c.g, c.b, 255)));
    meter.measure(*ImGui::GetDrawData());
    EXPECT_GE(meter.glyphs(), 200u);
    for (const auto& [colours, where] : meter.faults()) ADD_FAILURE() << colours << ", " << where;
  }
}

TEST_F(Contrast, EveryControlUnderThePointerIsLegible) {
  frames(4);
  std::set<std::string> names;
  for (const auto& [name, r] : viewer.widget_rects())
    if (r.y + r.h < 720 && name != "picture") names.insert(name);
  ASSERT_GT(names.size(), 30u);
  for (const std::string& name : names) {
    if (there(name)) point_at(name);
    frames(30);  // until the tooltip appears
    expect_legible("pointer on " + name);
  }
}

TEST_F(Contrast, DialogsAndListsAreLegible) {
  model.choices = std::make_shared<const SourceChoices>(test::sample_choices());
  model.source_folder = "/videos";
  viewer.state().source.ask = true;
  expect_legible("source dialog");
  viewer.state().source.camera = "/dev/video0";
  expect_legible("camera formats");
  viewer.state().source.problem = "/gone/lost.avi: no such file";
  expect_legible("source problem");
  press({.key = Key::escape});
  frames(3);
  viewer.state().help = true;
  expect_legible("keys");
  ImGui::GetIO().DisplaySize = {800, 600};
  expect_legible("keys in a small window");
  ImGui::GetIO().DisplaySize = {1280, 720};
  viewer.state().help = false;
  viewer.state().timings_view.details = true;
  expect_legible("timings");
  viewer.state().timings_view.details = false, viewer.state().log.open = true;
  expect_legible("log");
  viewer.state().log.open = false;
  model.playlist = std::make_shared<const std::vector<std::string>>(
      std::vector<std::string>{"/videos/a.mp4", "/videos/b.mp4"});
  model.loop_a_ns = 10'000'000'000, model.loop_b_ns = 20'000'000'000;
  expect_legible("playlist");
  const Rect area = rect("picture");
  point(area.x + area.w / 2, area.y + 60), frames(2);
  button(true, 1), frame();
  button(false, 1), frames(2);
  EXPECT_TRUE(there("menu/open"));
  expect_legible("menu of the picture");
  press({.key = Key::escape}), frames(2);
  type('+'), frames(2);
  expect_legible("filters");
  press({.key = Key::escape}), frames(2);
  click("presets/menu");
  expect_legible("presets");
}

TEST_F(Contrast, LiveStatesAreLegible) {
  model.live = model.live_status.live = true, model.seekable = false;
  model.live_status.reason = "the connection was closed by the sender";
  for (const LiveState state :
       {LiveState::connecting, LiveState::playing, LiveState::stalled, LiveState::reconnecting}) {
    model.live_status.state = state;
    expect_legible(name(state));
    EXPECT_EQ(there("live/state"), state != LiveState::playing);
    if (!there("live/state")) continue;
    const Rect box = rect("live/state"), area = viewer.picture_rect();
    EXPECT_NEAR(box.x + box.w / 2, area.x + area.w / 2, 1);
    EXPECT_NEAR(box.y + box.h / 2, area.y + area.h / 2, 1);
  }
}

TEST_F(Contrast, AStalledFileSaysSo) {
  EXPECT_FALSE(there("live/state"));
  model.stalled_since_ns = 1;
  frame();
  EXPECT_TRUE(there("live/state"));
  expect_legible("stalled file");
}

TEST(ContrastFormula, KnownValues) {
  EXPECT_NEAR(contrast({0, 0, 0}, {1, 1, 1}), 21, 1e-9);
  EXPECT_NEAR(contrast(unpacked(colour::gray(0x77)), {1, 1, 1}), 4.48, 0.01);
}

}  // namespace
}  // namespace lensd::ui

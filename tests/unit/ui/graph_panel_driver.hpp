// The graph panel with simulated input, without a display, and a pipeline that applies commands immediately.
#pragma once

#include <imgui_internal.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/unit/common/temporary_folder.hpp"
#include "tests/unit/ui/panel_driver.hpp"

namespace lensd::ui {

class GraphPanel : public PanelDriver {
 protected:
  void SetUp() override {
    PanelDriver::SetUp();
    ImGui::GetIO().DisplaySize = {1280, 1000};
    viewer.state().presets = PresetShelf({folder.path(), {}});
    frames(3);  // until the layout has settled
  }
  /// Adds the only filter that `word` matches, below the selected node or at the end.
  void add_filter(const char* word) {
    press({.character = '+'});
    frame();
    type(word);
    press({.key = Key::enter});
    frame();
  }
  /// Simulates a pipeline that applies commands immediately.
  void follow(const Commands& commands) override {
    for (const Command& command : commands) obey(command);
    for (auto& message : viewer.requests().messages) messages.push_back(message.second);
  }
  void obey(const Command& command) {
    if (const auto* c = std::get_if<EditMark>(&command)) model.graph_mark = c->mark, ++model.graph_version;
    if (const auto* c = std::get_if<SetGraph>(&command)) model.graph = c->graph;
    if (const auto* c = std::get_if<SetSourceControls>(&command)) source_controls = *c;
    if (const auto* c = std::get_if<SetPrecision>(&command)) model.precision = c->precision;
    if (const auto* c = std::get_if<SetEnabled>(&command)) model.graph.find(c->node)->enabled = c->enabled;
    if (const auto* c = std::get_if<SetParam>(&command)) test::set_value(model, c->node, c->param, c->value);
    if (const auto* c = std::get_if<Batch>(&command))
      for (const auto& change : c->changes)
        std::visit([this](const auto& one) { obey(Command(one)); }, change);
    if (const auto* c = std::get_if<Solo>(&command)) solo = c->node;
  }
  void drag(const std::string& from, float to_x, float to_y) {
    point_at(from);
    button(true), frame();
    for (const float part : {0.3f, 0.7f, 1.f}) {
      const ImVec2 at = ImGui::GetIO().MousePos;
      point(at.x + (to_x - at.x) * part, at.y + (to_y - at.y) * part), frame();
    }
    frame();
    button(false), frames(2);
  }
  void press(KeyPress key) { PanelDriver::press(key), frame(); }
  /// Returns the rectangle of the only open popup.
  static Rect popup() {
    const auto& popups = ImGui::GetCurrentContext()->OpenPopupStack;
    const ImGuiWindow* const window = popups.Size == 1 ? popups.back().Window : nullptr;
    EXPECT_TRUE(window);
    return window ? Rect{window->Pos.x, window->Pos.y, window->Size.x, window->Size.y} : Rect{};
  }
  std::string order() const {
    std::string text;
    for (const NodeDesc& node : model.graph.nodes) text += node.id + " ";
    return text;
  }
  ParamValue value(const char* node, const char* param) const {
    const NodeDesc& desc = *model.graph.find(node);
    return value_of(desc, *test::sample_registry().find(desc.filter)->schema().find(param));
  }

  std::vector<std::string> messages;
  std::string solo;
  std::optional<SetSourceControls> source_controls;  ///< the newest
  TemporaryFolder folder;
};

}  // namespace lensd::ui

// Three slots A, B and C. Each contains a whole graph, so that a key press switches between variants.
#include <string>

#include "ui/keys.hpp"
#include "ui/panel.hpp"

namespace lensd::ui {

void switch_slot(PanelContext& ctx, size_t to) {
  SlotState& s = ctx.state.slots;
  GraphEditor& editor = ctx.editor();
  const size_t from = editor.history().slot();
  if (to >= s.graphs.size() || to == from || !editor.registry()) return;
  SlotState::Slot& own = s.graphs[from];
  own = {true, editor.graph(), editor.preset()};
  const SlotState::Slot& wanted = s.graphs[to];
  const std::string name(1, static_cast<char>('A' + to));
  const SlotState::Slot next = wanted.used ? wanted : own;
  if (!editor.replace(next.graph, "graph " + name, next.preset, to)) return;
  ctx.notify(
      false,
      kSlotIs + name +
          (wanted.used ? "" : fmt::format(": a copy of {}, to be changed", static_cast<char>('A' + from))));
  s.graphs[to] = {true, next.graph, next.preset};
}

void draw_slots(PanelContext& ctx) {
  const SlotState& s = ctx.state.slots;
  if (!ctx.editor().registry()) return;
  const float side = ctx.px(22), gap = ctx.px(2);
  const float count = static_cast<float>(s.graphs.size());
  ImGui::SameLine();
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - count * (side + gap));
  const FontScope font(ctx.look.small);
  const size_t current = ctx.editor().history().slot();
  size_t chosen = current;
  for (size_t i = 0; i < s.graphs.size(); ++i) {
    const char name[] = {static_cast<char>('A' + i), '\0'};
    if (toggle_button(ctx.look, name, i == current, side)) chosen = i;
    ctx.item("slots", name,
             i == current       ? fmt::format("Graph {} is shown", name)
             : s.graphs[i].used ? fmt::format("Switch to graph {}", name)
                                : fmt::format("Copy this graph to {} and change it there", name),
             key_hint(Action::graph_slot));
    if (i + 1 < s.graphs.size()) ImGui::SameLine(0, gap);
  }
  switch_slot(ctx, chosen);
}

}  // namespace lensd::ui

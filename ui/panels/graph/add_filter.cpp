// The button that adds a filter, and its list. Typing filters the list. The arrow keys and Enter, or the
// mouse, choose.
#include <algorithm>
#include <cctype>

#include "core/base/text/text.hpp"
#include "ui/keys.hpp"
#include "ui/panel.hpp"
#include "ui/panels/picture/edit_crop.hpp"

namespace lensd::ui {
namespace {

constexpr float kListWidth = 420, kLineHeight = 38;  // logical pixels
constexpr int kLongestList = 9;                      ///< more lines scroll
/// A typed word of at least this many letters is also found within words: "scale" finds "grayscale".
constexpr size_t kInWord = 4;
constexpr int kLastRank = 3;

/// Returns true if a word of the text begins with `part`: "edg" finds "edges", "ed" does not find "removed".
bool begins_a_word(const std::string& text, const std::string& part) {
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    if (at == 0 || !std::isalnum(static_cast<unsigned char>(text[at - 1]))) return true;
  return false;
}

/// Returns how well a filter matches a word: smaller is better, negative is no match.
int word_rank(const FilterSchema& schema, const std::string& word) {
  const std::string filter = lower_case(schema.name);
  if (filter.starts_with(word)) return 0;
  if (filter.find(word) != std::string::npos) return 1;
  const std::string doc = lower_case(schema.doc);
  if (begins_a_word(doc, word)) return 2;
  return word.size() >= kInWord && doc.find(word) != std::string::npos ? 3 : -1;
}

int rank(const FilterSchema& schema, const std::string& typed) {
  int worst = 0;
  for (size_t at = 0; at < typed.size();) {
    const size_t end = std::min(typed.find(' ', at), typed.size());
    if (end > at) {
      const int one = word_rank(schema, typed.substr(at, end - at));
      if (one < 0) return -1;
      worst = std::max(worst, one);
    }
    at = end + 1;
  }
  return worst;
}

/// Returns the matching filters, sorted by rank, then in the registry's order.
std::vector<const FilterSchema*> matching(const Registry& registry, const std::string& text) {
  const std::string typed = lower_case(text);
  std::vector<const FilterSchema*> found;
  for (int wanted = 0; wanted <= kLastRank; ++wanted)
    for (const FilterEntry& filter : registry.filters)
      if (rank(filter.schema(), typed) == wanted) found.push_back(&filter.schema());
  return found;
}

/// Returns the node below which a new node is added: the selected node, else the output.
std::string insert_after(const PanelContext& ctx) {
  const GraphDesc& graph = ctx.editor().graph();
  return graph.find(ctx.state.graph.selected) ? ctx.state.graph.selected : graph.output;
}

void add(PanelContext& ctx, const std::string& filter) {
  const std::string id = ctx.editor().add(filter, insert_after(ctx));
  if (!id.empty()) {
    ctx.state.graph.select_new(id);
    const FilterEntry* entry = ctx.editor().registry()->find(filter);
    if (entry && has_rectangle(entry->schema())) edit_crop(ctx.state, id);
  }
  ImGui::CloseCurrentPopup();
}

bool draw_line(PanelContext& ctx, const FilterSchema& schema, bool marked, bool follow) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size{ImGui::GetContentRegionAvail().x, ctx.px(kLineHeight)};
  const bool chosen = ImGui::InvisibleButton(schema.name.c_str(), size);
  ctx.mark("add", schema.name);
  const bool hovered = ImGui::IsItemHovered();
  if (marked && follow) ImGui::SetScrollHereY();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 end{at.x + size.x, at.y + size.y};
  if (marked || hovered) list.AddRectFilled(at, end, marked ? colour::gray(62) : colour::gray(50), ctx.px(3));
  if (marked) list.AddRectFilled(at, {at.x + ctx.px(2), end.y}, colour::accent);
  ImGui::PushFont(ctx.look.strong);
  list.AddText({at.x + ctx.px(10), at.y + ctx.px(3)}, colour::text, schema.name.c_str());
  ImGui::PopFont();
  ImGui::PushFont(ctx.look.small);
  const std::string doc = elided(schema.doc, size.x - ctx.px(20));
  list.AddText({at.x + ctx.px(10), at.y + ctx.px(20)}, colour::dim, doc.c_str());
  ImGui::PopFont();
  if (doc != schema.doc) tooltip(ctx.look, schema.doc);
  return chosen;
}

void draw_list(PanelContext& ctx) {
  GraphPanelState& g = ctx.state.graph;
  if (g.focus_add) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(-1);
  const bool typed = input_text("##filter", g.add_filter, 0, "type to find a filter");
  ctx.mark("add", "search");
  if (typed) g.add_choice = 0;
  const auto found = matching(*ctx.editor().registry(), g.add_filter);
  const int count = static_cast<int>(found.size());
  const int before = g.add_choice;
  for (const KeyPress& press : ctx.input.presses)
    g.add_choice += press.key == Key::down ? 1 : press.key == Key::up ? -1 : 0;
  g.add_choice = std::clamp(g.add_choice, 0, std::max(count - 1, 0));
  const float lines = static_cast<float>(std::clamp(count, 1, kLongestList));
  const float most = ImGui::GetIO().DisplaySize.y * 0.6f;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  ImGui::BeginChild("##filters", {0, std::min(lines * ctx.px(kLineHeight), most)});
  const FilterSchema* chosen = nullptr;
  for (int i = 0; i < count; ++i)
    if (draw_line(ctx, *found[static_cast<size_t>(i)], i == g.add_choice, g.add_choice != before || typed))
      chosen = found[static_cast<size_t>(i)];
  if (count == 0) text_coloured(colour::dim, "No filter matches in name or description.");
  ImGui::EndChild();
  ImGui::PopStyleVar();
  ImGui::PushFont(ctx.look.small);
  const std::string after = insert_after(ctx);
  text_coloured(colour::dim, elided((after == kSourceNode ? "Goes to the top" : "Goes below " + after) +
                                        " · ↑ ↓ choose, Enter adds, Esc closes",
                                    ImGui::GetContentRegionAvail().x));
  ImGui::PopFont();
  if (ctx.pressed(Key::enter) && !g.focus_add && count > 0) chosen = found[static_cast<size_t>(g.add_choice)];
  g.focus_add = false;
  if (chosen) add(ctx, chosen->name);
  if (ctx.pressed(Key::escape)) ImGui::CloseCurrentPopup();
}

}  // namespace

void draw_add_filter(PanelContext& ctx) {
  GraphPanelState& g = ctx.state.graph;
  if (!ctx.editor().registry()) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const bool pressed = ImGui::Button("##add", {width, 0});
  ctx.mark("graph", "add");
  const ImVec2 end = ImGui::GetItemRectMax();
  const float middle = (at.y + end.y) * 0.5f;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const char* text = "Add filter";
  const float text_width = ImGui::CalcTextSize(text).x;
  const float x = at.x + (width - text_width - ctx.px(18)) * 0.5f;
  draw_icon(list, {x + ctx.px(5), middle}, ctx.px(11), Icon::plus, colour::accent);
  list.AddText({x + ctx.px(18), middle - ImGui::GetFontSize() * 0.5f}, colour::text, text);
  tooltip(ctx.look, "Add a filter below the selected node", key_hint(Action::add_filter));
  if (pressed || std::exchange(g.ask_add, false)) {
    g.add_filter.clear(), g.add_choice = 0, g.focus_add = true;
    ImGui::OpenPopup("##add_list");
  }
  // Reserve the height of the longest list, so that the list stays in place while typing shortens it.
  place_popup(ctx.look, {at.x, end.y + ctx.px(2)}, ctx.px(kLongestList * kLineHeight + 80));
  ImGui::SetNextWindowSize({std::min(ctx.px(kListWidth), ImGui::GetIO().DisplaySize.x - ctx.px(24)), 0});
  const VarScope window_padding(ImGuiStyleVar_WindowPadding, {ctx.px(10), ctx.px(10)});
  g.add_open = ImGui::BeginPopup("##add_list", ImGuiWindowFlags_NoMove);
  if (g.add_open) {
    draw_list(ctx);
    ImGui::EndPopup();
  }
}

}  // namespace lensd::ui

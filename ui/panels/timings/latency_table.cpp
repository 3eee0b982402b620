// Draws the latency from decoder to screen by stages, with percentiles.
#include "ui/panels/timings/timings.hpp"

namespace lensd::ui {

const PassStats* latency_of(const std::vector<PassStats>& rows, std::string_view stage) {
  for (const PassStats& row : rows)
    if (row.node == kLatencyRow && row.pass == stage && row.count > 0) return &row;
  return nullptr;
}

std::span<const LatencyStage> latency_stages() {
  static constexpr LatencyStage kStages[] = {
      {"ahead", "decoded ahead", "From decoder to graph: files are decoded a few frames ahead"},
      {"graph", "graph", "The filters; on a GPU, until they were queued"},
      {"pace", "waiting until due", "Waiting for the frame's presentation time"},
      {"texture", "to the display", "Until the display thread had the frame in a texture"},
      {"present", "present", "Drawing the window and presenting it, including vsync"},
      {"work", "work, without the waits", "The total without the two waits: decoded ahead, and until due",
       true},
      {"total", "decode to present", "From the decoder's output to the screen, waits included", true}};
  return kStages;
}

void draw_latency_table(PanelContext& ctx) {
  const float number = ImGui::CalcTextSize("99.99").x + ctx.px(2);
  const VarScope cell_padding(ImGuiStyleVar_CellPadding, {ctx.px(4), ctx.px(2)});
  if (ImGui::BeginTable("latency", 4, ImGuiTableFlags_NoPadOuterX | ImGuiTableFlags_SizingFixedFit)) {
    ImGui::TableSetupColumn("stage", ImGuiTableColumnFlags_WidthStretch);
    for (const char* name : {"p50", "p95", "p99"})
      ImGui::TableSetupColumn(name, ImGuiTableColumnFlags_WidthFixed, number);
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    text_coloured(colour::faint, "latency, ms");
    for (const char* name : {"p50", "p95", "p99"}) {
      ImGui::TableNextColumn();
      text_right(colour::faint, name);
    }
    for (const LatencyStage& stage : latency_stages()) {
      const PassStats* row = latency_of(ctx.state.timings, stage.name);
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      text_coloured(stage.strong ? colour::text : colour::dim, stage.label);
      ctx.item("latency", stage.name, stage.doc);
      for (const auto value : {&PassStats::p50_ns, &PassStats::p95_ns, &PassStats::p99_ns}) {
        ImGui::TableNextColumn();
        text_right(!row           ? colour::faint
                   : stage.strong ? colour::text
                                  : colour::dim,
                   row ? ms_text(row->*value) : "n/a");
      }
    }
    ImGui::EndTable();
  }
}

}  // namespace lensd::ui

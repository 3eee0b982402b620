// The stages of a frame's way from the decoder to the screen, with their percentiles.
#include "ui/panels/timings.hpp"

namespace lensd::ui {

const PassStats* latency_of(const std::vector<PassStats>& rows, std::string_view stage) {
  for (const PassStats& row : rows)
    if (row.node == kLatencyRow && row.pass == stage && row.count > 0) return &row;
  return nullptr;
}

void draw_latency_table(PanelContext& ctx) {
  struct Stage {
    const char *name, *label, *doc;
    bool strong;
  };
  constexpr Stage stages[] = {
      {"ahead", "decoded ahead", "From the decoder to the graph: files are decoded a few frames ahead",
       false},
      {"graph", "graph", "The filters; on a GPU, until they were queued", false},
      {"pace", "waiting for its time", "Waiting for the moment at which the frame is due", false},
      {"texture", "to the display", "Until the display took it and had it in a texture", false},
      {"present", "present", "Drawing the window and handing it to the screen, with the monitor's pace",
       false},
      {"work", "work, without the waits", "All of it but the two waits: decoded ahead, and for its time",
       true},
      {"total", "decode to present", "From the decoder's delivery to the screen, waits included", true}};
  const float number = ImGui::CalcTextSize("99.99").x + ctx.px(2);
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {ctx.px(4), ctx.px(2)});
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
    for (const Stage& stage : stages) {
      const PassStats* row = latency_of(ctx.state.timings, stage.name);
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      text_coloured(stage.strong ? colour::text : colour::dim, stage.label);
      ctx.mark("latency", stage.name);
      tooltip(ctx.look, stage.doc);
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
  ImGui::PopStyleVar();
}

}  // namespace lensd::ui

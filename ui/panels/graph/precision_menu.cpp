// Draws the bits per sample between the nodes, and the menu that changes them.
#include "ui/panel.hpp"

namespace lensd::ui {
namespace {

constexpr float kPrecisionMenuWidth = 268;  // logical pixels

void draw_item(PanelContext& ctx, Precision precision, const char* text, const char* note) {
  const char* name = kPrecisionNames[static_cast<size_t>(precision)];
  if (ImGui::MenuItem(text, nullptr, ctx.model.precision == precision)) ctx.send(SetPrecision{precision});
  ctx.mark("precision", name);
  ImGui::Indent(ctx.px(8));
  ImGui::PushFont(ctx.look.small);
  wrapped_text(colour::dim, note);
  ImGui::PopFont();
  ImGui::Unindent(ctx.px(8));
}

}  // namespace

float precision_button_width(const PanelContext& ctx) {
  return ctx.px(50);
}

void draw_precision_button(PanelContext& ctx) {
  const std::string text = fmt::format("{} bit", ctx.model.bits);
  const bool chosen = ctx.model.precision != Precision::automatic;
  {
    const FontScope font(ctx.look.small);
    const VarScope centred(ImGuiStyleVar_FramePadding, {ctx.px(4), ctx.px(4)});
    ImGui::PushStyleColor(ImGuiCol_Button, IM_COL32_BLACK_TRANS);
    ImGui::PushStyleColor(ImGuiCol_Text, chosen ? colour::text : colour::dim);
    if (ImGui::Button((text + "###precision").c_str(), {precision_button_width(ctx), ctx.px(24)}))
      ImGui::OpenPopup("##precision_menu");
    ImGui::PopStyleColor(2);
  }
  ctx.item("graph", "precision",
           fmt::format("Samples between the nodes have {} bits{}", ctx.model.bits,
                       chosen ? "" : ", chosen for the source"));
  const VarScope window_padding(ImGuiStyleVar_WindowPadding, {ctx.px(12), ctx.px(10)});
  float& height = ctx.state.preset_menu.precision_height;
  place_popup(ctx.look, {ImGui::GetItemRectMin().x, ImGui::GetItemRectMax().y + ctx.px(4)}, height);
  ImGui::SetNextWindowSize({ctx.px(kPrecisionMenuWidth), 0});
  if (!ImGui::BeginPopup("##precision_menu")) return;
  draw_item(ctx, Precision::automatic, "Automatic",
            "16 bits for sources with more than 8 bits or HDR, else 8 bits");
  draw_item(ctx, Precision::eight, "8 bits", "Fastest");
  draw_item(ctx, Precision::sixteen, "16 bits", "No visible steps after several filters; about half as fast");
  height = ImGui::GetWindowHeight();
  if (ctx.pressed(Key::escape)) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

}  // namespace lensd::ui

// Shows names from outside, such as file names, in rows and labels of ImGui. ImGui ends a label at "##". Call
// from the UI thread only.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>

namespace lensd::ui {

/// Draws a line of text that can be chosen, `width` ImGui units wide. Returns true if it was pressed.
bool text_row(const std::string& text, bool chosen, float width, ImU32 ink);
/// Returns the text for the label of an ImGui item, on one line and with a space within "##".
std::string label_text(std::string_view text);

}  // namespace lensd::ui

// Editing of a crop node's rectangle on the picture.
#pragma once

#include <string>

#include "ui/panel.hpp"

namespace lensd::ui {

/// Begins to edit a crop node, and ends a comparison, whose pictures would hide the rectangle.
void edit_crop(UiState& state, const std::string& node);

}  // namespace lensd::ui

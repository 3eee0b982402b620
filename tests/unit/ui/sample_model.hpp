// A synthetic state of the program, for tests and screenshots of the panels.
#pragma once

#include "ui/model/model.hpp"

namespace lensd::test {

/// Filters that have parameters but cannot run: median, canny, convolve, correlate, crop, and mix, which has
/// two inputs.
const Registry& sample_registry();

/// Changes a parameter of the model's graph as the pipeline does.
void set_value(ui::ViewerModel& model, const std::string& node, const std::string& param, ParamValue value);

/// Removes a node from the model's graph, as another client does.
void drop_node(ui::ViewerModel& model, const std::string& id);

/// Returns a model of a 768×576 file at 12.48 s: three nodes with every type of parameter, and timings.
ui::ViewerModel sample_model();

/// Returns controls of a camera: one of each type, and some that cannot be set.
SourceControls sample_controls();
/// Changes controls as the camera does. A manual exposure makes the exposure time active.
void set_controls(ui::ViewerModel& model, const Command& command);

/// Returns a folder with a few files, recent sources, and a camera with many modes.
ui::SourceChoices sample_choices();

}  // namespace lensd::test

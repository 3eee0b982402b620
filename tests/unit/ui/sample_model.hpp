// A synthetic state of the program, for tests and screenshots of the panels.
#pragma once

#include "ui/model/model.hpp"

namespace lensd::test {

/// The filters of sample_model(): median, canny and convolve, which have parameters but cannot run, and mix,
/// which takes two inputs, and crop.
const Registry& sample_registry();

/// Changes a parameter of the model's graph like the pipeline does.
void set_value(ui::ViewerModel& model, const std::string& node, const std::string& param, ParamValue value);

/// Three nodes with every kind of parameter, timings, and a 768×576 file at 12.48 s.
ui::ViewerModel sample_model();

/// A folder with a few files, recent sources, and a camera with many modes.
ui::SourceChoices sample_choices();

}  // namespace lensd::test

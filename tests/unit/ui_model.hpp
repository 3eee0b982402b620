// A made-up state of the program, for tests and pictures of the panels.
#pragma once

#include "ui/model.hpp"

namespace lensd::test {

/// Three nodes with every kind of parameter, timings, and a 768×576 file at 12.48 s.
ui::ViewerModel sample_model();

}  // namespace lensd::test

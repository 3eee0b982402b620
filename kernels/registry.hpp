// The visible list of filters. To add one: a folder here, a line in CMakeLists.txt, a line in registry.cpp.
#pragma once

#include "core/graph/filter.hpp"

namespace lensd {

/// Every filter that a graph may name. Immutable, any thread.
const Registry& registry();

}  // namespace lensd

// The list of filters. A new filter needs a folder here and a line in registry.cpp; see
// docs/guides/adding-a-filter.md.
#pragma once

#include "core/graph/filter.hpp"

namespace lensd {

/// Returns all filters that a graph may use. Immutable. Thread-safe.
const Registry& registry();

}  // namespace lensd

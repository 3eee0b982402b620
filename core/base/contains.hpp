// A search in lists, which C++20's library lacks.
#pragma once

#include <algorithm>
#include <functional>
#include <ranges>

namespace lensd {

/// Returns true if an element, or its projection, equals `value`.
template <class Range, class Value, class Projection = std::identity>
constexpr bool contains(const Range& range, const Value& value, Projection projection = {}) {
  return std::ranges::find(range, value, projection) != std::ranges::end(range);
}

}  // namespace lensd

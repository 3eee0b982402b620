// Linear search in ranges, because std::ranges::contains() is not in C++20.
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

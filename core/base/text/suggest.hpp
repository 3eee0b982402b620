// Suggestions for mistyped names. Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lensd {

/// Returns the name in `known` with the fewest added, missing, wrong or transposed letters compared with
/// `typed`, ignoring case. Allows typed.size() / 3 such differences, but at least 1 and at most 3. Returns ""
/// if no name is this close.
std::string closest_name(std::string_view typed, const std::vector<std::string>& known);

/// Returns "did you mean NAME?", or `otherwise` if closest_name() finds none.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& known,
                         std::string otherwise = {});

}  // namespace lensd

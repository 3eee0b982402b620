// Suggestions for mistyped names. Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lensd {

/// The name in `known` that `typed` is a slip of: few letters are added, missing, wrong or exchanged. Empty
/// if there is none.
std::string closest_name(std::string_view typed, const std::vector<std::string>& known);

/// "did you mean NAME?", or `otherwise` if no name is close.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& known,
                         std::string otherwise = {});

}  // namespace lensd

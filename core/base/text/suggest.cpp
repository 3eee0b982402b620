#include "core/base/text/suggest.hpp"

#include <algorithm>

#include "core/base/text/text.hpp"

namespace lensd {
namespace {

/// Returns the optimal string alignment distance: Levenshtein distance with transpositions of adjacent bytes.
/// Keeps three rows of the table.
size_t edits(std::string_view a, std::string_view b) {
  std::vector<size_t> before, last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last, last = row;
  }
  return last[b.size()];
}

}  // namespace

std::string closest_name(std::string_view typed, const std::vector<std::string>& known) {
  constexpr size_t kLongest = 100;  // in bytes; longer texts are not names, and edits() takes quadratic time
  if (typed.size() > kLongest) return {};
  const std::string wanted = lower_case(typed);
  std::string best;
  size_t least = 1 + std::clamp<size_t>(typed.size() / 3, 1, 3);
  for (const std::string& name : known) {
    const size_t distance = edits(wanted, lower_case(name));
    if (distance >= least || distance >= name.size()) continue;
    least = distance, best = name;
  }
  return best;
}

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& known,
                         std::string otherwise) {
  const std::string name = closest_name(typed, known);
  return name.empty() ? otherwise : "did you mean " + name + "?";
}

}  // namespace lensd

#include "core/graph/filter.hpp"

#include "core/graph/edit.hpp"

namespace lensd {

void Filter::read_stats(const void*, std::vector<Statistic>&) const {}

std::optional<std::string> Filter::set(const std::string& name, const ParamValue& value) {
  const CheckedParam checked = check_param(schema(), name, value);
  if (!checked.spec) return checked.problem;
  checked.spec->put(params(), checked.value);
  return std::nullopt;
}

const FilterEntry* Registry::find(std::string_view name) const noexcept {
  for (const FilterEntry& filter : filters)
    if (filter.schema().name == name) return &filter;
  return nullptr;
}

std::vector<PixelFormat> accepted_formats(const FilterEntry& entry) {
  std::vector<PixelFormat> formats;
  for (const int bytes : {1, 2})
    for (const bool gray : {true, false}) {
      if (entry.accepts == Accepts::any || (entry.accepts == Accepts::gray) == gray)
        formats.push_back(make_format(gray, bytes));
    }
  return formats;
}

}  // namespace lensd

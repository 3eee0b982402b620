#include "core/graph/filter.hpp"

#include "core/base/error.hpp"

namespace lensd {

void Filter::launch(const PassArgs&, CudaStream) const {
  throw Error(ExitCode::unavailable, schema().name, "this build has no CUDA backend", "use --backend=cpu");
}

void Filter::read_stats(const void*, std::vector<Statistic>&) const {}

std::optional<std::string> Filter::set(const std::string& name, const ParamValue& value) {
  const ParamSpec* spec = schema().find(name);
  if (!spec) {
    std::string known;
    for (const ParamSpec& p : schema().params) known += (known.empty() ? "" : ", ") + p.name;
    return "there is no parameter '" + name + "'" + (known.empty() ? ", it has none" : ", it has " + known);
  }
  ParamValue converted;
  if (auto problem = spec->check(value, converted)) return problem;
  spec->put(params(), converted);
  return std::nullopt;
}

const FilterEntry* Registry::find(std::string_view name) const noexcept {
  for (const FilterEntry& filter : filters)
    if (filter.schema().name == name) return &filter;
  return nullptr;
}

}  // namespace lensd

#include "core/graph/scope_request.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace lensd {

double Comparison::psnr() const {
  uint64_t sum = 0;
  for (uint64_t c = 0; c < channels; ++c) sum += squares[c];
  if (sum == 0) return std::numeric_limits<double>::infinity();
  const double mean = static_cast<double>(sum) / static_cast<double>(samples * channels);
  const auto peak = static_cast<double>(white);
  return 10 * std::log10(peak * peak / mean);
}

double Comparison::ssim() const {
  if (windows == 0) return std::numeric_limits<double>::quiet_NaN();
  return std::ldexp(static_cast<double>(ssim_q24), -24) / static_cast<double>(windows);
}

Comparison ScopeReading::comparison() const {
  Comparison c;
  if (counts.size() == scope_counts(ScopeKind::compare, {}))
    std::memcpy(static_cast<void*>(&c), counts.data(), sizeof(c));
  return c;
}

}  // namespace lensd

// Percentiles of times, as printed by the latency tests.
#pragma once

#include <algorithm>
#include <cstdio>
#include <vector>

namespace lensd {

class Distribution {
 public:
  void add(double ms) { values_.push_back(ms); }
  size_t count() const { return values_.size(); }

  /// Prints p50, p95, p99 and max in milliseconds as members of a JSON object; -1 if there are no values.
  void print() {
    std::sort(values_.begin(), values_.end());
    std::printf("\"p50\":%.2f,\"p95\":%.2f,\"p99\":%.2f,\"max\":%.2f", at(0.5), at(0.95), at(0.99), at(1));
  }

 private:
  double at(double share) const {
    if (values_.empty()) return -1;
    return values_[std::min(values_.size() - 1,
                            static_cast<size_t>(share * static_cast<double>(values_.size())))];
  }
  std::vector<double> values_;
};

}  // namespace lensd

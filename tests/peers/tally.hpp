// The result of a case over all pictures.
#pragma once

#include <cstdint>
#include <string>

#include "tests/peers/peers.hpp"

namespace lensd::peers {

class Tally {
 public:
  /// Compares one picture. `where` names it in the message about the first failure.
  void add(const Bound& bound, const Planes& expected, const Planes& actual, const std::string& where);

  bool passed(const Bound& bound) const;
  int64_t frames() const { return frames_; }
  double worst() const { return worst_; }
  /// Returns the fraction of values that equal the rounded reference.
  double equal() const {
    return values_ == 0 ? 1 : static_cast<double>(equal_) / static_cast<double>(values_);
  }
  /// Returns the first failure, or an empty string if there was none.
  const std::string& miss() const { return miss_; }

 private:
  void miss(const std::string& text) {
    if (miss_.empty()) miss_ = text;
  }
  int64_t frames_ = 0, values_ = 0, equal_ = 0;
  double worst_ = 0;
  std::string miss_;
};

}  // namespace lensd::peers

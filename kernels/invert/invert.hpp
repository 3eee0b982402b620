// invert: replaces every colour channel with 255 − value (16 bits: 65535 − value); alpha passes through.
//
// Formats: all. Border rule: none. Temporal reach: none. Exact.
#pragma once

#include "kernels/common/point_filter.hpp"

namespace lensd {

struct InvertParams {};

struct Invert final : PointFilter<Invert, InvertParams> {
  static FilterSchema make_schema() {
    return Schema<InvertParams>("invert", "photographic negative: 255 minus each colour channel").build();
  }
  static LENSD_HD int value(const Block&, int v, int max) { return max - v; }
  static LENSD_HD void four(const Block&, auto& word) { word = ~word; }
};

}  // namespace lensd

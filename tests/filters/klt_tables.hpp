// Helpers for the tests of klt: parameters, and access to tables.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/graph/filter.hpp"
#include "core/image/tracks.hpp"

namespace lensd::test {

using Settings = std::vector<std::pair<std::string, ParamValue>>;

inline void set_all(Filter& filter, const Settings& settings) {
  for (const auto& [name, value] : settings) ASSERT_EQ(filter.set(name, value), std::nullopt) << name;
}

/// A table as written by the filter.
struct Table {
  std::vector<uint8_t> bytes;
  const TrackTable& header() const { return *reinterpret_cast<const TrackTable*>(bytes.data()); }
  std::vector<Track> all() const { return {header().tracks(), header().tracks() + header().capacity}; }
  std::vector<Track> with(TrackStatus status) const {
    std::vector<Track> some;
    for (const Track& t : all())
      if (t.status == status) some.push_back(t);
    return some;
  }
  uint32_t count(TrackStatus status) const { return header().counts[static_cast<size_t>(status)]; }
};

}  // namespace lensd::test

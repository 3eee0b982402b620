// Runs klt on pictures with known motion.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "kernels/klt/klt.hpp"
#include "tests/filters/harness.hpp"
#include "tests/filters/klt_tables.hpp"
#include "tests/filters/motions.hpp"

namespace lensd::test {

using namespace bench;  // pictures that move

/// Runs the filter on the CPU frame by frame.
class Tracker {
 public:
  Tracker(ImageFormat format, const Settings& settings) {
    set_all(klt_, settings);
    rig_ = make_cpu_rig(klt_, {.images = {&format, 1}}, kAligned, 2);
  }
  Table run(const Image& image, const RunExtras& extras = {}) {
    return {rig_->run({image}, extras).stats_bytes};
  }
  void set(const Settings& settings) { set_all(klt_, settings); }

 private:
  Klt klt_;
  std::unique_ptr<Rig> rig_;
};

inline double quantile(std::vector<double> values, double part) {
  if (values.empty()) return 1e9;
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(part * static_cast<double>(values.size() - 1))];
}

inline bool inside(Point p, Extent extent, double margin) {
  return p.x >= margin && p.y >= margin && p.x <= extent.width - 1 - margin &&
         p.y <= extent.height - 1 - margin;
}

inline constexpr Extent kScene{480, 360};
inline const ImageFormat kGrayScene{PixelFormat::gray8, kScene};

/// Accuracy for tracks whose true position stays inside the picture.
struct Accuracy {
  size_t there = 0;            ///< tracks of the first picture
  std::vector<double> errors;  ///< of those that were followed, in pixels
};

inline Accuracy accuracy(const Table& table, const Motion& motion) {
  Accuracy result;
  for (const Track& t : table.all()) {
    const Point truth = motion.apply({t.previous_x, t.previous_y}, kScene);
    if (t.status == TrackStatus::empty || t.status == TrackStatus::fresh || !inside(truth, kScene, 2))
      continue;
    ++result.there;
    if (t.status == TrackStatus::tracked) result.errors.push_back(std::hypot(t.x - truth.x, t.y - truth.y));
  }
  return result;
}

}  // namespace lensd::test

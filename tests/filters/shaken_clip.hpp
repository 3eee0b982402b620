// Synthetic tracks of a camera with known motion, for the tests of stabilize.
#pragma once

#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

#include "kernels/stabilize/stabilize.hpp"
#include "tests/filters/track_tables.hpp"

namespace lensd::test {

inline uint32_t seed() {
  const char* text = std::getenv("LENSD_SEED");
  return text ? static_cast<uint32_t>(std::strtoul(text, nullptr, 10)) : 20261121;
}

using lensd::Motion;  // not bench::Motion

struct Point {
  double x, y;
};
inline Point moved(const Motion& m, Point p) {
  return {m.xx * p.x + m.xy * p.y + m.x0, m.yx * p.x + m.yy * p.y + m.y0};
}
inline Motion turned(double degrees, double zoom, double x, double y) {
  const double a = degrees / 57.29577951308232;
  return {zoom * std::cos(a), -zoom * std::sin(a), x, zoom * std::sin(a), zoom * std::cos(a), y};
}

/// Standard deviations of the camera's shake in each frame (`shift` in pixels), and a constant `pan` in
/// pixels per frame.
struct Shake {
  double shift = 6, degrees = 1, zoom = 0, shear = 0, pan = 0;
};

/// Tracks of a clip: points of a scene seen by a shaking camera. A fraction `wrong` of the positions is
/// wrong. A pair of positions is wrong with probability 1 − (1 − wrong)², by default 30 %.
class ShakenClip {
 public:
  ShakenClip(Extent picture, int tracks, const Shake& shake, double noise = 0.1, double wrong = 0.163)
      : picture_(picture), shake_(shake), noise_(noise), wrong_(wrong), random_(seed()), table_(tracks) {
    table_.table()->picture = picture;
    points_.resize(static_cast<size_t>(tracks));
  }

  /// Returns the tracks of the next frame. pose() maps the scene to this frame, both relative to their
  /// centres.
  const TableBytes& next() {
    last_ = pose_;
    ideal_ = Motion{1, 0, shake_.pan * frame_, 0, 1, 0};
    Motion now =
        turned(normal(shake_.degrees), 1 + normal(shake_.zoom), normal(shake_.shift), normal(shake_.shift));
    now.xy += normal(shake_.shear);
    pose_ = composed(now, ideal_);
    ++frame_;
    TrackTable& table = *table_.table();
    for (uint32_t i = 0; i < table.capacity; ++i) {
      Track& track = table.tracks()[i];
      Point& scene = points_[i];
      const bool follows = is_alive(track.status);
      const Point at = moved(pose_, scene);
      if (follows && inside(at)) {
        track.status = TrackStatus::tracked, track.previous_x = track.x, track.previous_y = track.y;
        place(track, at);
        if (uniform(0, 1) < wrong_) track.x += static_cast<float>(uniform(-25, 25)), track.y += 7;
      } else {  // a new point somewhere in the picture
        const Point in_picture{uniform(-0.45, 0.45) * picture_.width, uniform(-0.45, 0.45) * picture_.height};
        scene = moved(inverse(pose_), in_picture);
        track = {.id = table.next_id++, .status = TrackStatus::fresh};
        place(track, in_picture);
        track.previous_x = track.x, track.previous_y = track.y;
      }
    }
    return table_;
  }

  const Motion& pose() const { return pose_; }
  const Motion& ideal() const { return ideal_; }
  Motion motion() const { return composed(pose_, inverse(last_)); }

 private:
  double uniform(double from, double to) { return std::uniform_real_distribution<double>(from, to)(random_); }
  double normal(double sigma) { return sigma > 0 ? std::normal_distribution<double>(0, sigma)(random_) : 0; }
  bool inside(Point p) const {
    return std::abs(p.x) < 0.5 * (picture_.width - 1) && std::abs(p.y) < 0.5 * (picture_.height - 1);
  }
  void place(Track& track, Point p) {
    track.x = static_cast<float>(p.x + 0.5 * (picture_.width - 1) + normal(noise_));
    track.y = static_cast<float>(p.y + 0.5 * (picture_.height - 1) + normal(noise_));
  }

  Extent picture_;
  Shake shake_;
  double noise_, wrong_;
  std::mt19937 random_;
  TableBytes table_;
  std::vector<Point> points_;
  Motion pose_, last_, ideal_;
  int frame_ = 0;
};

}  // namespace lensd::test

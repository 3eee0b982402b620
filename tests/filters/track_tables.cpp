#include "tests/filters/track_tables.hpp"

namespace lensd::test {

TrackScript::TrackScript(Extent picture, int capacity, uint32_t seed, double life)
    : picture_(picture), life_(life), random_(seed), table_(capacity) {
  table_.table()->picture = picture;
}

void TrackScript::found(Track& track) {
  track = {.id = table_.table()->next_id++, .status = TrackStatus::fresh};
  track.x = track.previous_x = uniform(0, picture_.width - 1);
  track.y = track.previous_y = uniform(0, picture_.height - 1);
  track.strength = uniform(0, 1);
}

const TableBytes& TrackScript::next(const Motion& motion) {
  TrackTable& table = *table_.table();
  ++table.frame, table.pts_ns += 40'000'000;
  table.alive = 0;
  for (uint32_t& count : table.counts) count = 0;
  for (uint32_t place = 0; place < table.capacity; ++place) {
    Track& track = table.tracks()[place];
    if (!is_alive(track.status)) {
      if (uniform(0, 1) < 0.8)
        found(track);
      else
        track = {};
    } else {
      const Point to = motion({track.x, track.y});
      const bool inside = to.x >= 0 && to.y >= 0 && to.x <= static_cast<float>(picture_.width - 1) &&
                          to.y <= static_cast<float>(picture_.height - 1);
      track.previous_x = track.x, track.previous_y = track.y;
      track.status = TrackStatus::tracked, ++track.age;
      track.residual = uniform(0, 12), track.return_error = uniform(0, 1);
      if (!inside)
        track.status = TrackStatus::lost_outside;
      else if (uniform(0, 1) > life_)
        track.status = static_cast<TrackStatus>(3 + random_() % 7);
      else
        track.x = to.x, track.y = to.y;
    }
    ++table.counts[static_cast<uint32_t>(track.status)];
    table.alive += is_alive(track.status);
  }
  return table_;
}

const TableBytes& TrackScript::next() {
  return next([this](Point from) -> Point {
    const double reach = uniform(0, 1) < 0.05 ? 300 : 6;
    return {from.x + uniform(-reach, reach), from.y + uniform(-reach, reach)};
  });
}

}  // namespace lensd::test

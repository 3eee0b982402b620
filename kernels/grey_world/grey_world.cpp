#include "kernels/grey_world/grey_world.hpp"

namespace lensd {

FilterSchema GreyWorld::make_schema() {
  using P = GreyWorldParams;
  return Schema<P>("grey_world", "white balance: makes the means of the colour channels equal")
      .real("strength", &P::strength, 0, 1, "weight of the corrected picture; 0: no change")
      .real("smooth", &P::smooth, 0, 0.99,
            "share of the previous frame's gains that is kept, against flicker")
      .build();
}

void GreyWorld::read_stats(const void* stats, std::vector<Statistic>& out) const {
  const auto& s = *static_cast<const GreyWorldStats*>(stats);
  const int channels = static_cast<int>(s.channels);
  for (int c = 0; c < channels; ++c) {
    out.push_back({channel_statistic("gain", c, channels), s.gains.gain[c]});
    out.push_back({channel_statistic("added", c, channels), s.gains.offset[c]});
    out.push_back({channel_statistic("mean", c, channels), s.mean[c]});
  }
}

}  // namespace lensd

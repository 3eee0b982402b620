// Synthetic tables of tracks as a klt node writes them, for filters that read tracks.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "core/image/tracks.hpp"

namespace lensd::test {

/// A table in memory, as RunExtras and ReferenceRun take it.
struct TableBytes {
  std::vector<uint8_t> bytes;
  explicit TableBytes(int capacity) : bytes(track_table_bytes(capacity)) {
    *table() = TrackTable{.capacity = static_cast<uint32_t>(capacity)};
  }
  TrackTable* table() { return reinterpret_cast<TrackTable*>(bytes.data()); }
  const TrackTable* table() const { return reinterpret_cast<const TrackTable*>(bytes.data()); }
};

/// Tracks over the frames of a clip: they move, some are lost in every frame, and new ones take their places.
class TrackScript {
 public:
  struct Point {
    float x, y;
  };
  /// Returns the new position of a point of the previous frame. Called once for each live track.
  using Motion = std::function<Point(Point)>;

  /// `life` is the share of tracks that survive into the next frame.
  TrackScript(Extent picture, int capacity, uint32_t seed, double life = 0.9);
  /// Returns the next frame's table. A track that leaves the picture is lost.
  const TableBytes& next(const Motion& motion);
  /// Moves the tracks at random, a few of them over large distances.
  const TableBytes& next();

 private:
  float uniform(double from, double to) {
    return static_cast<float>(std::uniform_real_distribution<double>(from, to)(random_));
  }
  void found(Track& track);

  Extent picture_;
  double life_;
  std::mt19937 random_;
  TableBytes table_;
};

}  // namespace lensd::test

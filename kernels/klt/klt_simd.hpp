// The CPU side of klt: what is done in bands.
#pragma once

#include "core/device/workers.hpp"
#include "kernels/klt/klt_math.hpp"

namespace lensd {

/// Private memory that shrinking a level of this extent takes.
size_t klt_shrink_worker_bytes(Extent fine);
/// Rows of `coarse`, a level of half the size: binomial 1 4 6 4 1 both ways, rounded, border reflect101.
void klt_shrink_rows(const ImageView<const uint8_t>& fine, const ImageView<uint8_t>& coarse, Band rows,
                     uint8_t* worker);

/// What follows tracks; pointers are to whole halves of the state.
struct KltFollowJob {
  const KltShape* shape;
  const uint8_t* before;
  uint8_t* after;
  uint8_t* halves[2];
  const KltBlock* block;
  TrackTable* table;  ///< where the tracks of this frame go
  bool fresh;
};
/// Places of the table. Any worker.
void klt_follow_places(const KltFollowJob& job, Band places);

}  // namespace lensd

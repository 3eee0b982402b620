#include "kernels/klt/klt_table.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/klt/klt.hpp"

namespace lensd {
namespace {

constexpr int kMinCell = 16;  ///< minimum side of a cell of the neighbour search

struct Cells {
  int side, columns, rows;
  int32_t *heads, *next;  ///< linked list of slots for each cell; −1: end of the list

  Cells(Extent extent, float reach, uint8_t* scratch, int capacity)
      : side(std::max(kMinCell, static_cast<int>(std::ceil(reach)))),
        columns(extent.width / side + 1),
        rows(extent.height / side + 1),
        heads(reinterpret_cast<int32_t*>(scratch) + capacity),
        next(reinterpret_cast<int32_t*>(scratch)) {
    std::fill_n(heads, columns * rows, -1);
  }
  int column(float x) const { return static_cast<int>(x) / side; }
  int row(float y) const { return static_cast<int>(y) / side; }
  int32_t& head(int c, int r) const { return heads[r * columns + c]; }
};

bool crowded(const Cells& cells, const Track* tracks, int32_t slot, float reach_squared) {
  const Track& track = tracks[slot];
  const int column = cells.column(track.x), row = cells.row(track.y);
  for (int r = std::max(0, row - 1); r <= std::min(cells.rows - 1, row + 1); ++r)
    for (int c = std::max(0, column - 1); c <= std::min(cells.columns - 1, column + 1); ++c)
      for (int32_t other = cells.head(c, r); other >= 0; other = cells.next[other]) {
        const float dx = tracks[other].x - track.x, dy = tracks[other].y - track.y;
        if (tracks[other].id < track.id && dx * dx + dy * dy < reach_squared) return true;
      }
  return false;
}

/// Ends the younger of two live tracks that are too close. A track that this function ended stays in the
/// lists and still ends younger neighbours.
void end_crowded(const KltShape& shape, const KltBlock& block, TrackTable& table, uint8_t* scratch) {
  const float reach = block.crowded_squared;
  if (reach == 0) return;
  const Cells cells(shape.level[0].extent, std::sqrt(reach), scratch, shape.capacity);
  Track* tracks = table.tracks();
  for (int32_t i = 0; i < shape.capacity; ++i) {
    if (tracks[i].status != TrackStatus::tracked) continue;
    int32_t& head = cells.head(cells.column(tracks[i].x), cells.row(tracks[i].y));
    cells.next[i] = head, head = i;
  }
  for (int32_t i = 0; i < shape.capacity; ++i)
    if (tracks[i].status == TrackStatus::tracked && crowded(cells, tracks, i, reach))
      tracks[i].status = TrackStatus::lost_crowded;
}

uint32_t& count_of(TrackTable& table, TrackStatus status) {
  return table.counts[static_cast<uint32_t>(status)];
}

/// Returns the median age of the live tracks: the lower of two middle ages.
uint32_t median_age(const TrackTable& table, uint32_t* ages) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < table.capacity; ++i)
    if (is_alive(table.tracks()[i].status)) ages[n++] = table.tracks()[i].age;
  if (n == 0) return 0;
  std::nth_element(ages, ages + (n - 1) / 2, ages + n);
  return ages[(n - 1) / 2];
}

}  // namespace

size_t Klt::table_scratch_bytes(Extent extent, int capacity) {
  const int cells = (extent.width / kMinCell + 1) * (extent.height / kMinCell + 1);
  return static_cast<size_t>(capacity + cells) * sizeof(int32_t);
}

void Klt::settle(const PassArgs& args, Band) const {
  TrackTable& table = table_of(args);
  klt_start_header(table, *reinterpret_cast<const TrackTable*>(state_of(args).before()), shape_, *args.frame);
  end_crowded(shape_, block_of(args), table, args.scratch[2]);
  for (uint32_t i = 0; i < table.capacity; ++i) ++count_of(table, table.tracks()[i].status);
  table.alive = count_of(table, TrackStatus::tracked);
  // Lost tracks keep their slots for this frame. After a cut they do not, since there may be no other slots.
  uint32_t& wanted = detection(args).wanted;
  wanted = table.alive >= block_of(args).redetect_below && args.frame->reset == 0
               ? 0
               : count_of(table, TrackStatus::empty) + count_of(table, TrackStatus::lost_cut);
  table.detected = wanted > 0 ? 1 : 0;
}

void Klt::finish(const PassArgs& args, Band) const {
  TrackTable& table = table_of(args);
  const KltState state = state_of(args);
  Detection& corners = detection(args);
  uint32_t taken = 0;
  for (const TrackStatus free : {TrackStatus::empty, TrackStatus::lost_cut})
    for (uint32_t i = 0; i < table.capacity && taken < corners.count.found; ++i) {
      if (table.tracks()[i].status != free) continue;
      const Corner& corner = corners.corners()[taken];
      table.tracks()[i] = klt_new_track(corner, table.next_id + taken, corners.count.strongest);
      if (shape_.patch_bytes > 0) {
        const auto keep = shape_.deep ? &klt_keep_patch<uint16_t> : &klt_keep_patch<uint8_t>;
        keep(shape_, state.after(), state.halves, static_cast<int>(i), corner, 0, 1);
      }
      ++taken;
    }
  uint32_t& empty = count_of(table, TrackStatus::empty);
  empty -= std::min(empty, taken);
  count_of(table, TrackStatus::fresh) = taken;
  table.alive += taken, table.next_id += taken;
  table.median_age = median_age(table, reinterpret_cast<uint32_t*>(args.scratch[2]));
  std::memcpy(state.after(), &table, track_table_bytes(static_cast<int>(table.capacity)));
}

}  // namespace lensd

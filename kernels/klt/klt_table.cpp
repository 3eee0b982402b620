#include "kernels/klt/klt_table.hpp"

#include <algorithm>
#include <cstring>

namespace lensd {
namespace {

constexpr int kLeastCell = 16;  ///< side of the smallest cells in which neighbours are looked for

struct Cells {
  int side, columns, rows;
  int32_t *heads, *next;  ///< places, -1 at the end of a cell's list

  Cells(Extent extent, float reach, uint8_t* scratch, int capacity)
      : side(std::max(kLeastCell, static_cast<int>(std::ceil(reach)))),
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

bool crowded(const Cells& cells, const Track* tracks, int32_t place, float reach_squared) {
  const Track& track = tracks[place];
  const int column = cells.column(track.x), row = cells.row(track.y);
  for (int r = std::max(0, row - 1); r <= std::min(cells.rows - 1, row + 1); ++r)
    for (int c = std::max(0, column - 1); c <= std::min(cells.columns - 1, column + 1); ++c)
      for (int32_t other = cells.head(c, r); other >= 0; other = cells.next[other]) {
        const float dx = tracks[other].x - track.x, dy = tracks[other].y - track.y;
        if (tracks[other].id < track.id && dx * dx + dy * dy < reach_squared) return true;
      }
  return false;
}

/// Those that are lost stay in the lists: they end others all the same.
void end_crowded(const KltTableJob& job) {
  const float reach = job.block->crowded_squared;
  if (reach == 0) return;
  const Cells cells(job.shape->level[0].extent, std::sqrt(reach), job.scratch, job.shape->capacity);
  Track* tracks = job.table->tracks();
  for (int32_t i = 0; i < job.shape->capacity; ++i) {
    if (tracks[i].status != TrackStatus::tracked) continue;
    int32_t& head = cells.head(cells.column(tracks[i].x), cells.row(tracks[i].y));
    cells.next[i] = head, head = i;
  }
  for (int32_t i = 0; i < job.shape->capacity; ++i)
    if (tracks[i].status == TrackStatus::tracked && crowded(cells, tracks, i, reach))
      tracks[i].status = TrackStatus::lost_crowded;
}

uint32_t& count_of(TrackTable& table, TrackStatus status) {
  return table.counts[static_cast<uint32_t>(status)];
}

/// Of the living ones, the lower one of two middles.
uint32_t median_age(const TrackTable& table, uint32_t* ages) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < table.capacity; ++i)
    if (is_alive(table.tracks()[i].status)) ages[n++] = table.tracks()[i].age;
  if (n == 0) return 0;
  std::nth_element(ages, ages + (n - 1) / 2, ages + n);
  return ages[(n - 1) / 2];
}

void keep_patch(const KltTableJob& job, int place, const Corner& corner) {
  job.shape->first(job.after)[place] = {.x = corner.x, .y = corner.y};
  klt_keep_patch(*job.shape, job.shape->view(static_cast<const uint8_t*>(job.after), 0), corner,
                 job.shape->patch(job.halves, place), 0, 1);
}

}  // namespace

size_t klt_table_scratch_bytes(Extent extent, int capacity) {
  const int cells = (extent.width / kLeastCell + 1) * (extent.height / kLeastCell + 1);
  return static_cast<size_t>(capacity + cells) * sizeof(int32_t);
}

void klt_settle(const KltTableJob& job) {
  TrackTable& table = *job.table;
  klt_start_header(table, *reinterpret_cast<const TrackTable*>(job.before), *job.shape, *job.frame);
  end_crowded(job);
  for (uint32_t i = 0; i < table.capacity; ++i) ++count_of(table, table.tracks()[i].status);
  table.alive = count_of(table, TrackStatus::tracked);
  // A lost track keeps its place for this frame, but for a cut, which would leave no place to go on with.
  *job.wanted = table.alive >= job.block->enough && job.frame->reset == 0
                    ? 0
                    : count_of(table, TrackStatus::empty) + count_of(table, TrackStatus::lost_cut);
  table.detected = *job.wanted > 0 ? 1 : 0;
}

void klt_finish(const KltTableJob& job) {
  TrackTable& table = *job.table;
  uint32_t taken = 0;
  for (const TrackStatus free : {TrackStatus::empty, TrackStatus::lost_cut})
    for (uint32_t i = 0; i < table.capacity && taken < job.count->found; ++i) {
      if (table.tracks()[i].status != free) continue;
      const Corner& corner = job.found[taken];
      table.tracks()[i] = klt_new_track(corner, table.next_id + taken, job.count->strongest);
      if (job.shape->patch_bytes > 0) keep_patch(job, static_cast<int>(i), corner);
      ++taken;
    }
  uint32_t& empty = count_of(table, TrackStatus::empty);
  empty -= std::min(empty, taken);
  count_of(table, TrackStatus::fresh) = taken;
  table.alive += taken, table.next_id += taken;
  table.median_age = median_age(table, reinterpret_cast<uint32_t*>(job.scratch));
  std::memcpy(job.after, &table, track_table_bytes(static_cast<int>(table.capacity)));
}

}  // namespace lensd

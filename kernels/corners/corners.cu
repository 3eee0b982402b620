// Corner detection on CUDA. All conditions are read from device memory; kernels return at once if `wanted` is
// 0.
//
//   clear ─▶ eigenvalues: candidates, histogram of strengths, live tracks by cell
//         ─▶ gather: the strongest candidates with no live track close by, into cells
//         ─▶ decide: accepts a candidate once all stronger ones close by are rejected
//         ─▶ gather rest, decide rest: the other candidates, if the strongest gave too few corners
//         ─▶ select: the strongest `wanted` corners, if very many were accepted
//         ─▶ rank: the index of a corner is the number of stronger ones
//
// The result equals that of the sequential selection: a decision depends on stronger candidates only, so
// weaker candidates do not change the first `wanted` accepted ones.
#include "kernels/corners/corners_launch.cuh"
#include "kernels/corners/corners_map.cuh"

namespace lensd {
namespace {

constexpr int kGatherThreads = 256, kDecideThreads = 512;
constexpr uint32_t kNoSlot = ~0u;

__device__ CornerCells corner_cells(const CornerLaunch& launch) {
  CornerCells cells;
  cells.reach = corner_reach_squared(launch.job.params->min_distance);
  int radius = cells.reach > 0 ? static_cast<int>(sqrt(static_cast<double>(cells.reach - 1))) : 0;
  cells.radius = radius;
  cells.side = min(max((radius + 2) & ~1, kCornerMinCell), kCornerMaxCell);
  cells.columns = (launch.job.luma.extent.width + cells.side - 1) / cells.side;
  cells.rows = (launch.job.luma.extent.height + cells.side - 1) / cells.side;
  cells.places = static_cast<uint32_t>(cells.side / 2 * (cells.side / 2));
  return cells;
}

/// Range of the cells with a pixel at most cells.radius from (x, y) along each axis.
struct CornerNeighbours {
  int first_column, first_row, columns, rows;

  __device__ CornerNeighbours(const CornerCells& cells, int x, int y) {
    first_column = max(x - cells.radius, 0) / cells.side, first_row = max(y - cells.radius, 0) / cells.side;
    columns = min((x + cells.radius) / cells.side, cells.columns - 1) - first_column + 1;
    rows = min((y + cells.radius) / cells.side, cells.rows - 1) - first_row + 1;
  }
};

__device__ bool corner_too_close(int ax, int ay, int bx, int by, uint32_t reach) {
  const int dx = ax - bx, dy = ay - by;
  return static_cast<uint32_t>(dx * dx + dy * dy) < reach;
}

__global__ void corner_clear_kernel(CornerLaunch launch) {
  const size_t first = blockIdx.x * blockDim.x + threadIdx.x;
  if (first == 0) *launch.job.count = {0, 0};
  if (launch.wanted() == 0) return;
  auto* const words = reinterpret_cast<uint32_t*>(launch.memory.counters);
  for (size_t i = first; i < launch.memory.cleared_words; i += gridDim.x * blockDim.x) words[i] = 0;
}

/// Puts live tracks into linked lists, one per cell.
__device__ void bin_tracks(const CornerLaunch& launch) {
  const TrackTable* const table = launch.job.tracks;
  if (!table) return;
  const CornerCells cells = corner_cells(launch);
  const Extent extent = launch.job.luma.extent;
  const uint32_t count = min(table->capacity, static_cast<uint32_t>(kMaxTracks));
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const Track& track = table->tracks()[i];
    if (!is_alive(track.status)) continue;
    const int x = corner_pixel(track.x, extent.width), y = corner_pixel(track.y, extent.height);
    launch.memory.next_track[i] =
        atomicExch(&launch.memory.track_heads[y / cells.side * cells.columns + x / cells.side], i + 1);
  }
}

template <class Pixel>
__global__ void __launch_bounds__(CornerTile::threads) corner_map_kernel(CornerLaunch launch) {
  __shared__ CornerTileShared<Pixel> s;
  if (launch.wanted() == 0) return;
  const CornerDeviceMemory& memory = launch.memory;
  bin_tracks(launch);
  const ImageView<const Pixel> luma = launch.job.luma.view<Pixel>();
  const int block = launch.job.params->block, fraction_bits = corner_fraction_bits(block);
  const float quality = launch.job.params->quality;
  const int width = CornerTile::width(block), columns = (luma.extent.width + width - 1) / width;
  const int tiles = columns * ((luma.extent.height + CornerTile::rows - 1) / CornerTile::rows);
  for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += static_cast<int>(gridDim.x)) {
    const int x0 = tile % columns * width, y0 = tile / columns * CornerTile::rows;
    __syncthreads();
    if (threadIdx.x == 0) s.strongest = 0, s.count = 0;
    load_corner_pixels(luma, fraction_bits, (x0 - 2 - block / 2) & ~3, y0 - 2 - block / 2,
                       CornerTile::map_rows + block - 1 + 2, s.pixels);
    __syncthreads();
    const uint32_t most = corner_tile_map(s, luma.extent, block, x0, y0);
    atomicMax(&s.strongest, most);
    __syncthreads();
    // The maximum so far yields a lower bound of the final threshold: other tiles can only raise the maximum.
    if (threadIdx.x == 0) s.strongest = max(s.strongest, atomicMax(&memory.counters->strongest, s.strongest));
    __syncthreads();
    uint32_t bits = corner_tile_maxima(s, luma.extent, block, x0, y0, quality * __uint_as_float(s.strongest));
    uint32_t place = bits ? atomicAdd(&s.count, static_cast<uint32_t>(__popc(bits))) : 0;
    __syncthreads();
    if (threadIdx.x == 0 && s.count > 0) s.first = atomicAdd(&memory.counters->candidates, s.count);
    __syncthreads();
    for (; bits; bits &= bits - 1, ++place) {
      const int row = __ffs(static_cast<int>(bits)) - 1, column = static_cast<int>(threadIdx.x);
      const uint32_t strength = __float_as_uint(s.map[row + 1][column + 1]);
      memory.candidates[s.first + place] = corner_key(strength, x0 + column, y0 + row);
      atomicAdd(&memory.histogram[CornerHistogram::of(strength)], 1u);
    }
  }
}

__device__ bool near_track(const CornerLaunch& launch, const CornerCells& cells, int x, int y) {
  const Extent extent = launch.job.luma.extent;
  const CornerNeighbours near(cells, x, y);
  for (int j = 0; j < near.rows; ++j)
    for (int i = 0; i < near.columns; ++i) {
      uint32_t track =
          launch.memory.track_heads[(near.first_row + j) * cells.columns + near.first_column + i];
      for (; track != 0; track = launch.memory.next_track[track - 1]) {
        const Track& at = launch.job.tracks->tracks()[track - 1];
        if (corner_too_close(x, y, corner_pixel(at.x, extent.width), corner_pixel(at.y, extent.height),
                             cells.reach))
          return true;
      }
    }
  return false;
}

/// Returns true if the first round gave enough corners, so that the second one is skipped.
__device__ bool corner_enough(const CornerLaunch& launch) {
  return launch.memory.counters->accepted >= launch.wanted();
}

/// Gathers candidates. Round 0 takes the strongest buckets of the histogram, until they hold at least
/// 4 · wanted + 1024 candidates. Round 1 takes the other buckets.
__global__ void __launch_bounds__(kGatherThreads) corner_gather_kernel(CornerLaunch launch, int round) {
  const uint32_t wanted = launch.wanted();
  if (wanted == 0 || (round == 1 && corner_enough(launch))) return;
  const CornerDeviceMemory& memory = launch.memory;
  const int cutoff = corner_cutoff<kGatherThreads>(memory.histogram, 4 * wanted + 1024).bucket;
  if (round == 1 && cutoff == 0) return;
  const CornerCells cells = corner_cells(launch);
  const float least = launch.job.params->quality * __uint_as_float(memory.counters->strongest);
  const uint32_t count = memory.counters->candidates;
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const uint64_t key = memory.candidates[i];
    const uint32_t strength = corner_key_strength(key);
    if (!(__uint_as_float(strength) > least)) continue;
    if ((CornerHistogram::of(strength) >= cutoff) != (round == 0)) continue;
    const int x = corner_key_x(key), y = corner_key_y(key);
    if (near_track(launch, cells, x, y)) continue;
    const auto cell = static_cast<uint32_t>(y / cells.side * cells.columns + x / cells.side);
    const uint32_t slot = cell * cells.places + atomicAdd(&memory.cell_counts[cell], 1u);
    memory.slots[slot] = key << 1;
    const uint32_t place = atomicAdd(&memory.counters->pending[round], 1u);
    memory.pending[place] = slot, memory.rivals[place] = kNoSlot;
  }
}

/// Reads a slot that other warps may change. A slot changes at most once: from undecided to accepted or to 0.
__device__ uint64_t load_slot(const uint64_t* slot) {
  return *const_cast<const volatile uint64_t*>(slot);
}
__device__ void store_slot(uint64_t* slot, uint64_t value) {
  *const_cast<volatile uint64_t*>(slot) = value;
}

/// A stronger candidate close by that is undecided or accepted. While it exists, the weaker one cannot be
/// accepted.
struct CornerRival {
  uint32_t slot = kNoSlot;
  bool accepted = false;
};

/// The candidates of 32 cells, one cell per lane, numbered over all lanes. Call from all lanes of a warp.
struct CornerBatch {
  uint32_t cell, start, end;  ///< this lane's cell, and the numbers [start, end) of its candidates

  __device__ CornerBatch(uint32_t own_cell, uint32_t candidates)
      : cell(own_cell), end(warp_inclusive_sum(candidates)) {
    start = end - candidates;
  }
  __device__ uint32_t count() const { return __shfl_sync(~0u, end, 31); }
  /// Returns the slot of candidate `item`. `places`: slots per cell.
  __device__ uint32_t slot(uint32_t item, uint32_t places) const {
    int owner = 0;  // lane whose cell contains the candidate
    for (int step = 16; step > 0; step /= 2)
      if (__shfl_sync(~0u, end, owner + step - 1) <= item) owner += step;
    const uint32_t first = __shfl_sync(~0u, start, owner), in = __shfl_sync(~0u, cell, owner);
    return in * places + (item - first);
  }
};

/// Returns the best of the lanes' rivals: accepted before undecided, then the strongest. `value` is the value
/// of `slot`. At least one lane must have a rival.
__device__ CornerRival best_rival(bool rival, uint64_t value, uint32_t slot) {
  const uint64_t rank = rival ? value >> 1 | (value & 1) << 63 : 0;
  uint64_t best = rank;
  for (int step = 16; step > 0; step /= 2) best = max(best, __shfl_xor_sync(~0u, best, step));
  const int winner = __ffs(static_cast<int>(__ballot_sync(~0u, rival && rank == best))) - 1;
  return {__shfl_sync(~0u, slot, winner), best >> 63 != 0};
}

/// Searches for a rival in batches of 32 candidates and returns the best one of the first batch that has any;
/// the strongest is likely to be decided soon. Without rivals, returns slot kNoSlot. Call from all lanes of a
/// warp with the same key.
__device__ CornerRival find_rival(const CornerDeviceMemory& memory, const CornerCells& cells, uint64_t key) {
  const int lane = static_cast<int>(threadIdx.x & 31), x = corner_key_x(key), y = corner_key_y(key);
  const CornerNeighbours near(cells, x, y);
  const int count = near.columns * near.rows;
  for (int base = 0; base < count; base += 32) {
    const int own = base + lane;
    uint32_t cell = 0, candidates = 0;
    if (own < count) {
      cell = static_cast<uint32_t>((near.first_row + own / near.columns) * cells.columns + near.first_column +
                                   own % near.columns);
      candidates = memory.cell_counts[cell];
    }
    const CornerBatch batch(cell, candidates);
    const uint32_t total = batch.count();
    for (uint32_t first = 0; first < total; first += 32) {
      const uint32_t item = first + static_cast<uint32_t>(lane), slot = batch.slot(item, cells.places);
      const uint64_t other = item < total ? load_slot(memory.slots + slot) : 0;
      const bool rival = other >> 1 > key && corner_too_close(x, y, corner_key_x(other >> 1),
                                                              corner_key_y(other >> 1), cells.reach);
      if (__any_sync(~0u, rival)) return best_rival(rival, other, slot);
    }
  }
  return {};
}

/// State of a polled candidate: decided, waiting for its known rival, or without a known rival.
enum class CornerPoll { decided, waiting, no_rival };

/// Polls the candidate in `slot`, whose known rival is in slot `rival`. Rejects it if the rival was accepted.
__device__ CornerPoll poll_candidate(const CornerDeviceMemory& memory, uint32_t slot, uint32_t rival) {
  const uint64_t value = load_slot(memory.slots + slot);
  if (value == 0 || (value & 1) != 0) return CornerPoll::decided;
  if (rival == kNoSlot) return CornerPoll::no_rival;
  const uint64_t other = load_slot(memory.slots + rival);
  if (other == 0) return CornerPoll::no_rival;
  if ((other & 1) == 0) return CornerPoll::waiting;
  store_slot(memory.slots + slot, 0);
  return CornerPoll::decided;
}

/// Decides all candidates of a round. Each lane polls its own candidates. For candidates without a known
/// rival, the whole warp searches for a rival, one candidate at a time. So equal corners, each of which waits
/// for its neighbour, cost little while they wait. All blocks must be resident at the same time.
__global__ void __launch_bounds__(kDecideThreads) corner_decide_kernel(CornerLaunch launch, int round) {
  if (launch.wanted() == 0) return;
  const CornerDeviceMemory& memory = launch.memory;
  const CornerCells cells = corner_cells(launch);
  const uint32_t count = memory.counters->pending[round], warps = gridDim.x * (kDecideThreads / 32);
  const uint32_t warp = threadIdx.x / 32 * gridDim.x + blockIdx.x, lane = threadIdx.x & 31;
  for (bool undecided = true; __any_sync(~0u, undecided);) {
    undecided = false;
    for (uint32_t first = warp; first < count; first += 32 * warps) {
      const uint32_t i = first + lane * warps;
      const uint32_t slot = i < count ? memory.pending[i] : kNoSlot;
      const CornerPoll poll =
          i < count ? poll_candidate(memory, slot, memory.rivals[i]) : CornerPoll::decided;
      undecided |= poll == CornerPoll::waiting;
      for (uint32_t left = __ballot_sync(~0u, poll == CornerPoll::no_rival); left != 0; left &= left - 1) {
        const uint32_t owner = static_cast<uint32_t>(__ffs(static_cast<int>(left))) - 1;
        const uint32_t searched = __shfl_sync(~0u, slot, static_cast<int>(owner));
        const uint64_t key = __shfl_sync(~0u, lane == owner ? load_slot(memory.slots + searched) : 0,
                                         static_cast<int>(owner)) >>
                             1;
        const CornerRival rival = find_rival(memory, cells, key);
        if (lane != owner) continue;
        memory.rivals[i] = rival.slot;
        if (rival.accepted) {
          store_slot(memory.slots + searched, 0);
        } else if (rival.slot != kNoSlot) {
          undecided = true;
        } else {
          store_slot(memory.slots + searched, key << 1 | 1);
          memory.accepted[atomicAdd(&memory.counters->accepted, 1u)] = key;
        }
      }
    }
  }
}

void launch_clear(const CornerJob& job, CudaStream stream) {
  corner_clear_kernel<<<2 * resident_blocks(), 256, 0, stream>>>(launch_of(job));
  LENSD_LAUNCHED();
}

void launch_map(const CornerJob& job, CudaStream stream) {
  const Extent extent = job.luma.extent;
  const unsigned tiles =
      blocks_for(extent.width, CornerTile::width(3)) * blocks_for(extent.height, CornerTile::rows);
  const auto kernel = job.luma.deep ? &corner_map_kernel<uint16_t> : &corner_map_kernel<uint8_t>;
  kernel<<<tiles, CornerTile::threads, 0, stream>>>(launch_of(job));
  LENSD_LAUNCHED();
}

template <int round>
void launch_gather(const CornerJob& job, CudaStream stream) {
  corner_gather_kernel<<<2 * resident_blocks(), kGatherThreads, 0, stream>>>(launch_of(job), round);
  LENSD_LAUNCHED();
}

/// All blocks must be resident, see corner_decide_kernel().
template <int round>
void launch_decide(const CornerJob& job, CudaStream stream) {
  launch_resident(corner_decide_kernel, kDecideThreads, stream, launch_of(job), round);
}

}  // namespace

std::vector<CornerPass> corner_cuda_passes(Extent extent, int capacity, bool deep) {
  const double pixels = static_cast<double>(extent.width) * extent.height, places = capacity;
  return {{.spec = {.name = "clear", .bytes = pixels / 8}, .launch = &launch_clear},
          {.spec = {.name = "eigenvalues", .bytes = pixels * (deep ? 2 : 1), .operations = 60 * pixels},
           .launch = &launch_map},
          {.spec = {.name = "gather", .bytes = 32 * places, .operations = 100 * places},
           .launch = &launch_gather<0>},
          {.spec = {.name = "decide", .bytes = 64 * places, .operations = 1000 * places},
           .launch = &launch_decide<0>},
          {.spec = {.name = "gather rest"}, .launch = &launch_gather<1>},
          {.spec = {.name = "decide rest"}, .launch = &launch_decide<1>},
          {.spec = {.name = "select"}, .launch = &launch_corner_select},
          {.spec = {.name = "rank", .bytes = 20 * places, .operations = 2 * places * places},
           .launch = &launch_corner_rank}};
}

}  // namespace lensd

#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/klt/klt.hpp"
#include "kernels/klt/klt_table.hpp"

namespace lensd {
namespace {

/// A block compares 256 tracks, one per thread, with `range` tracks. The last block to finish counts the
/// tracks.
struct KltSettleTuning {
  static constexpr int threads = 256, range = 512;
};
/// One block updates the table; a thread processes up to 16 consecutive slots.
struct KltTableTuning {
  static constexpr int threads = 1024, slots = kMaxTracks / threads;
};

/// Returns a track's status, read from L2, since other blocks may have written it.
__device__ TrackStatus klt_status(const TrackTable* table, int slot) {
  return static_cast<TrackStatus>(__ldcg(reinterpret_cast<const unsigned*>(&table->tracks()[slot].status)));
}

__device__ void klt_count(TrackTable& table, const KltShape& shape, const KltState& state,
                          const KltBlock& block, uint32_t* wanted) {
  __shared__ uint32_t counts[kTrackStatuses];
  const int t = static_cast<int>(threadIdx.x);
  if (t < kTrackStatuses) counts[t] = 0;
  __syncthreads();
  for (int i = t - (t & 31); i < shape.capacity; i += KltSettleTuning::threads) {
    const int slot = i + (t & 31);
    const uint32_t status =
        slot < shape.capacity ? static_cast<uint32_t>(klt_status(&table, slot)) : kTrackStatuses;
    for (uint32_t s = 0; s < kTrackStatuses; ++s) {
      const unsigned same = __ballot_sync(~0u, status == s);
      if (same != 0 && (t & 31) == 0) atomicAdd(&counts[s], static_cast<uint32_t>(__popc(same)));
    }
  }
  __syncthreads();
  if (t != 0) return;
  const auto count = [](TrackStatus s) { return counts[static_cast<uint32_t>(s)]; };
  klt_start_header(table, *reinterpret_cast<const TrackTable*>(state.before()), shape, *state.frame);
  for (int s = 0; s < kTrackStatuses; ++s) table.counts[s] = counts[s];
  table.alive = count(TrackStatus::tracked);
  *wanted = table.alive >= block.redetect_below && state.frame->reset == 0
                ? 0
                : count(TrackStatus::empty) + count(TrackStatus::lost_cut);
  table.detected = *wanted > 0 ? 1 : 0;
  table.reserved = 0;
}

__global__ void __launch_bounds__(KltSettleTuning::threads)
    klt_settle_kernel(const __grid_constant__ KltShape shape, KltState state, const KltBlock* params,
                      TrackTable* table, uint32_t* wanted) {
  using T = KltSettleTuning;
  __shared__ float3 others[T::range];  // x, y and the bits of the id
  const int t = static_cast<int>(threadIdx.x), begin = static_cast<int>(blockIdx.y) * T::range;
  // Includes tracks that another block has already marked as crowded.
  const auto followed = [table](int slot) {
    const TrackStatus status = klt_status(table, slot);
    return status == TrackStatus::tracked || status == TrackStatus::lost_crowded;
  };
  const float reach = params->crowded_squared;
  if (reach > 0) {
    for (int i = t; i < T::range; i += T::threads) {
      const int slot = begin + i;
      const bool there = slot < shape.capacity && followed(slot);
      const Track* track = table->tracks() + slot;
      others[i] = there ? make_float3(track->x, track->y, __uint_as_float(track->id))
                        : make_float3(0, 0, __uint_as_float(~0u));
    }
    __syncthreads();
    const int own = static_cast<int>(blockIdx.x) * T::threads + t;
    if (own < shape.capacity && followed(own)) {
      Track& track = table->tracks()[own];
      const float x = track.x, y = track.y;
      const uint32_t id = track.id;
      bool crowded = false;
#pragma unroll 8
      for (int i = 0; i < T::range; ++i) {
        const float dx = others[i].x - x, dy = others[i].y - y;
        crowded |= __float_as_uint(others[i].z) < id && dx * dx + dy * dy < reach;
      }
      if (crowded) track.status = TrackStatus::lost_crowded;
    }
  }
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (t == 0) last = atomicAdd(&table->reserved, 1u) == gridDim.x * gridDim.y - 1;
  __syncthreads();
  if (last) klt_count(*table, shape, state, *params, wanted);
}

/// Exclusive prefix sum of a thread's value, and total over the block.
struct KltScan {
  uint32_t before, all;
};
__device__ KltScan klt_scan(uint32_t value, uint32_t (&sums)[32]) {
  const int lane = static_cast<int>(threadIdx.x & 31), warp = static_cast<int>(threadIdx.x / 32);
  const uint32_t up_to = warp_inclusive_sum(value);
  __syncthreads();
  if (lane == 31) sums[warp] = up_to;
  __syncthreads();
  const uint32_t of_warp = warp_inclusive_sum(sums[lane]);
  const uint32_t all = __shfl_sync(~0u, of_warp, 31);
  const uint32_t warps_before = __shfl_sync(~0u, of_warp, warp > 0 ? warp - 1 : 0);
  return {up_to - value + (warp > 0 ? warps_before : 0), all};
}

/// Returns the age of rank `rank` (0: youngest) among the live tracks. Finds it bit by bit, from the highest
/// bit.
__device__ uint32_t klt_age_of_rank(const uint32_t (&ages)[KltTableTuning::slots], uint32_t rank,
                                    uint32_t (&sums)[32]) {
  uint32_t most = 0;
#pragma unroll
  for (const uint32_t age : ages) most |= age == ~0u ? 0 : age;
  __shared__ uint32_t bits;
  if (threadIdx.x == 0) bits = 0;
  __syncthreads();
  if (most != 0) atomicOr(&bits, most);
  __syncthreads();
  uint32_t found = 0;
  for (int bit = 31 - __clz(static_cast<int>(bits)); bit >= 0; --bit) {
    const uint32_t candidate = found | 1u << bit;
    uint32_t below = 0;
#pragma unroll
    for (const uint32_t age : ages) below += age < candidate ? 1 : 0;
    if (klt_scan(below, sums).all <= rank) found = candidate;
  }
  return found;
}

__global__ void __launch_bounds__(KltTableTuning::threads)
    klt_table_kernel(const __grid_constant__ KltShape shape, KltState state, TrackTable* table,
                     const Corner* corners, const CornerCount* count) {
  using T = KltTableTuning;
  __shared__ uint32_t sums[32];
  const int each = (shape.capacity + T::threads - 1) / T::threads;
  const int begin = static_cast<int>(threadIdx.x) * each, end = min(begin + each, shape.capacity);
  Track* tracks = table->tracks();
  uint32_t empty = 0, cut = 0;
  for (int i = begin; i < end; ++i) {
    empty += tracks[i].status == TrackStatus::empty ? 1 : 0;
    cut += tracks[i].status == TrackStatus::lost_cut ? 1 : 0;
  }
  const KltScan empties = klt_scan(empty, sums), cuts = klt_scan(cut, sums);
  const uint32_t found = count->found, strongest = count->strongest, first_id = table->next_id;
  uint32_t next_empty = empties.before, next_cut = empties.all + cuts.before;
  uint32_t ages[T::slots];
#pragma unroll
  for (int k = 0; k < T::slots; ++k) {
    const int i = begin + k;
    ages[k] = ~0u;
    if (i >= end) continue;
    const TrackStatus status = tracks[i].status;
    uint32_t rank = ~0u;
    if (status == TrackStatus::empty) rank = next_empty++;
    if (status == TrackStatus::lost_cut) rank = next_cut++;
    if (rank < found) tracks[i] = klt_new_track(corners[rank], first_id + rank, strongest);
    if (is_alive(tracks[i].status)) ages[k] = tracks[i].age;
  }
  __syncthreads();  // all threads have read the header
  const uint32_t alive = table->alive + found;
  const uint32_t median = alive > 0 ? klt_age_of_rank(ages, (alive - 1) / 2, sums) : 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    table->counts[static_cast<uint32_t>(TrackStatus::empty)] -= min(empties.all, found);
    table->counts[static_cast<uint32_t>(TrackStatus::fresh)] = found;
    table->alive = alive, table->next_id = first_id + found;
    table->median_age = median;
  }
  __syncthreads();
  const auto* from = reinterpret_cast<const uint2*>(table);
  auto* to = reinterpret_cast<uint2*>(state.after());
  const int words = static_cast<int>(track_table_bytes(shape.capacity) / sizeof(uint2));
  for (int i = static_cast<int>(threadIdx.x); i < words; i += T::threads) to[i] = from[i];
}
static_assert(sizeof(TrackTable) % sizeof(uint2) == 0 && sizeof(Track) % sizeof(uint2) == 0);

}  // namespace

void Klt::launch_settle(const PassArgs& args, CudaStream stream) const {
  const dim3 grid(blocks_for(shape_.capacity, KltSettleTuning::threads),
                  blocks_for(shape_.capacity, KltSettleTuning::range));
  klt_settle_kernel<<<grid, KltSettleTuning::threads, 0, stream>>>(shape_, state_of(args), &block_of(args),
                                                                   &table_of(args), &detection(args).wanted);
  LENSD_LAUNCHED();
}

void Klt::launch_detect(const PassArgs& args, CudaStream stream) const {
  corner_passes_[static_cast<size_t>(args.step)].launch(corner_job(args), stream);
}

void Klt::launch_finish(const PassArgs& args, CudaStream stream) const {
  klt_table_kernel<<<1, KltTableTuning::threads, 0, stream>>>(
      shape_, state_of(args), &table_of(args), detection(args).corners(), &detection(args).count);
  LENSD_LAUNCHED();
}

}  // namespace lensd

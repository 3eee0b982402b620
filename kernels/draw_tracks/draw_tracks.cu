#include "kernels/common/chunk.cuh"
#include "kernels/common/deep/samples.cuh"
#include "kernels/draw_tracks/draw_tracks.hpp"
#include "kernels/draw_tracks/draw_tracks_simd.hpp"

namespace lensd {
namespace {

/// The number of tracks is known only on the device, so a fixed grid strides over them: eight blocks for each
/// of 132 multiprocessors.
struct DrawTuning {
  static constexpr int blocks = 8 * 132, threads = 256;
};

__device__ int slots_of(const TrackTable* table) {
  return static_cast<int>(min(table->capacity, static_cast<uint32_t>(kMaxTracks)));
}
__device__ int global_thread() {
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}
__device__ int all_threads() {
  return static_cast<int>(gridDim.x * blockDim.x);
}

/// Updates the points of the history, then clears the keys, four at a time.
__global__ void history_kernel(const DrawTracksBlock* block, const TrackTable* table, Extent extent,
                               StatePair<DrawHistory> state, int trail, uint4* keys, int key_words) {
  const DrawGrid grid = DrawGrid::make(extent, table->picture);
  const DrawHistory* before = state.before();
  DrawHistory* after = state.after();
  const int slots = slots_of(table), entries = trail + 1;
  const uint32_t known = state.frame->reset ? 0 : before->capacity;
  if (global_thread() == 0) after->capacity = static_cast<uint32_t>(slots);
  for (int i = global_thread(); i < slots * entries; i += all_threads()) {
    const int slot = i / entries, k = i - slot * entries;
    const Track& now = table->tracks()[slot];
    const DrawSlot last = static_cast<uint32_t>(slot) < known ? before->slots()[slot] : DrawSlot{0, 0};
    const bool keeps = continues_trail(last, now);
    if (k == 0) after->slots()[slot] = next_slot(block->colour, keeps, last, now);
    after->points(slot, trail)[k] = next_point(grid, now, keeps, before->points(slot, trail), k);
  }
  for (int i = global_thread(); i < key_words; i += all_threads()) keys[i] = make_uint4(0, 0, 0, 0);
}

/// Draws one mark per warp, 8×4 pixels at a time; most marks are about that size.
__global__ void draw_kernel(const DrawTracksBlock* block, const TrackTable* table, Extent extent,
                            StatePair<DrawHistory> state, int trail, uint32_t* keys, int key_pitch) {
  const DrawGrid grid = DrawGrid::make(extent, table->picture);
  const DrawHistory* history = state.after();
  const int lane = static_cast<int>(threadIdx.x) & 31, entries = trail + 1;
  const int marks = slots_of(table) * entries;
  for (int i = global_thread() / 32; i < marks; i += all_threads() / 32) {
    const int slot = i / entries;
    DrawMark mark;
    if (!mark_of(*block, grid, history->slots()[slot], history->points(slot, trail), i - slot * entries,
                 trail, mark))
      continue;
    const DrawSpan rows = rows_of(mark, extent.height);
    for (int y = rows.first + lane / 8; y <= rows.last; y += 4) {
      const DrawSpan columns = columns_of(mark, y, extent.width);
      uint32_t* row = keys + static_cast<size_t>(y) * key_pitch;
      for (int x = columns.first + lane % 8; x <= columns.last; x += 8) {
        const uint32_t key = mark_key(mark, static_cast<float>(x), static_cast<float>(y));
        if (key != 0) atomicMax(row + x, key);
      }
    }
  }
}

/// Blends one chunk of 16 bytes per thread: 4 RGBA8 or 16 Gray8 pixels. Most chunks have no key and are only
/// copied.
template <bool gray>
__global__ void blend_kernel(ImageView<const uint8_t> in, ImageView<uint8_t> out, int row_bytes, bool aligned,
                             const uint32_t* keys, int key_pitch, const DrawTracksBlock* block) {
  const int x = chunk_x(), left = row_bytes - x;
  const int y = static_cast<int>(blockIdx.y * ChunkShape::rows + threadIdx.y);
  if (left <= 0 || y >= in.extent.height) return;
  Chunk chunk = load_chunk(in.row(y) + x, left, aligned);
  const auto* of_row = reinterpret_cast<const uint4*>(keys + static_cast<size_t>(y) * key_pitch);
  const uint32_t rim = block->rim, opacity = block->opacity;
#pragma unroll
  for (int i = 0; i < (gray ? 4 : 1); ++i) {
    const uint4 four = of_row[gray ? x / 4 + i : x / 16];
    const uint32_t key[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (key[j] == 0) continue;
      const uint32_t colour = block->ramp[key[j] & 255];
      if (gray) {
        const uint32_t shift = static_cast<uint32_t>(8 * j), v = chunk.word[i] >> shift & 255;
        chunk.word[i] ^= (v ^ blend_key(v, key[j], colour >> 24, rim, opacity)) << shift;
      } else {
        uint32_t result = chunk.word[j] & 0xff000000u;
#pragma unroll
        for (int c = 0; c < 24; c += 8)
          result |= blend_key(chunk.word[j] >> c & 255, key[j], colour >> c & 255, rim, opacity) << c;
        chunk.word[j] = result;
      }
    }
  }
  store_chunk(out.row(y) + x, chunk, left, aligned);
}

struct DeepBlend {
  const uint32_t* keys;
  int pitch;
  bool gray;
  const DrawTracksBlock* block;

  __device__ uint32_t operator()(int i, int y, uint32_t v) const {
    const uint32_t key = keys[static_cast<size_t>(y) * pitch + (gray ? i : i / 4)];
    if (key == 0) return v;
    const uint32_t colour = block->ramp[key & 255] >> (gray ? 24 : (i & 3) * 8) & 255;
    return deep_blend_key(v, key, colour, block->rim, block->opacity);
  }
};

uint32_t* keys_of(const PassArgs& args) {
  return reinterpret_cast<uint32_t*>(args.scratch[0]);
}
int key_pitch_of(const PassArgs& args) {
  return static_cast<int>(draw_key_pitch(args.in[0].width()));
}

}  // namespace

void DrawTracks::launch_history(const PassArgs& args, CudaStream stream) const {
  const Extent extent = args.in[0].format.extent;
  history_kernel<<<DrawTuning::blocks, DrawTuning::threads, 0, stream>>>(
      static_cast<const DrawTracksBlock*>(args.block), args.tracks, extent, args.state_of<DrawHistory>(),
      trail_, reinterpret_cast<uint4*>(keys_of(args)), key_pitch_of(args) / 4 * extent.height);
  LENSD_LAUNCHED();
}

void DrawTracks::launch_draw(const PassArgs& args, CudaStream stream) const {
  draw_kernel<<<DrawTuning::blocks, DrawTuning::threads, 0, stream>>>(
      static_cast<const DrawTracksBlock*>(args.block), args.tracks, args.in[0].format.extent,
      args.state_of<DrawHistory>(), trail_, keys_of(args), key_pitch_of(args));
  LENSD_LAUNCHED();
}

void DrawTracks::launch_blend(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  if (in.is_deep())
    return launch_deep_samples(in, args.out, stream,
                               DeepBlend{keys_of(args), key_pitch_of(args), in.channels() == 1,
                                         static_cast<const DrawTracksBlock*>(args.block)});
  const auto kernel = in.channels() == 1 ? blend_kernel<true> : blend_kernel<false>;
  kernel<<<chunk_grid(in.format), chunk_block(), 0, stream>>>(
      in.as<const uint8_t>(), args.out.as<uint8_t>(), static_cast<int>(in.row_bytes()),
      aligned16(in) && aligned16(args.out), keys_of(args), key_pitch_of(args),
      static_cast<const DrawTracksBlock*>(args.block));
  LENSD_LAUNCHED();
}

}  // namespace lensd

// Corner detection on the CPU.
//
//   run_maxima, row bands: gradients → column sums → eigenvalues → local maxima, a list per kChunk rows
//   run_selection, once:   threshold → buckets by strength → strongest first: each marks a disc in a bitmap
#include "kernels/corners/corners.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include "kernels/common/row_ring.hpp"
#include "kernels/corners/corners_device.hpp"
#include "kernels/corners/corners_simd.hpp"

namespace lensd {
namespace {

/// Rows of a chunk. The number is even, so a chunk consists of 2×2 squares, each with at most one local
/// maximum.
constexpr int kChunk = 16;
constexpr int kMargin = 16;  ///< padding on both sides of a row of gradients; at least kCornerMaxBlock / 2
constexpr int kRing = kCornerMaxBlock + 1;

/// Scratch memory that the passes share.
struct CornerMemory {
  int width, height, chunks;
  size_t chunk_places, words;  ///< maximum keys of a chunk; 64-bit words per row of the bitmap
  uint32_t *counts, *strongest;
  uint64_t *keys, *sorted, *suppressed;
  uint32_t* buckets;
  int32_t* half_widths;
  size_t bytes;

  CornerMemory(uint8_t* memory, Extent e)
      : width(e.width),
        height(e.height),
        chunks((e.height + kChunk - 1) / kChunk),
        chunk_places(static_cast<size_t>(kChunk / 2) * ((static_cast<size_t>(e.width) + 1) / 2)),
        words((static_cast<size_t>(e.width) + 63) / 64) {
    Carver carver(memory);
    const auto n = static_cast<size_t>(chunks);
    counts = carver.take<uint32_t>(n), strongest = carver.take<uint32_t>(n);
    keys = carver.take<uint64_t>(n * chunk_places), sorted = carver.take<uint64_t>(n * chunk_places);
    suppressed = carver.take<uint64_t>(words * static_cast<size_t>(height));
    buckets = carver.take<uint32_t>(CornerBuckets::count + 1);
    half_widths = carver.take<int32_t>(kMaxSide);
    bytes = carver.used();
  }
};

/// Private memory of a worker.
struct CornerWorker {
  uint8_t* ring;
  size_t gradient_pitch;
  int32_t* gradients;  ///< ring of rows, followed by a row of zeros
  CornerColumns sums;
  float* strengths[3];
  uint32_t* x;
  float* strength;
  size_t bytes;

  CornerWorker(uint8_t* memory, int width) {
    Carver carver(memory);
    const auto w = static_cast<size_t>(width);
    const size_t row = w + kCornerSlack, padded = row + 2 * kMargin;
    gradient_pitch = (padded + 15) / 16 * 16;
    ring = carver.take<uint8_t>(RowRing::bytes({PixelFormat::gray16, {width, 1}}, 1));
    gradients = carver.take<int32_t>(gradient_pitch * (kRing + 1));
    sums = {carver.take<int32_t>(padded), carver.take<int32_t>(padded), carver.take<int32_t>(padded)};
    for (float*& s : strengths) s = carver.take<float>(row);
    x = carver.take<uint32_t>(row), strength = carver.take<float>(row);
    bytes = carver.used();
  }
};

/// Computes the smallest eigenvalues of the rows of a band, from top to bottom.
class StrengthRows {
 public:
  StrengthRows(const CornerLuma& luma, int block, const CornerWorker& worker)
      : image_{luma.view<uint8_t>().data,
               luma.pitch_bytes,
               {luma.deep ? PixelFormat::gray16 : PixelFormat::gray8, luma.extent}},
        block_(block),
        worker_(worker),
        pixels_(image_, 1, Border::reflect101, worker.ring) {
    std::memset(zeros(), 0, worker.gradient_pitch * sizeof(int32_t));
  }

  /// Computes row y and returns its maximum. Values below `least` may be stored as 0. `y` must be the
  /// previous call's row + 1.
  float next(int y, float least, float* strength) {
    const int first = y - block_ / 2, end = first + block_;
    if (!started_) {
      for (int32_t* sum : {worker_.sums.s, worker_.sums.a, worker_.sums.b})
        std::memset(sum, 0, static_cast<size_t>(image_.width() + block_ - 1) * sizeof(int32_t));
      for (int row = first; row < end; ++row) add(row, zeros());
      started_ = true;
    } else {
      add(end - 1, slot(first - 1));
    }
    return corner_strength_row(worker_.sums, block_, corner_is_narrow(block_, image_.is_deep()), least,
                               strength, image_.width());
  }

 private:
  int32_t* slot(int row) const {
    return worker_.gradients + worker_.gradient_pitch * static_cast<size_t>((row + kRing) % kRing);
  }
  const uint16_t* deep_row(int dy) const { return reinterpret_cast<const uint16_t*>(pixels_.row(dy)); }
  int32_t* zeros() const { return worker_.gradients + worker_.gradient_pitch * kRing; }

  /// Adds the gradient products of row `row` to the column sums and subtracts those of `removed`. Border
  /// rule: reflect101.
  void add(int row, const int32_t* removed) {
    const int width = image_.width(), inside = border_index(row, image_.height(), Border::reflect101);
    if (inside != pixel_row_ + 1) pixels_ = RowRing(image_, 1, Border::reflect101, worker_.ring);
    pixels_.move_to(inside);
    pixel_row_ = inside;
    int32_t* const gradient = slot(row) + kMargin;
    if (image_.is_deep())
      corner_deep_gradient_row(deep_row(-1), deep_row(0), deep_row(1), corner_fraction_bits(block_), gradient,
                               width);
    else
      corner_gradient_row(pixels_.row(-1), pixels_.row(0), pixels_.row(1), gradient, width);
    const int before = block_ / 2, after = block_ - 1 - before;
    for (int x = -before; x < 0; ++x) gradient[x] = gradient[border_index(x, width, Border::reflect101)];
    for (int x = width; x < width + after; ++x)
      gradient[x] = gradient[border_index(x, width, Border::reflect101)];
    corner_columns_row(gradient - before, removed + kMargin - before, worker_.sums, width + block_ - 1);
  }

  ConstImageRef image_;
  int block_;
  const CornerWorker& worker_;
  RowRing pixels_;
  int pixel_row_ = -2;
  bool started_ = false;
};

void find_maxima(const CornerMemory& memory, const CornerLuma& luma, const CornerParams& params, Band band,
                 const CornerWorker& worker) {
  const int first_chunk = band.begin / kChunk, end_chunk = (band.end + kChunk - 1) / kChunk;
  std::fill(memory.counts + first_chunk, memory.counts + end_chunk, 0u);
  StrengthRows rows(luma, params.block, worker);
  const auto strength = [&](int y) { return worker.strengths[y % 3]; };
  float strongest = 0;
  const int last = std::min(band.end, memory.height - 1);
  for (int y = std::max(band.begin - 1, 0); y <= last; ++y) {
    // A lower bound of the final threshold: later rows and other bands can only raise the maximum.
    const float least = params.quality * strongest;
    strongest = std::max(strongest, rows.next(y, least, strength(y)));
    const int centre = y - 1;
    if (centre < std::max(band.begin, 1)) continue;
    const int found = corner_maxima_row(strength(centre - 1), strength(centre), strength(y), memory.width,
                                        params.quality * strongest, worker.x, worker.strength);
    const int chunk = centre / kChunk;
    uint64_t* const keys = memory.keys + static_cast<size_t>(chunk) * memory.chunk_places;
    for (int i = 0; i < found; ++i) {
      uint32_t bits;
      std::memcpy(&bits, worker.strength + i, sizeof bits);
      keys[memory.counts[chunk]++] = corner_key(bits, static_cast<int>(worker.x[i]), centre);
    }
  }
  uint32_t bits;
  std::memcpy(&bits, &strongest, sizeof bits);
  std::fill(memory.strongest + first_chunk, memory.strongest + end_chunk, bits);
}

/// Bitmap of the pixels that are too close to a live track or to a selected corner. A query reads one bit.
/// Selected corners are at least the minimum distance apart, so only a few of their discs contain the same
/// pixel. Therefore the cost is at most proportional to the picture's size, for any distance.
class SuppressionMap {
 public:
  SuppressionMap(const CornerMemory& memory, float min_distance) : memory_(memory) {
    std::memset(memory.suppressed, 0, memory.words * static_cast<size_t>(memory.height) * sizeof(uint64_t));
    const int64_t reach = corner_reach_squared(min_distance);
    int64_t half = memory.width;
    for (int64_t dy = 0; dy < memory.height && dy * dy < reach; ++dy) {
      while (half > 0 && half * half + dy * dy >= reach) --half;
      memory.half_widths[rows_++] = static_cast<int32_t>(half);
    }
  }

  bool contains(int x, int y) const {
    return memory_.suppressed[memory_.words * static_cast<size_t>(y) + static_cast<size_t>(x) / 64] >>
               (x & 63) &
           1;
  }

  void add(int x, int y) {
    const int first = std::max(y - rows_ + 1, 0), last = std::min(y + rows_ - 1, memory_.height - 1);
    for (int row = first; row <= last; ++row) {
      const int half = memory_.half_widths[std::abs(row - y)];
      fill(row, std::max(x - half, 0), std::min(x + half, memory_.width - 1));
    }
  }

 private:
  /// Sets the bits of pixels first … last of a row.
  void fill(int row, int first, int last) {
    uint64_t* const words = memory_.suppressed + memory_.words * static_cast<size_t>(row);
    const int begin = first / 64, end = last / 64;
    const uint64_t head = ~uint64_t{0} << (first & 63), tail = ~uint64_t{0} >> (63 - (last & 63));
    if (begin == end) {
      words[begin] |= head & tail;
      return;
    }
    words[begin] |= head;
    for (int i = begin + 1; i < end; ++i) words[i] = ~uint64_t{0};
    words[end] |= tail;
  }

  const CornerMemory& memory_;
  int rows_ = 0;
};

uint32_t wanted_corners(const CornerJob& job) {
  return std::min(*job.wanted, static_cast<uint32_t>(job.params->capacity));
}

uint32_t threshold_of(const CornerParams& params, uint32_t strongest) {
  float value;
  std::memcpy(&value, &strongest, sizeof value);
  value = params.quality * value;
  std::memcpy(&strongest, &value, sizeof value);
  return strongest;
}

/// Fills memory.sorted with the keys above the threshold, strongest bucket first; memory.buckets holds the
/// ends of the buckets.
void fill_buckets(const CornerMemory& memory, uint32_t strongest, uint32_t threshold) {
  const auto each = [&](auto body) {
    for (int chunk = 0; chunk < memory.chunks; ++chunk) {
      const uint64_t* const keys = memory.keys + static_cast<size_t>(chunk) * memory.chunk_places;
      for (uint32_t i = 0; i < memory.counts[chunk]; ++i) {
        const uint32_t strength = corner_key_strength(keys[i]);
        if (strength > threshold) body(keys[i], CornerBuckets::of(strength, strongest));
      }
    }
  };
  // Counts are stored one bucket later, so that their prefix sums are the buckets' starts. Filling moves each
  // start to the bucket's end.
  std::fill_n(memory.buckets, CornerBuckets::count + 1, 0u);
  each([&](uint64_t, int bucket) { ++memory.buckets[bucket + 1]; });
  for (int i = 0; i < CornerBuckets::count; ++i) memory.buckets[i + 1] += memory.buckets[i];
  each([&](uint64_t key, int bucket) { memory.sorted[memory.buckets[bucket]++] = key; });
}

void run_maxima(const CornerJob& job, Band band, uint8_t* worker) {
  if (wanted_corners(job) == 0) return;
  const CornerMemory memory(job.scratch, job.luma.extent);
  find_maxima(memory, job.luma, *job.params, band, CornerWorker(worker, memory.width));
}

void run_selection(const CornerJob& job, Band, uint8_t*) {
  const CornerParams& params = *job.params;
  const CornerMemory memory(job.scratch, job.luma.extent);
  const uint32_t wanted = wanted_corners(job);
  *job.count = {};
  if (wanted == 0) return;
  CornerCount& count = *job.count;
  count.strongest = *std::max_element(memory.strongest, memory.strongest + memory.chunks);
  fill_buckets(memory, count.strongest, threshold_of(params, count.strongest));
  SuppressionMap suppressed(memory, params.min_distance);
  if (job.tracks)
    for (uint32_t i = 0; i < job.tracks->capacity; ++i) {
      const Track& track = job.tracks->tracks()[i];
      if (is_alive(track.status))
        suppressed.add(corner_pixel(track.x, memory.width), corner_pixel(track.y, memory.height));
    }
  uint64_t* begin = memory.sorted;
  for (int bucket = 0; bucket < CornerBuckets::count; ++bucket) {
    uint64_t* const end = memory.sorted + memory.buckets[bucket];
    std::sort(begin, end, std::greater<>());
    for (; begin != end; ++begin) {
      const int x = corner_key_x(*begin), y = corner_key_y(*begin);
      if (suppressed.contains(x, y)) continue;
      job.found[count.found++] = {x, y, corner_key_strength(*begin)};
      if (count.found == wanted) return;
      suppressed.add(x, y);
    }
  }
}

}  // namespace

size_t corner_scratch_bytes(Extent extent) {
  return std::max(CornerMemory(nullptr, extent).bytes, CornerDeviceMemory(nullptr, extent).bytes);
}

size_t corner_worker_bytes(Extent extent) {
  return CornerWorker(nullptr, extent.width).bytes;
}

std::vector<CornerPass> corner_passes(Extent extent, [[maybe_unused]] int capacity, bool deep,
                                      [[maybe_unused]] Backend backend) {
#if LENSD_CUDA
  if (backend == Backend::cuda) return corner_cuda_passes(extent, capacity, deep);
#endif
  const double pixels = static_cast<double>(extent.width) * extent.height;
  return {
      {.spec = {.name = "eigenvalues",
                .items = extent.height,
                .grain = kChunk,
                .bytes = pixels * (deep ? 2 : 1),
                .operations = 60 * pixels},
       .run = &run_maxima},
      {.spec = {.name = "corners", .bytes = pixels / 8, .operations = pixels / 8}, .run = &run_selection}};
}

}  // namespace lensd

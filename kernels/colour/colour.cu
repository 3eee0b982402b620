#include "kernels/colour/colour_420.cuh"

namespace lensd {
namespace {

/// A thread converts four columns of one row, or of two rows if chroma rows are halved. In colour_420() it
/// converts four columns of four rows. So it loads the chroma samples of these pixels once.
struct ColourTuning {
  static constexpr int threads = 128;
  static constexpr int columns = 4;
};

template <bool kTwoBytes>
__device__ int sample(const ColourJob& job, int component, int x, int y) {
  const ComponentLayout& layout = job.layouts[component];
  return load_sample(job.row(component, y), layout, x, kTwoBytes, job.matrix.sample_mask);
}

__device__ void store_pixel(const ColourJob& job, int x, int y, uint32_t pixel) {
  const Position p = job.straight ? Position{x, y} : upright_position(job.turn, job.upright, x, y);
  store_word(job.out.row(p.y) + 4 * p.x, pixel, job.aligned);
}

/// Chroma samples of one component around four columns, in chroma rows y/2 − 1 to y/2 + 1 (one row if chroma
/// rows are not halved).
template <bool kTwoBytes, int kShiftX, int kShiftY>
struct ChromaPatch {
  static constexpr int kColumns = 4, kRows = kShiftY ? 3 : 1;
  int at[kRows][kColumns];

  __device__ void load(const ColourJob& job, int component, int x, int y) {
    const int columns = chroma_columns(job), rows = chroma_rows(job);
#pragma unroll
    for (int j = 0; j < kRows; ++j)
#pragma unroll
      for (int i = 0; i < kColumns; ++i) {
        const int cx = kShiftX ? x / 2 - 1 + i : x + i, cy = kShiftY ? y / 2 - 1 + j : y;
        at[j][i] = sample<kTwoBytes>(job, component, min(max(cx, 0), columns - 1), min(max(cy, 0), rows - 1));
      }
  }
  /// Returns the chroma of column x + i and row y + j in sixteenths; x and y are the arguments of load().
  __device__ int value(const ColourJob& job, int i, int j) const {
    if constexpr (kShiftY == 0) {
      return 4 * across(job, at[0], i);
    } else {
      const int here = across(job, at[1], i);
      if (job.cosited_y) return j == 0 ? 4 * here : 2 * (here + across(job, at[2], i));
      return 3 * here + across(job, at[j == 0 ? 0 : 2], i);
    }
  }

 private:
  static __device__ int chroma_columns(const ColourJob& job) {
    return (job.extent.width + kShiftX) >> kShiftX;
  }
  static __device__ int chroma_rows(const ColourJob& job) {
    return (job.extent.height + kShiftY) >> kShiftY;
  }
  /// Returns horizontally interpolated chroma in quarters.
  static __device__ int across(const ColourJob& job, const int (&row)[kColumns], int i) {
    if constexpr (kShiftX == 0) {
      return 4 * row[i];
    } else {
      const int c = 1 + i / 2;  // index of the sample that both columns share
      if (job.cosited_x) return i % 2 == 0 ? 4 * row[c] : 2 * (row[c] + row[c + 1]);
      return 3 * row[c] + row[i % 2 == 0 ? c - 1 : c + 1];
    }
  }
};

/// Converts a YUV or RGB picture to RGBA8, starting at column first.x and row first.y, which are multiples of
/// 4. `T`: type of the sums.
template <bool kTwoBytes, class T, int kShiftX, int kShiftY>
__global__ void __launch_bounds__(ColourTuning::threads) colour_kernel(ColourJob job, Position first) {
  constexpr int kColumns = ColourTuning::columns, kRows = 1 << kShiftY;
  const int x = first.x + static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * kColumns;
  const int y = first.y + static_cast<int>(blockIdx.y) * kRows;
  const int width = job.extent.width, height = job.extent.height;
  if (x >= width) return;
  ChromaPatch<kTwoBytes, kShiftX, kShiftY> u, v;
  u.load(job, 1, x, y), v.load(job, 2, x, y);
#pragma unroll
  for (int j = 0; j < kRows; ++j) {
    if (y + j >= height) break;
    uint32_t pixels[kColumns];
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      const int column = min(x + i, width - 1);
      const int luma = sample<kTwoBytes>(job, 0, column, y + j);
      if (kShiftX + kShiftY == 0 && job.rgb)
        pixels[i] = colour_of_plain<T>(job.matrix, luma) | colour_of_plain<T>(job.matrix, u.at[0][i]) << 8 |
                    colour_of_plain<T>(job.matrix, v.at[0][i]) << 16;
      else
        pixels[i] = colour_of_yuv<T>(job.matrix, luma, u.value(job, i, j), v.value(job, i, j));
      const uint32_t alpha =
          job.has_alpha ? colour_of_alpha<T>(job.matrix, sample<kTwoBytes>(job, 3, column, y + j)) : 255u;
      pixels[i] |= alpha << 24;
    }
    if (job.wide && x + kColumns <= width) {
      *reinterpret_cast<uint4*>(job.out.row(y + j) + 4 * x) =
          make_uint4(pixels[0], pixels[1], pixels[2], pixels[3]);
      continue;
    }
#pragma unroll
    for (int i = 0; i < kColumns; ++i)
      if (x + i < width) store_pixel(job, x + i, y + j, pixels[i]);
  }
}

template <bool kTwoBytes>
__global__ void __launch_bounds__(ColourTuning::threads) colour_gray_kernel(ColourJob job) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * ColourTuning::columns;
  const int y = static_cast<int>(blockIdx.y);
  const int count = min(ColourTuning::columns, job.extent.width - x);
  if (count <= 0) return;
  uint32_t word = 0;
  for (int i = 0; i < count; ++i)
    word |= colour_of_plain<int64_t>(job.matrix, sample<kTwoBytes>(job, 0, x + i, y)) << (8 * i);
  if (job.straight) return store_bytes(job.out.row(y) + x, word, count, job.wide);
  for (int i = 0; i < count; ++i) {
    const Position p = upright_position(job.turn, job.upright, x + i, y);
    job.out.row(p.y)[p.x] = static_cast<uint8_t>(word >> (8 * i));
  }
}

template <bool kTwoBytes, class T, int kShiftX, int kShiftY>
void launch_shifts(const ColourJob& job, CudaStream stream, Position first) {
  const dim3 grid(blocks_for(job.extent.width - first.x, ColourTuning::threads * ColourTuning::columns),
                  blocks_for(job.extent.height - first.y, 1 << kShiftY));
  if (grid.x == 0 || grid.y == 0) return;
  colour_kernel<kTwoBytes, T, kShiftX, kShiftY><<<grid, ColourTuning::threads, 0, stream>>>(job, first);
}

template <bool kTwoBytes, bool kPlanes, bool kCositedX>
__global__ void __launch_bounds__(ColourTuning::threads) colour_420_kernel(ColourJob job) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * ColourTuning::columns;
  if (x + ColourTuning::columns > job.extent.width) return;
  colour_420<kTwoBytes, kPlanes, kCositedX>(job, x, static_cast<int>(blockIdx.y) * kColour420Rows);
}

/// Launches colour_420() where whole patches fit, and colour_kernel() for the remaining columns and rows.
template <bool kTwoBytes>
void launch_420(const ColourJob& job, CudaStream stream) {
  const Extent e = job.extent;
  const dim3 grid(blocks_for(e.width, ColourTuning::threads * ColourTuning::columns),
                  static_cast<unsigned>(e.height / kColour420Rows));
  const auto of_planes =
      job.cosited_x ? colour_420_kernel<kTwoBytes, true, true> : colour_420_kernel<kTwoBytes, true, false>;
  const auto of_pairs =
      job.cosited_x ? colour_420_kernel<kTwoBytes, false, true> : colour_420_kernel<kTwoBytes, false, false>;
  const auto kernel = job.packing == ColourPacking::planes ? of_planes : of_pairs;
  if (grid.y > 0) kernel<<<grid, ColourTuning::threads, 0, stream>>>(job);
  const int right = e.width / ColourTuning::columns * ColourTuning::columns;
  const int below = e.height / kColour420Rows * kColour420Rows;
  launch_shifts<kTwoBytes, int32_t, 1, 1>(job, stream, {right, 0});
  launch_shifts<kTwoBytes, int32_t, 1, 1>(job, stream, {0, below});
}

template <bool kTwoBytes, class T>
void launch_colour(const PictureFormat& f, const ColourJob& job, CudaStream stream) {
  if constexpr (sizeof(T) == 4)
    if (job.packing != ColourPacking::none) return launch_420<kTwoBytes>(job, stream);
  constexpr decltype(&launch_shifts<kTwoBytes, T, 0, 0>) kByShifts[2][2] = {
      {launch_shifts<kTwoBytes, T, 0, 0>, launch_shifts<kTwoBytes, T, 0, 1>},
      {launch_shifts<kTwoBytes, T, 1, 0>, launch_shifts<kTwoBytes, T, 1, 1>}};
  kByShifts[f.chroma_shift_x][f.chroma_shift_y](job, stream, {0, 0});
}

ColourPacking packing_of(const PictureInfo& info, const ColourJob& job) {
  const PictureFormat& f = info.format;
  const int bytes = f.depth > 8 ? 2 : 1;
  const ComponentLayout &y = job.layouts[0], &u = job.layouts[1], &v = job.layouts[2];
  const bool is_420 = f.model == ColourModel::yuv && f.chroma_shift_x == 1 && f.chroma_shift_y == 1;
  if (!is_420 || f.has_alpha || f.depth > 12 || !job.wide) return ColourPacking::none;
  if (u.shift != y.shift || v.shift != y.shift) return ColourPacking::none;
  for (size_t c = 0; c < 3; ++c)
    if (((reinterpret_cast<uintptr_t>(job.planes[c]) |
          static_cast<uintptr_t>(static_cast<intptr_t>(job.pitches[c]))) &
         7) != 0)
      return ColourPacking::none;
  if (y.step != bytes || y.offset != 0 || u.offset != 0) return ColourPacking::none;
  if (u.plane == v.plane && u.plane != y.plane && u.step == 2 * bytes && v.step == u.step &&
      v.offset == bytes)
    return ColourPacking::pairs;
  const bool apart = u.plane != v.plane && u.plane != y.plane && v.plane != y.plane;
  return apart && u.step == bytes && v.step == bytes && v.offset == 0 ? ColourPacking::planes
                                                                      : ColourPacking::none;
}

ColourJob make_job(const PictureRef& picture, const ColourMatrix& matrix, ImageRef out) {
  const PictureInfo& info = picture.info;
  ColourJob job{};
  for (size_t c = 0; c < 4; ++c) {
    job.layouts[c] = info.format.components[c];
    job.planes[c] = picture.planes[job.layouts[c].plane];
    job.pitches[c] = static_cast<int32_t>(picture.pitch_bytes[job.layouts[c].plane]);
  }
  job.extent = info.extent, job.upright = info.upright(), job.matrix = matrix, job.turn = info.orientation;
  job.out = out.as<uint8_t>();
  job.rgb = info.format.model == ColourModel::rgb, job.has_alpha = info.format.has_alpha;
  job.cosited_x = cosited_x(info), job.cosited_y = cosited_y(info);
  job.straight = info.orientation == Orientation{};
  job.wide = job.straight && rows_aligned(out, out.channels() == 4 ? 16 : 4);
  job.aligned = rows_aligned(out, 4);
  job.packing = packing_of(info, job);
  return job;
}

}  // namespace

void Colour::launch_convert(const PassArgs& args, CudaStream stream) const {
  const PictureFormat& f = args.picture->info.format;
  const ColourJob job = make_job(*args.picture, matrix_, args.out);
  if (f.model == ColourModel::gray) {
    const dim3 grid(blocks_for(job.extent.width, ColourTuning::threads * ColourTuning::columns),
                    static_cast<unsigned>(job.extent.height));
    const auto kernel = f.depth > 8 ? colour_gray_kernel<true> : colour_gray_kernel<false>;
    kernel<<<grid, ColourTuning::threads, 0, stream>>>(job);
  } else if (f.depth <= 8) {
    launch_colour<false, int32_t>(f, job, stream);
  } else if (f.depth <= 12) {
    launch_colour<true, int32_t>(f, job, stream);
  } else {
    launch_colour<true, int64_t>(f, job, stream);
  }
  LENSD_LAUNCHED();
}

}  // namespace lensd

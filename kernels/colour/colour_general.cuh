// The kernel that converts any YUV or RGB layout to RGBA8, and its launch.
#pragma once

#include "kernels/colour/colour_420.cuh"

namespace lensd {
namespace {

/// A thread converts four columns of one row. In YUV with halved chroma rows it converts two rows (four in
/// colour_420()), so that it loads the chroma samples shared by these rows only once.
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

/// Returns R | G << 8 | B << 16 for the samples of an RGB picture, or for luma and chroma in sixteenths.
template <class T, bool kLight>
__device__ uint32_t colours_of(const ColourJob& job, bool rgb, int a, int b, int c) {
  const ColourMatrix& m = kLight ? job.codes : job.matrix;
  if constexpr (kLight)
    return rgb ? display_of_rgb<T>(m, *job.light, a, b, c) : display_of_yuv<T>(m, *job.light, a, b, c);
  if (!rgb) return colour_of_yuv<T>(m, a, b, c);
  return colour_of_plain<T>(m, a) | colour_of_plain<T>(m, b) << 8 | colour_of_plain<T>(m, c) << 16;
}

/// Converts a YUV or RGB picture to RGBA8, starting at column first.x and row first.y, which are multiples of
/// 4. `T`: type of the sums. `kLight`: converts with ColourJob::light.
template <bool kTwoBytes, class T, int kShiftX, int kShiftY, bool kLight>
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
      const bool rgb = kShiftX + kShiftY == 0 && job.rgb;
      pixels[i] = colours_of<T, kLight>(job, rgb, luma, rgb ? u.at[0][i] : u.value(job, i, j),
                                        rgb ? v.at[0][i] : v.value(job, i, j));
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

template <bool kTwoBytes, class T, int kShiftX, int kShiftY, bool kLight = false>
void launch_shifts(const ColourJob& job, CudaStream stream, Position first) {
  const dim3 grid(blocks_for(job.extent.width - first.x, ColourTuning::threads * ColourTuning::columns),
                  blocks_for(job.extent.height - first.y, 1 << kShiftY));
  if (grid.x == 0 || grid.y == 0) return;
  colour_kernel<kTwoBytes, T, kShiftX, kShiftY, kLight>
      <<<grid, ColourTuning::threads, 0, stream>>>(job, first);
}

/// Launches the kernel for the picture's chroma subsampling.
template <bool kTwoBytes, class T, bool kLight>
void launch_general(const PictureFormat& f, const ColourJob& job, CudaStream stream) {
  constexpr decltype(&launch_shifts<kTwoBytes, T, 0, 0, kLight>) kByShifts[2][2] = {
      {launch_shifts<kTwoBytes, T, 0, 0, kLight>, launch_shifts<kTwoBytes, T, 0, 1, kLight>},
      {launch_shifts<kTwoBytes, T, 1, 0, kLight>, launch_shifts<kTwoBytes, T, 1, 1, kLight>}};
  kByShifts[f.chroma_shift_x][f.chroma_shift_y](job, stream, {0, 0});
}

}  // namespace
}  // namespace lensd

#include "kernels/colour/colour_general.cuh"

namespace lensd {
namespace {

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
  launch_general<kTwoBytes, T, false>(f, job, stream);
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

/// Returns the rows of one field: 0, 2, 4 … (`parity` 0) or 1, 3, 5 … (1). The number of rows is even.
PictureRef field_of(PictureRef picture, std::ptrdiff_t parity) {
  picture.info.interlaced.value = false;
  picture.info.extent.height /= 2;
  for (size_t p = 0; p < picture.planes.size(); ++p)
    picture.planes[p] += parity * picture.pitch_bytes[p], picture.pitch_bytes[p] *= 2;
  return picture;
}
ImageRef field_of(ImageRef image, std::ptrdiff_t parity) {
  image.data += parity * image.pitch_bytes, image.pitch_bytes *= 2;
  image.format.extent.height /= 2;
  return image;
}

}  // namespace

void Colour::launch_convert(const PassArgs& args, CudaStream stream) const {
  if (args.picture->info.has_field_chroma()) {
    PassArgs part = args;
    for (const std::ptrdiff_t parity : {0, 1}) {
      const PictureRef field = field_of(*args.picture, parity);
      part.picture = &field, part.out = field_of(args.out, parity);
      launch_convert(part, stream);
    }
    return;
  }
  if (deep_) return launch_deep(args, stream);
  const PictureFormat& f = args.picture->info.format;
  ColourJob job = make_job(*args.picture, matrix_, args.out);
  if (const DisplayLight* light = light_of<DisplayLight>(args)) {
    job.light = light, job.codes = codes_;
    return launch_light(f, job, stream);
  }
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

// colour for 16-bit images on CUDA.
#include "kernels/colour/colour_job.cuh"
#include "kernels/common/deep/pixels.cuh"

namespace lensd {
namespace {

/// A thread converts one pixel. Neighbouring threads share their chroma samples in the L1 cache.
struct DeepColourTuning {
  static constexpr int threads = 128;
};

struct DeepJob {
  const uint8_t* planes[4];
  int32_t pitches[4];
  ComponentLayout layouts[4];
  Extent extent, upright;
  int chroma_width, chroma_height, shift_x, shift_y;
  DeepMatrix matrix;
  const DeepLight* light;
  Orientation turn;
  ImageView<uint16_t> out;
  int sample_mask;
  bool gray, rgb, has_alpha, cosited_x, cosited_y, aligned;
};

template <bool kTwoBytes>
__device__ int deep_load(const DeepJob& job, int component, int x, int y) {
  const ComponentLayout& layout = job.layouts[component];
  const uint8_t* row = job.planes[component] + static_cast<int64_t>(y) * job.pitches[component];
  return load_sample(row, layout, x, kTwoBytes, job.sample_mask);
}

template <bool kTwoBytes>
__device__ DeepColours colours_at(const DeepJob& job, int x, int y) {
  const int a = deep_load<kTwoBytes>(job, 0, x, y);
  if (job.rgb)
    return deep_of_rgb(job.matrix, a, deep_load<kTwoBytes>(job, 1, x, y), deep_load<kTwoBytes>(job, 2, x, y));
  const ChromaTap tx = chroma_tap(x, job.shift_x, job.cosited_x, job.chroma_width);
  const ChromaTap ty = chroma_tap(y, job.shift_y, job.cosited_y, job.chroma_height);
  const auto across = [&](int component, int row) {
    int sum = tx.first_weight * deep_load<kTwoBytes>(job, component, tx.first, row);
    if (tx.second_weight != 0) sum += tx.second_weight * deep_load<kTwoBytes>(job, component, tx.second, row);
    return sum;
  };
  const auto chroma = [&](int component) {
    int sum = ty.first_weight * across(component, ty.first);
    if (ty.second_weight != 0) sum += ty.second_weight * across(component, ty.second);
    return sum;
  };
  return deep_of_yuv(job.matrix, a, chroma(1), chroma(2));
}

template <bool kTwoBytes, bool kLight>
__global__ void __launch_bounds__(DeepColourTuning::threads) deep_colour_kernel(DeepJob job) {
  const int x = static_cast<int>(blockIdx.x * DeepColourTuning::threads + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y);
  if (x >= job.extent.width) return;
  const Position p = upright_position(job.turn, job.upright, x, y);
  uint16_t* out = job.out.row(p.y);
  if (job.gray) {
    out[p.x] = to_deep_sample(deep_plain(job.matrix, deep_load<kTwoBytes>(job, 0, x, y)));
    return;
  }
  DeepColours v = colours_at<kTwoBytes>(job, x, y);
  if constexpr (kLight) job.light->convert(v.r, v.g, v.b);
  const uint16_t alpha =
      job.has_alpha ? deep_alpha(job.matrix, deep_load<kTwoBytes>(job, 3, x, y)) : uint16_t{65535};
  store_deep(out + 4 * p.x, {{to_deep_sample(v.r), to_deep_sample(v.g), to_deep_sample(v.b), alpha}},
             job.aligned);
}

DeepJob make_deep_job(const PictureRef& picture, const DeepMatrix& matrix, ImageRef out) {
  const PictureInfo& info = picture.info;
  const PictureFormat& f = info.format;
  DeepJob job{};
  for (size_t c = 0; c < 4; ++c) {
    job.layouts[c] = f.components[c];
    job.planes[c] = picture.planes[job.layouts[c].plane];
    job.pitches[c] = static_cast<int32_t>(picture.pitch_bytes[job.layouts[c].plane]);
  }
  job.extent = info.extent, job.upright = info.upright(), job.matrix = matrix, job.turn = info.orientation;
  job.shift_x = f.chroma_shift_x, job.shift_y = f.chroma_shift_y;
  job.chroma_width = chroma_size(info.extent.width, f.chroma_shift_x);
  job.chroma_height = chroma_size(info.extent.height, f.chroma_shift_y);
  job.out = out.as<uint16_t>(), job.aligned = rows_aligned(out, 8);
  job.sample_mask = (1 << f.depth) - 1;
  job.gray = f.model == ColourModel::gray, job.rgb = f.model == ColourModel::rgb, job.has_alpha = f.has_alpha;
  job.cosited_x = cosited_x(info), job.cosited_y = cosited_y(info);
  return job;
}

}  // namespace

void Colour::launch_deep(const PassArgs& args, CudaStream stream) const {
  DeepJob job = make_deep_job(*args.picture, deep_matrix_, args.out);
  job.light = light_of<DeepLight>(args);
  const dim3 grid(blocks_for(job.extent.width, DeepColourTuning::threads),
                  static_cast<unsigned>(job.extent.height));
  const bool two_bytes = info_.format.depth > 8;
  const auto kernel = job.light ? two_bytes ? deep_colour_kernel<true, true> : deep_colour_kernel<false, true>
                      : two_bytes ? deep_colour_kernel<true, false>
                                  : deep_colour_kernel<false, false>;
  kernel<<<grid, DeepColourTuning::threads, 0, stream>>>(job);
  LENSD_LAUNCHED();
}

}  // namespace lensd

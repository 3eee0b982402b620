#include "kernels/common/copy_rows.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/convert/convert.hpp"
#include "kernels/convert/convert_pixel.hpp"

namespace lensd {
namespace {

/// A thread converts four pixels: one 4-byte load, one 16-byte store.
struct SpreadTuning {
  static constexpr int threads = 256;
  static constexpr int pixels = 4;
};

__device__ uint32_t spread(uint32_t word, unsigned byte) {
  // Bytes (b, b, b, 255): the selector names `byte` three times and the second operand's first byte once.
  return __byte_perm(word, 0xffu, byte * 0x0111u | 0x4000u);
}

__global__ void spread_kernel(ImageView<const uint8_t> gray, ImageView<uint8_t> rgba, bool aligned_in,
                              bool wide, bool aligned_out) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * SpreadTuning::pixels;
  const int y = static_cast<int>(blockIdx.y);
  const int count = min(SpreadTuning::pixels, gray.extent.width - x);
  if (count <= 0) return;
  const uint8_t* src = gray.row(y) + x;
  uint8_t* dst = rgba.row(y) + 4 * x;
  if (wide && aligned_in && count == SpreadTuning::pixels) {
    const uint32_t word = load_word(src, true);
    *reinterpret_cast<uint4*>(dst) =
        make_uint4(spread(word, 0), spread(word, 1), spread(word, 2), spread(word, 3));
    return;
  }
  for (int i = 0; i < count; ++i) store_word(dst + 4 * i, spread(src[i], 0), aligned_out);
}

/// A thread converts one pixel. At least one of the formats has 16 bits per sample.
struct DepthTuning {
  static constexpr int threads = 256;
};

template <PixelFormat kFrom, PixelFormat kTo>
__global__ void depth_kernel(ImageView<const uint8_t> in, ImageView<uint8_t> out, const LumaBlock* weights) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), y = static_cast<int>(blockIdx.y);
  if (x >= in.extent.width) return;
  store_pixel<kFrom, kTo>(out.row(y), x, load_pixel<kFrom>(in.row(y), x), *weights);
}

}  // namespace

void Convert::launch_apply(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  if (in.format.format == to_) return launch_copy(in, args.out, stream);
  if (in.is_deep() || args.out.is_deep())
    return with_formats(in.format.format, to_, [&]<PixelFormat kFrom, PixelFormat kTo>() {
      const dim3 blocks(blocks_for(in.width(), DepthTuning::threads), static_cast<unsigned>(in.height()));
      depth_kernel<kFrom, kTo><<<blocks, DepthTuning::threads, 0, stream>>>(
          in.as<const uint8_t>(), args.out.as<uint8_t>(), &block_of(args).weights);
      LENSD_LAUNCHED();
    });
  if (to_ == PixelFormat::gray8) return launch_luma(in, args.out, &block_of(args).weights, stream);
  const dim3 grid(blocks_for(in.width(), SpreadTuning::threads * SpreadTuning::pixels),
                  static_cast<unsigned>(in.height()));
  spread_kernel<<<grid, SpreadTuning::threads, 0, stream>>>(in.as<const uint8_t>(), args.out.as<uint8_t>(),
                                                            rows_aligned(in, 4), rows_aligned(args.out, 16),
                                                            rows_aligned(args.out, 4));
  LENSD_LAUNCHED();
}

}  // namespace lensd

// The kernel of the interop path without GL: copies linear memory to an array. Skipped without a GPU.
#include <gtest/gtest.h>

#include "core/device/cuda_handles.hpp"
#include "core/device/memory.hpp"
#include "core/image/image.hpp"
#include "ui/gl/cuda_present.hpp"

namespace lensd::ui {
namespace {

/// Returns the array's content after write_surface() of `image` with `pitch` bytes per row.
Image through_array(const Image& image, size_t pitch) {
  const auto width = static_cast<size_t>(image.width()), height = static_cast<size_t>(image.height());
  const MemoryBlock memory(MemoryKind::device, pitch * height);
  LENSD_CUDA_CHECK(cudaMemcpy2D(memory.data(), pitch, image.pixels.data(), image.format.row_bytes(),
                                image.format.row_bytes(), height, cudaMemcpyHostToDevice));
  LENSD_CUDA_CHECK(
      cudaDeviceSynchronize());  // the copy may still be running, and `stream` does not wait for it
  const cudaChannelFormatDesc channels = cudaCreateChannelDesc(8, 8, 8, 8, cudaChannelFormatKindUnsigned);
  cudaArray_t array = nullptr;
  LENSD_CUDA_CHECK(cudaMallocArray(&array, &channels, width, height, cudaArraySurfaceLoadStore));
  cudaResourceDesc desc{};
  desc.resType = cudaResourceTypeArray;
  desc.res.array.array = array;
  cudaSurfaceObject_t surface = 0;
  LENSD_CUDA_CHECK(cudaCreateSurfaceObject(&surface, &desc));
  const cuda::Stream stream;
  write_surface({memory.data(), static_cast<std::ptrdiff_t>(pitch), image.format}, surface, stream.get());
  Image result({PixelFormat::rgba8, image.format.extent});
  LENSD_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
  LENSD_CUDA_CHECK(cudaMemcpy2DFromArray(result.pixels.data(), width * 4, array, 0, 0, width * 4, height,
                                         cudaMemcpyDeviceToHost));
  LENSD_CUDA_CHECK(cudaDestroySurfaceObject(surface));
  LENSD_CUDA_CHECK(cudaFreeArray(array));
  return result;
}

TEST(CudaPresent, WritesEveryPixelOfEveryFormat) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) GTEST_SKIP() << "no CUDA device";
  for (const Extent extent :
       {Extent{1, 1}, Extent{3, 17}, Extent{33, 9}, Extent{769, 575}, Extent{1920, 1080}})
    for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::rgba8}) {
      Image image({format, extent});
      for (size_t i = 0; i < image.pixels.size(); ++i)
        image.pixels[i] = static_cast<uint8_t>(i * 7 + i / 251);
      const Image shown =
          through_array(image, align_up(image.format.row_bytes(), kDeviceAlignment) + kDeviceAlignment);
      int wrong = 0;
      for (int y = 0; y < extent.height; ++y)
        for (int x = 0; x < extent.width; ++x)
          for (int c = 0; c < 4; ++c) {
            const int expected = format == PixelFormat::rgba8 ? image.at(x, y, c)
                                 : c == 3                     ? 255
                                                              : image.at(x, y);
            wrong += shown.at(x, y, c) != expected;
          }
      EXPECT_EQ(wrong, 0) << extent.width << "×" << extent.height << " " << name(format);
    }
}

}  // namespace
}  // namespace lensd::ui

#include "kernels/common/table/lut.cuh"

#include "kernels/common/deep/samples.cuh"
#include "kernels/common/table/table_filter.hpp"

namespace lensd {
namespace {

struct Keep {
  __device__ uint32_t operator()(uint32_t word) const { return word; }
};

struct DeepMaps {
  const AffineMaps* maps;
  bool gray;
  __device__ uint32_t operator()(int i, int, uint32_t v) const { return maps->channel[gray ? 0 : i & 3](v); }
};

}  // namespace

void launch_maps(const ConstImageRef& in, const ImageRef& out, const AffineMaps* maps, CudaStream stream) {
  launch_deep_samples(in, out, stream, DeepMaps{maps, in.channels() == 1});
}

void launch_lut(const ConstImageRef& in, const ImageRef& out, const LutTables* tables, CudaStream stream) {
  launch_lut(in, out, tables, stream, Keep());
}

}  // namespace lensd

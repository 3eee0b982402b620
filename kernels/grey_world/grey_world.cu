#include "kernels/common/launch.cuh"
#include "kernels/grey_world/grey_world.hpp"

namespace lensd {
namespace {

/// Computes the gains and the tables with one block of 256 threads: one thread computes the gains, then all
/// fill the tables. For 16-bit images, `tables` is null and the kernel computes maps instead.
__global__ void gains_kernel(const GreyWorldBlock* block, TableInput input, StatePair<GreyWorldState> states,
                             GreyWorldStats* stats, LutTables* tables, AffineMaps* maps) {
  const int v = static_cast<int>(threadIdx.x);
  if (v == 0) {
    GreyWorldState state = states.past();
    GreyWorld::decide(*block, input, state, *stats);
    *states.after() = state;
  }
  __syncthreads();
  for (int c = 0; c < input.channels && !tables; ++c)
    if (v == 0) maps->channel[c] = GreyWorld::affine(*block, *stats, c);
  for (int c = 0; c < input.channels && tables; ++c)
    tables->channel[c][v] = GreyWorld::table_value(*block, *stats, c, v);
}

}  // namespace

void GreyWorld::launch_decide(const PassArgs& args, CudaStream stream) const {
  const ImageFormat format = args.in[0].format;
  gains_kernel<<<1, 256, 0, stream>>>(device_block(args), TableInput(format), args.state_of<GreyWorldState>(),
                                      stats_of(args), args.in[0].is_deep() ? nullptr : tables_of(args),
                                      maps_of(args));
  LENSD_LAUNCHED();
}

}  // namespace lensd

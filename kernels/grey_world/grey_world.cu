#include "kernels/common/launch.cuh"
#include "kernels/grey_world/grey_world.hpp"

namespace lensd {
namespace {

/// One block of 256 threads: one decides, all fill the tables.
__global__ void gains_kernel(const GreyWorldBlock* block, int channels, uint64_t pixels,
                             StatePair<GreyWorldState> states, GreyWorldStats* stats, LutTables* tables) {
  const int v = static_cast<int>(threadIdx.x);
  if (v == 0) {
    GreyWorldState state = states.past();
    grey_world_decide(*block, channels, pixels, state, *stats);
    *states.after() = state;
  }
  __syncthreads();
  for (int c = 0; c < channels; ++c)
    tables->channel[c][v] = grey_world_value(stats->gains, c, v, block->strength);
}

}  // namespace

void GreyWorld::launch(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  auto* stats = static_cast<GreyWorldStats*>(args.stats);
  auto* tables = reinterpret_cast<LutTables*>(args.scratch[0]);
  if (args.pass == kSums) {
    launch_sums(in, &stats->sums, stream);
  } else if (args.pass == kGains) {
    const uint64_t pixels = static_cast<uint64_t>(in.width()) * static_cast<uint64_t>(in.height());
    gains_kernel<<<1, 256, 0, stream>>>(static_cast<const GreyWorldBlock*>(args.block),
                                        colour_channels(in.format.format), pixels,
                                        args.state_of<GreyWorldState>(), stats, tables);
    LENSD_LAUNCHED();
  } else {
    launch_lut(in, args.out, tables, stream);
  }
}

}  // namespace lensd

#include "kernels/klt/klt.hpp"

#include "kernels/klt/klt_launch.hpp"

namespace lensd {

void Klt::launch(const PassArgs& args, CudaStream stream) const {
  const CornerJob corners = corner_job(args);
  const KltDeviceJob job{.shape = shape_,
                         .state = args.state_of<uint8_t>(),
                         .block = static_cast<const KltBlock*>(args.block),
                         .table = static_cast<TrackTable*>(args.stats),
                         .found = corners.found,
                         .count = corners.count,
                         .wanted = const_cast<uint32_t*>(corners.wanted)};
  if (args.pass == 0)
    return launch_klt_luma(job, from_picture_ ? luma_plane(*args.picture) : args.in[0], stream);
  if (args.pass < passes_.follow) return launch_klt_pyramid(job, 1 + 3 * (args.pass - 1), stream);
  if (args.pass == passes_.follow) {
    launch_klt_follow(job, stream);
    if (shape_.patch_bytes > 0) launch_klt_drift(job, stream);
    return;
  }
  if (args.pass == passes_.settle) return launch_klt_settle(job, stream);
  if (args.pass == passes_.table) return launch_klt_table(job, stream);
  if (args.pass == passes_.patches) return launch_klt_patches(job, stream);
  launch_corners(corners, shape_.capacity, args.pass - passes_.corners, stream);
}

}  // namespace lensd

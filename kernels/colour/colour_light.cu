#include "kernels/colour/colour_general.cuh"

namespace lensd {

void launch_light(const PictureFormat& f, const ColourJob& job, CudaStream stream) {
  if (f.depth <= 8)
    launch_general<false, int32_t, true>(f, job, stream);
  else if (f.depth <= 12)
    launch_general<true, int32_t, true>(f, job, stream);
  else
    launch_general<true, int64_t, true>(f, job, stream);
  LENSD_LAUNCHED();
}

}  // namespace lensd

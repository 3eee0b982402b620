// Measures the memory copy rate, the upper bound for passes that only copy data.
//
// Each function takes tens of milliseconds. Do not call it per frame.
#pragma once

namespace lensd {

/// Copies 64 MiB, more than most caches hold, with `threads` threads (0: one per core). Returns the best of
/// several runs in bytes per second, counting bytes read plus bytes written. Returns 0 if the buffers cannot
/// be allocated.
double measure_cpu_copy_rate(int threads);

/// Copies within the memory of CUDA device `device`. Returns the best of several runs in bytes per second,
/// counting bytes read plus bytes written. Returns 0 on a CUDA error and in builds without CUDA.
double measure_gpu_copy_rate(int device);

}  // namespace lensd

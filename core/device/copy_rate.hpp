// Measures the memory copy rate, the upper bound for passes that only copy data.
//
// Each function takes tens of milliseconds. Do not call it per frame.
#pragma once

namespace lensd {

/// Returns the bytes read plus the bytes written per second by `threads` threads together (0: one per core);
/// the best of several runs, with buffers larger than the caches. Returns 0 if it cannot be measured.
double measure_cpu_copy_rate(int threads);

/// Returns the bytes read plus the bytes written per second by a copy within the memory of CUDA device
/// `device`; the best of several runs. Returns 0 if it cannot be measured.
double measure_gpu_copy_rate(int device);

}  // namespace lensd

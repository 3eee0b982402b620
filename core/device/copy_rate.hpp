// The machine's copy rate: what a pass that only moves its bytes would reach. The roof that timings are
// compared with.
//
// Plain functions, some tens of milliseconds each; not for a thread that frames wait for.
#pragma once

namespace lensd {

/// Bytes read plus bytes written a second by `threads` threads that copy together (0: one per core), from
/// memory that no cache holds; the best of some runs. 0 when it could not be measured.
double measure_cpu_copy_rate(int threads);

/// The same of copies within the memory of CUDA device `device`; 0 without CUDA or such a device.
double measure_gpu_copy_rate(int device);

}  // namespace lensd

#pragma once

namespace lensd {

/// Makes the current CUDA device fail: a kernel traps. All later work of the process on this device fails
/// too.
void fail_gpu();

}  // namespace lensd

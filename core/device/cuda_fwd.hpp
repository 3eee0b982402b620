// The CUDA stream type for interfaces, without CUDA's headers.
#pragma once

struct CUstream_st;

namespace lensd {
using CudaStream = CUstream_st*;  ///< a cudaStream_t; null without CUDA
}

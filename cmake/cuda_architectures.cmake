# Sets CMAKE_CUDA_ARCHITECTURES from LENSD_CUDA_ARCHS: numbers ("75;90"), "all", or empty for this machine's
# GPUs, else 90.
#
# The newest architecture is also compiled to PTX, so that newer GPUs can run the binary.

set(LENSD_CUDA_ARCHS "" CACHE STRING "GPU architectures: numbers such as 75;90, or all; empty: that of this machine's GPU")
set(lensd_known_archs 75 80 86 89 90 100 120)
set(lensd_default_arch 90)  # without a GPU

if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(archs "${LENSD_CUDA_ARCHS}")
  if(archs STREQUAL "all")
    execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-arch OUTPUT_VARIABLE supported RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR "'${CMAKE_CUDA_COMPILER} --list-gpu-arch' failed: CUDA 12.0 or newer is needed")
    endif()
    set(archs)
    foreach(arch ${lensd_known_archs})
      if(supported MATCHES "compute_${arch}[^0-9]")
        list(APPEND archs ${arch})
      endif()
    endforeach()
  elseif(archs STREQUAL "")
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                    OUTPUT_VARIABLE capabilities RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REGEX MATCHALL "[0-9]+\\.[0-9]" archs "${capabilities}")
    list(TRANSFORM archs REPLACE "\\." "")
    list(FILTER archs EXCLUDE REGEX "^([0-6][0-9]|7[0-4])$")  # older than Turing
    if(failed OR archs STREQUAL "")
      set(archs ${lensd_default_arch})
    endif()
  endif()
  list(REMOVE_DUPLICATES archs)
  list(SORT archs COMPARE NATURAL)
  list(POP_BACK archs newest)
  list(TRANSFORM archs REPLACE "^([0-9]+)$" "\\1-real")
  set(CMAKE_CUDA_ARCHITECTURES ${archs} ${newest})
  if(archs)
    string(APPEND CMAKE_CUDA_FLAGS " -Xfatbin -compress-all")
  endif()
endif()

#!/usr/bin/env bash
# cmake/cuda_architectures.cmake: the architectures of a build by toolkit, GPU and LENSD_CUDA_ARCHS. nvcc and nvidia-smi
# are faked.
# shellcheck source=../common/harness.sh
. "$(dirname "$0")/../common/harness.sh"
need_tools cmake

tree=$(cd "$(dirname "$0")/../../.." && pwd)
mkdir -p "$WORK/tools"
printf '#!/bin/sh\ncat "%s/gpus" 2>/dev/null\n' "$WORK" >"$WORK/tools/nvidia-smi"
cat >"$WORK/show.cmake" <<SHOW
cmake_minimum_required(VERSION 3.25)
include($tree/cmake/cuda_architectures.cmake)
message(STATUS "chosen \${CMAKE_CUDA_ARCHITECTURES}")
SHOW

# compiler VERSION ARCH…: creates an nvcc that knows these architectures.
compiler() {
  local version=$1 arch
  shift
  {
    printf '#!/bin/sh\nif [ "$1" = --version ]; then echo "Cuda compilation tools, release %s, V%s.1"; exit; fi\n' \
      "$version" "$version"
    for arch in "$@"; do echo "echo compute_$arch"; done
  } >"$WORK/tools/nvcc"
  chmod +x "$WORK/tools"/*
}

# expect_archs TEXT ARCHS [GPU…]: fails unless CMake prints TEXT, a pattern, with LENSD_CUDA_ARCHS=ARCHS and GPUs of
# these compute capabilities.
expect_archs() {
  local text=$1 archs=$2 said
  shift 2
  rm -f "$WORK/gpus"
  (($# == 0)) || printf '%s\n' "$@" >"$WORK/gpus"
  # CMake breaks and indents the lines of an error.
  said=$(PATH=$WORK/tools:$PATH cmake "-DLENSD_CUDA_ARCHS=$archs" -DCMAKE_CUDA_COMPILER="$WORK/tools/nvcc" \
    -Dlensd_driver_file="$WORK/driver" -P "$WORK/show.cmake" 2>&1 | xargs -0 echo | tr -s ' \n' ' ')
  [[ $said == $text ]] || fail "LENSD_CUDA_ARCHS='$archs', GPU '$*': '$said' instead of '$text'"
}

compiler 12.4 60 70 75 80 86 87 89 90
expect_archs '-- chosen 89 ' '' 8.9
expect_archs '-- chosen 75-real;89 ' '' 8.9 7.5 8.9
expect_archs '-- chosen 90 ' ''
expect_archs '-- chosen 90 ' '' 6.1 # older than Turing
expect_archs '-- chosen 90 ' native
: >"$WORK/driver" # a driver, but nvidia-smi lists nothing
expect_archs "-- lensd: nvidia-smi does not list this machine's GPU, so code for 90 is built: *-- chosen 90 " ''
expect_archs '-- chosen 89 ' '' 8.9
expect_archs '-- chosen 90 ' '' 6.1
rm "$WORK/driver"
expect_archs '-- chosen 75-real;80-real;86-real;89-real;90 ' all
expect_archs '-- lensd: CUDA 12.4 does not know this GPU* architecture 120: PTX for 90 is built*-- chosen 90-virtual ' '' 12.0
expect_archs '*architecture 120: PTX for 90*-- chosen 89-real;90-virtual ' native 12.0 8.9
expect_archs '-- chosen 75-real;90 ' '75;90' 12.0
expect_archs '-- chosen 75-real;90 ' '75,90'
expect_archs '-- chosen 75-virtual ' 75-virtual
expect_archs '*CUDA 12.4 does not know 120; it knows 75, 80, 86, 87, 89, 90 (*' '75;120'
expect_archs '*CUDA 12.4 does not know 100-real, sm_90; it knows *' '100-real;75;sm_90'

compiler 13.0 75 80 86 87 88 89 90 100 103 110 120 121
expect_archs '-- chosen 120 ' '' 12.0
expect_archs '-- chosen 75-real;80-real;86-real;89-real;90-real;100-real;120 ' all

compiler 11.8 75 80 86 87 89 90
expect_archs "*is CUDA '11.8', CUDA 12.0 or newer is needed; LENSD_CUDA=off*" '' 8.9
echo "ok"

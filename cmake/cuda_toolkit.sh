# shellcheck shell=bash
# Finds or fetches the CUDA compiler. Sourced by ./dev.
#
# LENSD_CUDA=auto: the installed compiler; without one, NVIDIA's wheels if there is a driver that runs their code.
#            on: as auto, even without a driver.  wheels: the wheels, even if a compiler is installed.  off: none.

cuda_folder=$root/build/cuda            # kept between builds; ./dev clean removes it
cuobjdump_folder=$root/build/cuobjdump  # kept between builds as well
cuda_oldest_nvcc=12 cuda_wheels_major=13 # CUDA versions; the wheels of CUDA 12 have no nvcc
cuda_wheels_driver=580                  # the first driver for CUDA 13
cuda_oldest_driver=525                  # the first driver for CUDA 12

# check_cuda_option: exits if LENSD_CUDA has an unknown value, such as OFF.
check_cuda_option() {
  [[ ${LENSD_CUDA:-auto} == @(auto|on|off|wheels) ]] || die "LENSD_CUDA=$LENSD_CUDA is not known: auto, on, off or wheels"
}

# installed_nvcc: prints the path of nvcc on PATH or in /usr/local/cuda, or nothing.
installed_nvcc() {
  command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true
}

# nvcc_major NVCC: prints its major version. Fails if it cannot be run.
nvcc_major() {
  "$1" --version 2>/dev/null | sed -n 's/.*release \([0-9]*\)\..*/\1/p'
}

# find_nvcc: prints the path of the compiler to use, or nothing.
find_nvcc() {
  local wanted=${LENSD_CUDA:-auto} nvcc=''
  [[ $wanted != off ]] || return 0
  [[ $wanted == wheels ]] || nvcc=$(installed_nvcc)
  if [[ -n $nvcc && $(nvcc_major "$nvcc") -ge $cuda_oldest_nvcc ]]; then
    echo "$nvcc"
  elif [[ -f $cuda_folder/complete ]]; then
    ls "$cuda_folder/nvidia/cu$cuda_wheels_major/bin/nvcc"
  fi
}

# driver_version: prints the major version of the NVIDIA driver, or nothing.
driver_version() {
  local version=''
  version=$(grep -oEsm 1 ' [0-9]{3,}\.[0-9.]+' /proc/driver/nvidia/version) || true
  [[ -n $version ]] || version=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1) || true
  [[ ! ${version// /} =~ ^([0-9]+)\. ]] || echo "${BASH_REMATCH[1]}"
}

# wheels_obstacle DRIVER: prints why the wheels cannot be used, or nothing. DRIVER is empty if there is no driver.
wheels_obstacle() {
  local driver=$1
  if [[ $(uname -m) != x86_64 ]]; then
    echo "the pinned wheels are for x86-64"
  elif [[ -n $driver && $driver -lt $cuda_oldest_driver ]]; then
    echo "the NVIDIA driver $driver cannot run code of CUDA $cuda_oldest_nvcc; update it to $cuda_wheels_driver or newer"
  elif [[ -n $driver && $driver -lt $cuda_wheels_driver ]]; then
    echo "the NVIDIA driver $driver cannot run code of CUDA $cuda_wheels_major; update it to $cuda_wheels_driver or newer, or" \
      "install the CUDA Toolkit $cuda_oldest_nvcc (Debian 13: nvidia-cuda-toolkit)"
  fi
}

# install_wheels FOLDER LIST: installs the wheels of a list. With --no-deps and --only-binary, pip runs no code from the
# packages.
install_wheels() {
  logged "$root/build/cuda-wheels.log" python3 -m pip install --quiet --disable-pip-version-check --no-deps \
    --only-binary :all: --require-hashes --target "$1" -r "$2"
}

# fetch_wheels: installs the wheels into build/cuda.
fetch_wheels() {
  need python3 python3-pip ca-certificates
  rm -rf "$cuda_folder"
  install_wheels "$cuda_folder" "$root/cmake/cuda_wheels.txt" || return 1
  nvcc_major "$cuda_folder/nvidia/cu$cuda_wheels_major/bin/nvcc" >/dev/null && : >"$cuda_folder/complete"
}

# find_cuobjdump: prints the path of cuobjdump, or nothing.
find_cuobjdump() {
  local nvcc program
  nvcc=$(find_nvcc)
  for program in "${nvcc%/*}/cuobjdump" "$(command -v cuobjdump)" "$cuobjdump_folder/nvidia/cu$cuda_wheels_major/bin/cuobjdump"; do
    [[ -z $program || ! -x $program ]] || { echo "$program" && return; }
  done
}

# provide_cuobjdump: fetches cuobjdump (0.3 MB) if there is a compiler without it. Returns 1 if that fails. Newer versions
# read the code of older compilers.
provide_cuobjdump() {
  [[ -n $(find_nvcc) && -z $(find_cuobjdump) ]] || return 0
  [[ $(uname -m) == x86_64 ]] || return 1
  need python3 python3-pip ca-certificates
  mkdir -p "$cuobjdump_folder"
  grep '^nvidia-cuda-cuobjdump==' "$root/cmake/cuda_wheels.txt" >"$cuobjdump_folder/wheels.txt"
  install_wheels "$cuobjdump_folder" "$cuobjdump_folder/wheels.txt"
}

# provide_nvcc: fetches the compiler if it is wanted and missing, and prints a line about it. If it cannot be fetched,
# prints the reason, and exits unless LENSD_CUDA is auto.
provide_nvcc() {
  local wanted=${LENSD_CUDA:-auto} driver old major obstacle why
  check_cuda_option
  [[ $wanted != off && -z $(find_nvcc) ]] || return 0
  driver=$(driver_version)
  old=$(installed_nvcc)
  if [[ $wanted == wheels ]]; then
    why="LENSD_CUDA=wheels"
  elif [[ -n $old ]]; then
    major=$(nvcc_major "$old") || true
    why="$old ${major:+is CUDA }${major:-cannot be run}, CUDA $cuda_oldest_nvcc or newer is needed"
  else
    why="there is no nvcc"
  fi
  if [[ $wanted == auto && -z $driver ]]; then
    [[ -z $old ]] || echo "dev: $why; building for the CPU only"
    return 0
  fi
  obstacle=$(wheels_obstacle "$driver")
  if [[ -z $obstacle ]]; then
    echo "dev: $why; fetching NVIDIA's compiler for CUDA $cuda_wheels_major (129 MB) into build/cuda (LENSD_CUDA=off: not)"
    fetch_wheels && return
    obstacle="the download failed"
  fi
  [[ $wanted == auto ]] || die "LENSD_CUDA=$wanted: $obstacle"
  echo "dev: $why; $obstacle; building for the CPU only"
}

#!/usr/bin/env bash
# ./dev: which CUDA compiler is used, and when it is fetched. pip, nvcc, uname and the driver's version are faked.
# shellcheck source=../common/harness.sh
. "$(dirname "$0")/../common/harness.sh"

tree=$(cd "$(dirname "$0")/../../.." && pwd)
mkdir -p "$WORK/tools" "$WORK/cmake"
cp "$tree/cmake/cuda_wheels.txt" "$WORK/cmake"

# compiler PATH VERSION: creates an nvcc that only prints its version.
compiler() {
  mkdir -p "$(dirname "$1")"
  printf '#!/bin/sh\necho "Cuda compilation tools, release %s, V%s.0"\n' "$2" "$2" >"$1"
  chmod +x "$1"
}
# The fake pip creates an nvcc, or fails if there is a file "offline".
printf '#!/bin/bash\necho "$@" >>"%s/pip.log"\n[[ ! -e %s/offline ]] || exit 1\n' "$WORK" "$WORK" >"$WORK/tools/python3"
cat >>"$WORK/tools/python3" <<'PIP'
while [[ $1 != --target ]]; do shift; done
mkdir -p "$2/nvidia/cu13/bin"
printf '#!/bin/sh\necho "release 13.5, V13.5.37"\n' >"$2/nvidia/cu13/bin/nvcc"
chmod +x "$2/nvidia/cu13/bin/nvcc"
PIP
chmod +x "$WORK/tools/python3"

# toolkit CUDA DRIVER INSTALLED: prints ./dev's line and "nvcc PATH". INSTALLED: path of an nvcc, or nothing.
toolkit() {
  rm -f "$WORK/pip.log"
  LENSD_CUDA=$1 DRIVER=$2 INSTALLED=$3 PATH=$WORK/tools:$PATH root=$WORK bash -c '
    set -euo pipefail
    die() { echo "died: $*"; exit 1; }
    need() { :; }
    logged() { shift; "$@"; }
    uname() { echo x86_64; }
    source "$1"
    installed_nvcc() { echo "$INSTALLED"; }
    driver_version() { echo "$DRIVER"; }
    provide_nvcc
    echo "nvcc $(find_nvcc)"' bash "$tree/cmake/cuda_toolkit.sh" 2>&1
}
# expect_toolkit TEXT CUDA DRIVER INSTALLED: fails unless toolkit prints TEXT, a pattern.
expect_toolkit() {
  local said
  said=$(toolkit "${@:2}")
  [[ $said == $1 ]] || fail "LENSD_CUDA=$2, driver '$3', nvcc '$4': '$said' instead of '$1'"
}

compiler "$WORK/nvcc12" 12.4
compiler "$WORK/nvcc11" 11.8
fetched=$WORK/build/cuda/nvidia/cu13/bin/nvcc

expect_toolkit "nvcc $WORK/nvcc12" auto 580 "$WORK/nvcc12"
expect_toolkit "nvcc " auto '' ''
expect_toolkit "nvcc " off 580 "$WORK/nvcc12"
expect_toolkit "*nvcc11 is CUDA 11, CUDA 12 or newer is needed; building for the CPU only"$'\n'"nvcc " auto '' "$WORK/nvcc11"
expect_toolkit "*there is no nvcc; the NVIDIA driver 535 cannot run code of CUDA 13; update it to 580 or newer*CPU only"$'\n'"nvcc " auto 535 ''
expect_toolkit "*CUDA 13; update it to 580 or newer, or install the CUDA Toolkit 12 (Debian 13*CPU only"$'\n'"nvcc " auto 575 ''
expect_toolkit "*driver 470 cannot run code of CUDA 12; update it to 580 or newer; building for the CPU only"$'\n'"nvcc " auto 470 ''
expect_toolkit "died: LENSD_CUDA=on: the NVIDIA driver 535*" on 535 ''
expect_toolkit "died: LENSD_CUDA=OFF is not known: auto, on, off or wheels" OFF 580 "$WORK/nvcc12"
printf '#!/bin/sh\nexit 127\n' >"$WORK/broken-nvcc" && chmod +x "$WORK/broken-nvcc"
expect_toolkit "*broken-nvcc cannot be run, CUDA 12 or newer is needed; building for the CPU only"$'\n'"nvcc " auto '' "$WORK/broken-nvcc"
[[ ! -e $WORK/pip.log ]] || fail "pip was run: $(<"$WORK/pip.log")"

: >"$WORK/offline"
expect_toolkit "*there is no nvcc; fetching*"$'\n'"*the download failed; building for the CPU only"$'\n'"nvcc " auto 580 ''
rm "$WORK/offline"
expect_toolkit "dev: there is no nvcc; fetching NVIDIA's compiler*into build/cuda*"$'\n'"nvcc $fetched" auto 580 ''
grep -q -- '--require-hashes' "$WORK/pip.log" || fail "pip does not check hashes: $(<"$WORK/pip.log")"
expect_toolkit "nvcc $fetched" auto 580 '' # the second time nothing is fetched
expect_toolkit "nvcc $WORK/nvcc12" auto 580 "$WORK/nvcc12"
expect_toolkit "nvcc $fetched" wheels '' "$WORK/nvcc12"
rm -r "$WORK/build"
expect_toolkit "*fetching*"$'\n'"nvcc $fetched" on '' ''
rm -r "$WORK/build"
expect_toolkit "*nvcc11 is CUDA 11*fetching*"$'\n'"nvcc $fetched" auto 580 "$WORK/nvcc11"

# ./dev package: cuobjdump is fetched alone, and an architecture without code stops the package.
# checked_archs LOG NVCC: prints the architectures of a program after a configuration that printed LOG, or why not.
checked_archs() {
  echo "-- lensd: CUDA backend on ($2 13.0.88, sm_$1)" >"$WORK/configure.log"
  LENSD_CUDA=auto NVCC=$2 PATH=$WORK/tools:$PATH root=$WORK bash -c '
    set -euo pipefail
    die() { echo "died: $*"; exit 1; }
    need() { :; }
    logged() { shift; "$@"; }
    uname() { echo x86_64; }
    source "$1/cmake/cuda_toolkit.sh"
    source "$1/cmake/package.sh"
    installed_nvcc() { echo "$NVCC"; }
    command() { [[ $2 != cuobjdump ]] && builtin command "$@"; } # as if the machine had none
    build=$root
    check_archs program
    xargs <<<"$archs"' bash "$tree" 2>&1
}
expect_archs() {
  local said
  said=$(checked_archs "${@:2}")
  [[ $said == $1 ]] || fail "architectures $2: '$said' instead of '$1'"
}
mkdir -p "$WORK/with" "$WORK/without"
compiler "$WORK/with/nvcc" 13.0
compiler "$WORK/without/nvcc" 13.0
cat >"$WORK/with/cuobjdump" <<'CUOBJDUMP'
#!/bin/sh
case $1 in
  --list-elf) printf 'ELF file    1: lensd.1.sm_75.cubin\nELF file    2: lensd.2.sm_100.cubin\n' ;;
  --list-ptx) echo 'PTX file    1: lensd.1.sm_100.ptx' ;;
esac
CUOBJDUMP
chmod +x "$WORK/with/cuobjdump"
expect_archs "compute_100 sm_75 sm_100" '75-real;100' "$WORK/with/nvcc"
expect_archs "died: no package lensd-cuda: the program has no code for sm_80 sm_90" '75-real;80-real;90-real;100' "$WORK/with/nvcc"
expect_archs "died: no package lensd-cuda: the program has no code for compute_75" '75-virtual' "$WORK/with/nvcc"
mkdir -p "$WORK/no-ptx"
compiler "$WORK/no-ptx/nvcc" 13.0
printf '#!/bin/sh\n[ "$1" = --list-elf ] && echo "ELF file    1: lensd.1.sm_90.cubin"\n' >"$WORK/no-ptx/cuobjdump"
chmod +x "$WORK/no-ptx/cuobjdump"
expect_archs "sm_90" '90-real' "$WORK/no-ptx/nvcc"
rm -f "$WORK/pip.log"
: >"$WORK/offline"
expect_archs "died: no package lensd-cuda: cuobjdump*cannot be fetched" '75-real;100' "$WORK/without/nvcc"
rm "$WORK/offline"
grep -q -- "$WORK/build/cuobjdump/wheels.txt" "$WORK/pip.log" || fail "cuobjdump is not fetched alone: $(<"$WORK/pip.log")"
[[ $(wc -l <"$WORK/build/cuobjdump/wheels.txt") == 1 ]] || fail "more is fetched than cuobjdump"

awk '!/^#/ && NF && !/--hash=sha256:[0-9a-f]+$/ { exit 1 }' "$tree/cmake/cuda_wheels.txt" || fail "a wheel has no hash"
echo "ok"

# shellcheck shell=bash
# Builds the packages; sourced by ./dev, whose functions it uses.

# wanted_archs: prints the architectures of a configured build as cuobjdump names them, one per line: sm_75, and
# compute_90 for PTX.
wanted_archs() {
  sed -n 's/.*CUDA backend on (.*, sm_\(.*\))$/\1/p' "$build/configure.log" | tr ';' '\n' |
    sed -E 's/^([0-9]+)-real$/sm_\1/; s/^([0-9]+)-virtual$/compute_\1/; s/^([0-9]+)$/sm_\1\ncompute_\1/'
}

# check_archs PROGRAM: sets `archs` to the architectures of the GPU code in a program. Exits if one that was requested is
# missing.
check_archs() {
  local cuobjdump wanted missing
  provide_cuobjdump || die "no package lensd-cuda: cuobjdump, which lists the architectures, cannot be fetched"
  cuobjdump=$(find_cuobjdump)
  archs=$({ "$cuobjdump" --list-elf "$1" | grep -o 'sm_[0-9]*'
    "$cuobjdump" --list-ptx "$1" | grep -o 'sm_[0-9]*' | sed s/sm_/compute_/; } | sort -uV) || true # grep fails if there is no PTX
  wanted=$(wanted_archs)
  missing=$(comm -23 <(sort <<<"$wanted") <(sort <<<"$archs") | xargs)
  [[ -n $wanted && -z $missing ]] || die "no package lensd-cuda: the program has no code for ${missing:-any GPU}"
}

# package_variant cpu|cuda FOLDER: builds the Debian package and the tarball of a variant in FOLDER.
package_variant() {
  local variant=$1 folder=$2 start=$SECONDS
  build=$folder/$variant
  configure
  compile lensd
  local built=$((SECONDS - start)) name=lensd version archs=''
  [[ $variant == cpu ]] || check_archs "$build/lensd"
  [[ $variant == cpu ]] || name=lensd-cuda
  version=$("$build/lensd" --version)
  version=${version#lensd }
  rm -f "$folder/${name}"_*.deb "$folder/$name-$version"-*.tar.gz
  (cd "$build" && logged "$build/package.log" cpack -B "$folder")
  rm -rf "$folder/_CPack_Packages"
  logged "$build/tarball.log" "$root/cmake/tarball.sh" "$build" "$folder" "$name-$version-linux-$(uname -m)"
  echo "$name: built in $built s, program $(du -h --apparent-size "$build/lensd" | cut -f1)${archs:+, $(xargs <<<"$archs")}"
}

# make_packages: builds the CPU variant, and the CUDA variant if there is a CUDA compiler.
make_packages() {
  local folder=$root/build/package
  check_cuda_option
  mkdir -p "$folder"
  # Use the time of the last commit, so that the same sources give the same packages.
  SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -c safe.directory="$root" -C "$root" log -1 --format=%ct 2>/dev/null ||
    date +%s)}
  export SOURCE_DATE_EPOCH
  LENSD_CUDA=off package_variant cpu "$folder"
  lock_build # another ./dev may fetch the compiler at the same time
  provide_nvcc
  exec 9>&-
  if [[ -n $(find_nvcc) ]]; then
    LENSD_CUDA_ARCHS=${LENSD_CUDA_ARCHS:-all} package_variant cuda "$folder"
  else
    echo "dev: no package lensd-cuda: the CUDA Toolkit was not found or is switched off"
  fi
  ls -sh1 "$folder"/*.deb "$folder"/*.tar.gz
}

# shellcheck shell=bash
# Builds the packages; sourced by ./dev, whose functions it uses.

# package_variant cpu|cuda FOLDER: builds the Debian package and the tarball of a variant in FOLDER.
package_variant() {
  local variant=$1 folder=$2 start=$SECONDS
  build=$folder/$variant
  configure
  compile lensd
  local built=$((SECONDS - start)) name=lensd version
  [[ $variant == cpu ]] || name=lensd-cuda
  version=$("$build/lensd" --version)
  version=${version#lensd }
  rm -f "$folder/${name}"_*.deb "$folder/$name-$version"-*.tar.gz
  (cd "$build" && logged "$build/package.log" cpack -B "$folder")
  rm -rf "$folder/_CPack_Packages"
  logged "$build/tarball.log" "$root/cmake/tarball.sh" "$build" "$folder" "$name-$version-linux-$(uname -m)"
  local nvcc archs=''
  nvcc=$(find_nvcc)
  if [[ $variant == cuda && -x ${nvcc%/*}/cuobjdump ]]; then
    archs=", $("${nvcc%/*}/cuobjdump" --list-elf "$build/lensd" | grep -o 'sm_[0-9]*' | sort -uV | xargs)"
  fi
  echo "$name: built in $built s, program $(du -h --apparent-size "$build/lensd" | cut -f1)$archs"
}

# make_packages: builds the CPU variant, and the CUDA variant if there is a CUDA compiler.
make_packages() {
  local folder=$root/build/package
  mkdir -p "$folder"
  # Use the time of the last commit, so that the same sources give the same packages.
  SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -c safe.directory="$root" -C "$root" log -1 --format=%ct 2>/dev/null ||
    date +%s)}
  export SOURCE_DATE_EPOCH
  LENSD_CUDA=off package_variant cpu "$folder"
  provide_nvcc
  if [[ -n $(find_nvcc) ]]; then
    LENSD_CUDA_ARCHS=${LENSD_CUDA_ARCHS:-all} package_variant cuda "$folder"
  else
    echo "dev: no package lensd-cuda: the CUDA Toolkit was not found or is switched off"
  fi
  ls -sh1 "$folder"/*.deb "$folder"/*.tar.gz
}

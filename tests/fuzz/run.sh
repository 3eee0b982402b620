#!/usr/bin/env bash
# Runs fuzz targets that ./dev fuzz or .ci/run has built: run.sh BUILD_FOLDER [NAME|all|media-files [ARGS]]
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$1
shift
findings=$build/findings
max_bytes=4096         # maximum size of an input
max_media_bytes=100000 # the same for the target `media`
timeout=10             # in seconds, for one input
memory=3000            # memory limit of a target in MiB

# An allocation of FFmpeg that fails is not a finding. Decoders free much memory, so keep the quarantine small.
export ASAN_OPTIONS=allocator_may_return_null=1:quarantine_size_mb=64:detect_leaks=1
export UBSAN_OPTIONS=print_stacktrace=1 LSAN_OPTIONS=suppressions=$here/../lsan.supp:print_suppressions=0

names() {
  local file
  for file in "$here"/targets/*.cpp; do basename "$file" .cpp; done
}

list() {
  local name
  for name in $(names); do printf '%-12s %s\n' "$name" "$(sed -n '1s,^// ,,p' "$here/targets/$name.cpp")"; done
  printf '%-12s %s\n' media-files 'Damaged copies of many clips, played by the real source: ./dev fuzz media-files N [SEED]'
}

die() {
  echo "dev: $*" >&2
  exit 1
}

# clips: makes the clips in $build/clips if they do not exist.
clips() {
  [[ -d $build/clips ]] && return
  "$here/make_clips.sh" "$build/clips.new"
  mv "$build/clips.new" "$build/clips"
}

# seeds NAME: prints the folders with inputs to start from.
seeds() {
  [[ ! -d $here/seeds/$1 ]] || echo "$here/seeds/$1"
  [[ $1 != media && $1 != mpegts ]] || echo "$build/clips"
}

# target NAME SECONDS [SEED]: runs a target with its messages in $build/NAME.log. Prints one line of statistics. After a
# finding, also prints the report and how to repeat it.
target() {
  local name=$1 seconds=$2 log=$build/$1.log code=0 before seed_folders options=("-seed=${3:-0}") # 0: a random one
  mkdir -p "$findings/$name" "$build/corpus/$name"
  mapfile -t seed_folders < <(seeds "$name")
  [[ ! -f $here/dictionaries/$name.dict ]] || options+=("-dict=$here/dictionaries/$name.dict")
  [[ $name == media ]] && options+=("-max_len=$max_media_bytes") || options+=("-max_len=$max_bytes")
  before=$(find "$findings/$name" -type f | wc -l)
  TMPDIR=$(mktemp -d -p "$(ls -d /dev/shm 2>/dev/null || echo /tmp)")
  export TMPDIR # for targets that make folders
  "$build/fuzz/$name" -max_total_time="$seconds" -timeout=$timeout -rss_limit_mb=$memory -print_final_stats=1 \
    -artifact_prefix="$findings/$name/" "${options[@]}" "$build/corpus/$name" "${seed_folders[@]}" >"$log" 2>&1 || code=$?
  rm -rf "$TMPDIR"
  local runs coverage
  runs=$(sed -n 's/^stat::number_of_executed_units: //p' "$log")
  coverage=$(grep -o ' cov: [0-9]*' "$log" | tail -n 1 || true)
  printf '%-12s %9s runs in %4s s, %5s edges: ' "$name" "${runs:-?}" "$seconds" "${coverage##* }"
  if ((code == 0)) && [[ $(find "$findings/$name" -type f | wc -l) == "$before" ]]; then
    echo "no finding"
    return
  fi
  echo "FINDING (code $code)"
  sed -nE '/broken property|ERROR: |runtime error/,/^SUMMARY/p; /^Base64/p' "$log" | head -n 100 | grep . ||
    tail -n 20 "$log"
  find "$findings/$name" -type f -newer "$build/fuzz/$name" -printf "repeat with: ./dev fuzz $name %p\n" | tail -n 1
  return 1
}

# all SECONDS [SEED]: runs all targets, as many at a time as there are cores, and plays 1,000 damaged media files. With a
# seed, two runs of a build have nearly the same inputs.
all() {
  local code=0
  clips
  export -f target seeds
  export build here findings max_bytes max_media_bytes timeout memory
  names | xargs -I NAME -P "$(nproc)" bash -c "set -uo pipefail; target NAME $*" || code=$?
  (media_files 1000 "${@:2}") || code=$?
  return "$code"
}

# media_files COUNT [SEED]: plays damaged copies of the clips. After findings, prints the messages of the first ones.
media_files() {
  local count=${1:-1000} seed=${2:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')} folder=$build/media-files
  mkdir -p "$findings/media-files"
  clips
  rm -rf "$folder"
  cp -r "$build/clips" "$folder"
  [[ -z ${LENSD_CLIPS:-} ]] || find "$LENSD_CLIPS" -maxdepth 1 -type f -exec cp {} "$folder" \;
  "$build/fuzz/media-files" "$folder" "$findings/media-files" "$count" "$seed" "$(nproc)" && return
  find "$findings/media-files" -name '*.log' -newer "$folder" | sort | head -n 3 | xargs -r head -n 60
  die "repeat a finding with: ./dev fuzz media-files $findings/media-files/FILE"
}

case ${1:-} in
  '') list ;;
  all) all "${2:-60}" "${@:3}" || die "findings are in $findings" ;;
  media-files)
    [[ ! -f ${2:-} ]] || exec "$build/fuzz/media-files" "$2"
    media_files "${@:2}"
    ;;
  *)
    grep -qx -- "$1" <<<"$(names)" || die "there is no fuzz target '$1': $(names | xargs), media-files"
    [[ ! -f ${2:-} ]] || exec "$build/fuzz/$1" -timeout=$timeout -rss_limit_mb=$memory "$2"
    clips
    target "$1" "${2:-60}"
    ;;
esac

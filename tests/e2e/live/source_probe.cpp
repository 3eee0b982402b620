// Runs a live source through the pipeline and prints one JSON line per event. Times are CLOCK_MONOTONIC in
// seconds, as in the test scripts. Exits at the end of standard input or on a signal.
//
//   lensd_source_probe URL [--low-latency] [--filter NAME]
//
//   {"event":"state", "t", "state", "reason", …}   the source's state changed
//   {"event":"picture", "t", "width", "height", …} the second picture of a connection or after placeholders
//                                                  (the first may be an old one from the parser), and the
//                                                  first picture of another size
//   {"event":"placeholder", "t"}                   the first placeholder after a picture
//   {"event":"counts", …}                          for each line on standard input
#include <dirent.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "app/pipeline/pipeline.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "kernels/registry.hpp"

namespace {

using namespace lensd;

int entries(const char* folder) {
  int count = 0;
  if (DIR* open = opendir(folder)) {
    while (const dirent* entry = readdir(open)) count += entry->d_name[0] != '.';
    closedir(open);
  }
  return count;
}

long resident_kib() {
  std::ifstream file("/proc/self/statm");
  long total = 0, resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE) / 1024;
}

void say(const char* event, const PipelineStatus& status, const std::string& more = {}) {
  std::printf(
      "{\"event\":\"%s\",\"t\":%.6f,\"state\":\"%s\",\"reason\":\"%s\",\"frames\":%llu,"
      "\"reconnects\":%llu,\"stalls\":%llu,\"dropped\":%llu,\"latency_ms\":%.3f%s}\n",
      event, to_s(now_ns()), name(status.live.state), status.live.reason.c_str(),
      static_cast<unsigned long long>(status.live.frames),
      static_cast<unsigned long long>(status.live.reconnects),
      static_cast<unsigned long long>(status.live.stalls), static_cast<unsigned long long>(status.dropped),
      to_ms(status.live.latency_ns), more.c_str());
  std::fflush(stdout);
}

std::string counts() {
  char text[160];
  std::snprintf(text, sizeof text, ",\"threads\":%d,\"descriptors\":%d,\"rss_kib\":%ld",
                entries("/proc/self/task"), entries("/proc/self/fd"), resident_kib());
  return text;
}

/// Waits up to 2 ms for a line on standard input, and prints the counts for it. Returns false at the end of
/// standard input.
bool answered(const Pipeline& pipeline) {
  struct pollfd input = {STDIN_FILENO, POLLIN, 0};
  if (poll(&input, 1, 2) <= 0) return true;
  char line[64];
  const ssize_t got = read(STDIN_FILENO, line, sizeof line);
  if (got > 0) say("counts", pipeline.status(), counts());
  return got > 0;
}

void watch(Pipeline& pipeline) {
  LiveState state = LiveState::connecting;
  std::string reason;
  bool away = true;
  int fresh = 0;  // pictures since the last placeholder or new connection
  Extent size;
  uint32_t serial = 0;
  say("state", pipeline.status());
  while (answered(pipeline)) {
    pipeline.check();
    const PipelineStatus status = pipeline.status();
    if (status.live.state != state || status.live.reason != reason) say("state", status);
    state = status.live.state, reason = status.live.reason;
    const Frame frame = pipeline.take_newest();
    if (!frame) continue;
    if (frame.info.serial != serial) fresh = 0;
    if (frame.info.placeholder) {
      if (!away) say("placeholder", status);
      away = true;
    } else {
      const Extent now = frame.image().format.extent;
      if (++fresh == 2 || (fresh > 2 && now != size))
        say("picture", status,
            ",\"width\":" + std::to_string(now.width) + ",\"height\":" + std::to_string(now.height));
      size = now;
      away = false;
    }
    serial = frame.info.serial;
  }
}

}  // namespace

int main(int argc, char** argv) {
  SourceOptions options;
  PipelineOptions pipeline_options;
  pipeline_options.executor.threads = 1;
  pipeline_options.executor.host_frames = true;
  pipeline_options.paced = true;
  for (int i = 2; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--low-latency")) options.live.low_latency = true;
    if (!std::strcmp(argv[i], "--filter") && i + 1 < argc)
      pipeline_options.graph = parse_chain(argv[i + 1], registry());
  }
  try {
    log::init("warn", "");
    Pipeline pipeline(open_source(argc > 1 ? argv[1] : "", options), pipeline_options, registry());
    pipeline.start();
    watch(pipeline);
    pipeline.stop();
    return 0;
  } catch (const Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return static_cast<int>(e.code());
  }
}

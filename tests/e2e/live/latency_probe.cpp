// Measures the latency of a live source through the pipeline:
//
//   lensd_latency_probe URL SECONDS [--low-latency] [--graph CHAIN] [--camera WIDTHxHEIGHT@RATE]
//
// The sender draws time codes (time_code.hpp), like lensd_time_code_sender. After one second of warm-up the
// probe reads the code of every published frame. It prints p50, p95, p99 and maximum of each stage as JSON,
// in milliseconds: drawn → decoded → dequeued → processed → seen. With --camera, URL is a camera without time
// codes: the first time is the driver's stamp of the capture, and "decoded" is empty.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <semaphore>
#include <string>

#include "app/pipeline/pipeline.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "kernels/registry.hpp"
#include "tests/e2e/live/distribution.hpp"
#include "tests/e2e/live/time_code.hpp"

namespace {

using namespace lensd;

std::optional<uint64_t> code_in(const ImageRef& image) {
  const int bar = image.format.extent.width / time_code::kBars;
  const int bytes = channels(image.format.format);
  const auto* row = static_cast<const uint8_t*>(image.data) + bar * image.pitch_bytes;
  return time_code::read([&](int index) { return row[(index * bar + bar / 2) * bytes + bytes / 2]; });
}

struct Parts {
  bool camera = false;  ///< no time codes
  Distribution age, decoded, taken, graph, seen;
  size_t unread = 0, skipped = 0;
  int64_t last_index = -1;

  void add(const Frame& frame, int64_t now) {
    const auto us = camera ? std::nullopt : code_in(frame.image());
    if (!us && !camera) {
      ++unread;
      return;
    }
    if (last_index >= 0)
      skipped += static_cast<size_t>(std::max<int64_t>(0, frame.info.index - last_index - 1));
    last_index = frame.info.index;
    const FrameInfo& info = frame.info;
    age.add(us ? time_code::age_ms(*us, static_cast<uint64_t>(now / 1000)) : to_ms(now - info.capture_ns));
    if (us) decoded.add(time_code::age_ms(*us, static_cast<uint64_t>(info.capture_ns / 1000)));
    taken.add(to_ms(info.taken_ns - info.capture_ns));
    graph.add(to_ms(info.processed_ns - info.taken_ns));
    seen.add(to_ms(now - info.processed_ns));
  }
};

void measure(Pipeline& pipeline, std::counting_semaphore<>& published, double seconds, bool camera) {
  Parts parts;
  parts.camera = camera;
  int64_t begin = 0;
  while (begin == 0 || now_ns() < begin + static_cast<int64_t>((seconds + 1) * 1e9)) {
    if (!published.try_acquire_for(std::chrono::seconds(10))) break;
    const Frame frame = pipeline.take_newest();
    pipeline.check();
    if (!frame || frame.info.placeholder) continue;
    const int64_t now = now_ns();
    if (begin == 0) begin = now;
    if (now > begin + 1'000'000'000) parts.add(frame, now);
  }
  const PipelineStatus status = pipeline.status();
  std::printf("{\"frames\":%zu,\"unread\":%zu,\"skipped\":%zu,\"dropped\":%llu,\"reconnects\":%llu",
              parts.age.count(), parts.unread, parts.skipped, static_cast<unsigned long long>(status.dropped),
              static_cast<unsigned long long>(status.live.reconnects));
  for (const auto& [name, part] :
       {std::pair("age", &parts.age), std::pair("decoded", &parts.decoded), std::pair("taken", &parts.taken),
        std::pair("graph", &parts.graph), std::pair("seen", &parts.seen)}) {
    std::printf(",\"%s\":{", name);
    part->print();
    std::printf("}");
  }
  std::printf("}\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr,
                 "usage: %s URL SECONDS [--low-latency] [--graph CHAIN] [--camera WIDTHxHEIGHT@RATE]\n",
                 argv[0]);
    return 2;
  }
  std::counting_semaphore<> published{0};
  SourceOptions options;
  PipelineOptions run;
  run.executor.host_frames = true;
  run.paced = true;
  run.on_frame = [&published] { published.release(); };
  bool camera = false;
  try {
    for (int i = 3; i < argc; ++i) {
      if (!std::strcmp(argv[i], "--low-latency")) options.live.low_latency = true;
      if (!std::strcmp(argv[i], "--graph") && i + 1 < argc) run.graph = parse_chain(argv[i + 1], registry());
      if (!std::strcmp(argv[i], "--camera") && i + 1 < argc) {
        camera = std::sscanf(argv[i + 1], "%dx%d@%lf", &options.live.size.width, &options.live.size.height,
                             &options.live.rate) == 3;
        if (!camera) throw Error(ExitCode::usage, "--camera", "expected WIDTHxHEIGHT@RATE");
      }
    }
    log::init("warn", "");
    Pipeline pipeline(open_source(argv[1], options), run, registry());
    pipeline.start();
    measure(pipeline, published, std::atof(argv[2]), camera);
    pipeline.stop();
    return 0;
  } catch (const Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return static_cast<int>(e.code());
  }
}

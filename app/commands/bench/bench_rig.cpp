#include "app/commands/bench/bench_rig.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "core/base/clock.hpp"

#if LENSD_CUDA
#include "core/device/cuda_check.hpp"
#endif

namespace lensd::bench {
namespace {

void fill_noise(uint8_t* to, size_t bytes) {
  std::mt19937_64 random(1);
  for (size_t i = 0; i + 8 <= bytes; i += 8) {
    const uint64_t v = random();
    std::memcpy(to + i, &v, 8);
  }
}

void copy_in(MemoryBlock& to, const MemoryBlock& from) {
#if LENSD_CUDA
  if (to.kind() == MemoryKind::device) {
    LENSD_CUDA_CHECK(cudaMemcpy(to.data(), from.data(), from.size(), cudaMemcpyHostToDevice));
    return;
  }
#endif
  std::memcpy(to.data(), from.data(), from.size());
}

/// Median seconds of `run(i)` over half a second or 400 calls.
template <class Run>
double median_time(Run run) {
  run(0);
  std::vector<double> times;
  const int64_t start = now_ns();
  for (int i = 1; i <= 400 && (i < 8 || now_ns() - start < 500'000'000); ++i) {
    const int64_t t = now_ns();
    run(i);
    times.push_back(to_s(now_ns() - t));
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

/// Everything the passes need on the CPU.
struct CpuRun {
  Filter& filter;
  Layout layout;
  Workers workers;
  MemoryBlock worker, state, stats;
  std::vector<MemoryBlock> scratch;
  std::vector<uint8_t*> scratch_pointers;
  std::vector<uint8_t> block;
  size_t stride, state_stride;
  FrameBlock frame_block;
  PassArgs args;
  const std::vector<std::vector<uint8_t>>& tracks;

  CpuRun(Subject& subject, int threads) : filter(*subject.filter), workers(threads), tracks(subject.tracks) {
    layout = filter.configure(
        {.images = {&subject.format, subject.picture ? 0u : 1u}, .picture = subject.picture});
    stride = align_up(layout.worker_bytes, 256);
    worker = MemoryBlock(MemoryKind::host, stride * static_cast<size_t>(threads));
    state_stride = align_up(layout.state_bytes, 256);
    state = MemoryBlock(MemoryKind::host, 2 * state_stride),
    stats = MemoryBlock(MemoryKind::host, layout.stats_bytes);
    std::memset(state.data(), 0, state.size()), std::memset(stats.data(), 0, stats.size());
    for (const size_t bytes : layout.scratch_bytes)
      scratch.emplace_back(MemoryKind::host, bytes), scratch_pointers.push_back(scratch.back().data());
    block.resize(filter.block_bytes());
    filter.fill_block(block.data());
  }
  void frame(const FrameBuffers& buffers) {
    args = {};
    args.in = {&buffers.in_ref, 1}, args.out = buffers.out_ref, args.picture = &buffers.picture;
    args.block = args.host_block = block.data(), args.scratch = scratch_pointers;
    if (!tracks.empty())
      args.tracks = reinterpret_cast<const TrackTable*>(
          tracks[static_cast<size_t>(frame_block.index) % tracks.size()].data());
    frame_block.state_index ^= 1, frame_block.reset = frame_block.index++ == 0;
    args.frame = &frame_block;
    args.state = state.data(), args.state_bytes = state_stride, args.stats = stats.data();
    for (size_t pass = 0; pass < layout.passes.size(); ++pass) {
      args.pass = static_cast<int>(pass);
      workers.run(
          layout.passes[pass].items, layout.passes[pass].grain,
          [](void* self, Band band, int w) {
            const auto& run = *static_cast<CpuRun*>(self);
            PassArgs mine = run.args;
            mine.worker = run.worker.data() + run.stride * static_cast<size_t>(w);
            run_pass(run.filter, run.layout, static_cast<size_t>(mine.pass), mine, band);
          },
          this);
    }
  }
};

size_t rotation(size_t frame_bytes, size_t cache_bytes) {
  return std::clamp<size_t>(2 * cache_bytes / std::max<size_t>(1, frame_bytes) + 2, 2, 64);
}

}  // namespace

std::vector<std::vector<uint8_t>> circling_tracks(Extent picture) {
  constexpr int count = 1000, frames = 32;
  constexpr double radius = 15, turn = 2 * 3.14159265358979 / frames;
  std::vector<std::vector<uint8_t>> tables;
  for (int i = 0; i < frames; ++i) {
    auto& bytes = tables.emplace_back(track_table_bytes(count));
    auto& table = *reinterpret_cast<TrackTable*>(bytes.data());
    table = {.frame = i, .capacity = count, .alive = count, .picture = picture};
    std::mt19937 random(1);
    for (uint32_t id = 1; id <= count; ++id) {
      const auto along = [&](int side, double shift, double at) {
        return static_cast<float>(shift * (side - 1) + radius * at);
      };
      const double x = 0.1 + 0.8 * random() / 4294967296.0, y = 0.1 + 0.8 * random() / 4294967296.0;
      table.tracks()[id - 1] = {.id = id,
                                .status = TrackStatus::tracked,
                                .x = along(picture.width, x, std::cos(turn * i)),
                                .y = along(picture.height, y, std::sin(turn * i)),
                                .previous_x = along(picture.width, x, std::cos(turn * (i - 1))),
                                .previous_y = along(picture.height, y, std::sin(turn * (i - 1))),
                                .age = 100,
                                .residual = 3};
    }
  }
  return tables;
}

FrameBuffers make_buffers(const Subject& subject, const Layout& layout, MemoryKind kind) {
  FrameBuffers buffers;
  const auto pitch_of = [](size_t row) {
    return static_cast<std::ptrdiff_t>(align_up(row, kDeviceAlignment));
  };
  size_t in_bytes = 0;
  if (subject.picture) {
    for (int p = 0; p < subject.picture->format.plane_count; ++p)
      in_bytes += static_cast<size_t>(pitch_of(subject.picture->plane_row_bytes(p))) *
                  static_cast<size_t>(subject.picture->plane_rows(p));
  } else {
    in_bytes = static_cast<size_t>(pitch_of(subject.format.row_bytes())) *
               static_cast<size_t>(subject.format.extent.height);
  }
  MemoryBlock noise(MemoryKind::host, in_bytes);
  fill_noise(noise.data(), noise.size());
  buffers.in = MemoryBlock(kind, in_bytes);
  copy_in(buffers.in, noise);
  const std::ptrdiff_t out_pitch = pitch_of(layout.output.row_bytes());
  buffers.out =
      MemoryBlock(kind, static_cast<size_t>(out_pitch) * static_cast<size_t>(layout.output.extent.height));
  buffers.out_ref = {buffers.out.data(), out_pitch, layout.output};
  if (!subject.picture) {
    buffers.in_ref = {buffers.in.data(), pitch_of(subject.format.row_bytes()), subject.format};
    return buffers;
  }
  buffers.picture.info = *subject.picture;
  buffers.picture.memory = kind;
  const uint8_t* plane = buffers.in.data();
  for (int p = 0; p < subject.picture->format.plane_count; ++p) {
    const auto i = static_cast<size_t>(p);
    buffers.picture.planes[i] = plane,
    buffers.picture.pitch_bytes[i] = pitch_of(subject.picture->plane_row_bytes(p));
    plane += buffers.picture.pitch_bytes[i] * subject.picture->plane_rows(p);
  }
  return buffers;
}

Timing time_cpu(Subject& subject, int threads, size_t cache_bytes) {
  CpuRun run(subject, threads);
  std::vector<FrameBuffers> frames;
  frames.push_back(make_buffers(subject, run.layout, MemoryKind::host));
  const size_t count = rotation(frames[0].in.size() + frames[0].out.size(), cache_bytes);
  while (frames.size() < count) frames.push_back(make_buffers(subject, run.layout, MemoryKind::host));
  Timing timing;
  for (const PassSpec& pass : run.layout.passes) timing.bytes += pass.bytes;
  timing.cold = median_time([&](int i) { run.frame(frames[static_cast<size_t>(i) % count]); });
  timing.warm = median_time([&](int) { run.frame(frames[0]); });
  return timing;
}

Timing time_cpu_copy(double bytes, int threads, size_t cache_bytes) {
  const auto half = static_cast<size_t>(bytes / 2);
  const size_t count = rotation(2 * half, cache_bytes);
  std::vector<MemoryBlock> blocks;
  for (size_t i = 0; i < 2 * count; ++i) {
    blocks.emplace_back(MemoryKind::host, half);
    fill_noise(blocks.back().data(), half);
  }
  Workers workers(threads);
  struct Copy {
    uint8_t* to;
    const uint8_t* from;
    size_t bytes;
  };
  const auto once = [&](size_t i) {
    Copy copy{blocks[2 * i + 1].data(), blocks[2 * i].data(), half};
    workers.run(
        64, 1,
        [](void* c, Band band, int) {
          const Copy& all = *static_cast<Copy*>(c);
          const size_t begin = all.bytes * static_cast<size_t>(band.begin) / 64,
                       end = all.bytes * static_cast<size_t>(band.end) / 64;
          std::memcpy(all.to + begin, all.from + begin, end - begin);
        },
        &copy);
  };
  return {median_time([&](int i) { once(static_cast<size_t>(i) % count); }),
          median_time([&](int) { once(0); }), bytes};
}

std::vector<uint8_t> cpu_output(Subject& subject) {
  CpuRun run(subject, 2);
  const FrameBuffers frame = make_buffers(subject, run.layout, MemoryKind::host);
  run.frame(frame);
  std::vector<uint8_t> pixels;
  for (int y = 0; y < frame.out_ref.height(); ++y)
    pixels.insert(pixels.end(), frame.out_ref.row(y), frame.out_ref.row(y) + frame.out_ref.row_bytes());
  return pixels;
}

}  // namespace lensd::bench

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

constexpr size_t kMaxBuffers = 64;

void fill_noise(uint8_t* to, size_t bytes) {
  std::mt19937_64 random(1);
  for (size_t i = 0; i + 8 <= bytes; i += 8) {
    const uint64_t v = random();
    std::memcpy(to + i, &v, 8);
  }
}

/// Writes a gradient from left to right with a little noise, as in video.
void fill_gradient(uint8_t* to, std::ptrdiff_t pitch, const ImageFormat& format) {
  std::mt19937 random(1);
  const Extent extent = format.extent;
  const int channels = lensd::channels(format.format);
  for (int y = 0; y < extent.height; ++y, to += pitch)
    for (int i = 0; i < extent.width * channels; ++i) {
      const int x = i / channels, c = i % channels;
      const auto bits = static_cast<int>(random() & 4095);
      const int level = std::min(255, 40 + 150 * x / extent.width + 25 * c * y / extent.height + bits / 256);
      if (sample_bytes(format.format) == 1)
        to[i] = static_cast<uint8_t>(level);
      else
        reinterpret_cast<uint16_t*>(to)[i] = static_cast<uint16_t>(level * 256 + bits % 256);
    }
}

void copy_in(MemoryBlock& to, const void* from, size_t bytes) {
#if LENSD_CUDA
  if (to.kind() == MemoryKind::device) {
    LENSD_CUDA_CHECK(cudaMemcpy(to.data(), from, bytes, cudaMemcpyHostToDevice));
    return;
  }
#endif
  std::memcpy(to.data(), from, bytes);
}

/// Returns the median time of `run(i)` in seconds. After run(0), which is not timed, times calls for half a
/// second, but at least 7 and at most 400.
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
  return median(std::move(times));
}

/// Runs successive frames of a subject on the CPU.
struct SubjectRun {
  CpuRun cpu;
  const std::vector<std::vector<uint8_t>>& tracks;
  FrameBlock frame_block;

  SubjectRun(Subject& subject, int threads)
      : cpu(*subject.filter, inputs_of(subject, Backend::cpu), threads), tracks(subject.tracks) {}
  void frame(const FrameBuffers& buffers) {
    PassArgs args = cpu.args();
    args.in = {&buffers.in_ref, 1}, args.out = buffers.out_ref, args.picture = &buffers.picture;
    if (!tracks.empty())
      args.tracks = reinterpret_cast<const TrackTable*>(
          tracks[static_cast<size_t>(frame_block.index) % tracks.size()].data());
    frame_block.state_index ^= 1, frame_block.reset = frame_block.index++ == 0;
    args.frame = &frame_block;
    cpu.run(args);
  }
};

}  // namespace

FilterInputs inputs_of(const Subject& subject, Backend backend) {
  return {.images = {&subject.format, subject.picture ? 0u : 1u},
          .picture = subject.picture,
          .precision = subject.precision,
          .backend = backend};
}

size_t rotation(size_t frame_bytes, size_t cache_bytes, size_t most) {
  return std::clamp<size_t>(2 * cache_bytes / std::max<size_t>(1, frame_bytes) + 2, 2, most);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

FilterRun::FilterRun(Filter& f, const FilterInputs& inputs)
    : filter(f), layout(f.configure(inputs)), state_stride(align_up(layout.state_bytes, 256)) {
  const MemoryKind kind = inputs.backend == Backend::cuda ? MemoryKind::device : MemoryKind::host;
  state = MemoryBlock(kind, 2 * state_stride), stats = MemoryBlock(kind, layout.stats_bytes);
  for (MemoryBlock* memory : {&state, &stats})
    copy_in(*memory, std::vector<uint8_t>(memory->size()).data(), memory->size());
  for (const size_t bytes : layout.scratch_bytes)
    scratch_pointers.push_back(scratch.emplace_back(kind, bytes).data());
  host_block.resize(f.block_bytes());
  f.fill_block(host_block.data());
  block = MemoryBlock(kind, host_block.size());
  copy_in(block, host_block.data(), host_block.size());
}

PassArgs FilterRun::args() const {
  PassArgs args;
  args.block = block.data(), args.host_block = host_block.data(), args.scratch = scratch_pointers;
  args.state = state.data(), args.state_bytes = state_stride, args.stats = stats.data();
  return args;
}

CpuRun::CpuRun(Filter& f, const FilterInputs& inputs, int threads)
    : FilterRun(f, inputs),
      workers_(threads),
      worker_stride_(align_up(layout.worker_bytes, 256)),
      worker_(MemoryKind::host, worker_stride_ * static_cast<size_t>(threads)),
      seconds_(layout.passes.size()) {}

const std::vector<double>& CpuRun::run(const PassArgs& args) {
  args_ = args;
  std::fill_n(stats.data(), stats.size(), uint8_t{0});
  for (size_t i = 0; i < layout.passes.size(); ++i) {
    pass_ = &layout.passes[i];
    const int64_t begin = now_ns();
    workers_.run(
        pass_->items, pass_->grain,
        [](void* context, Band band, int worker) {
          const auto& self = *static_cast<CpuRun*>(context);
          PassArgs own = self.args_;
          own.worker = self.worker_.data() + self.worker_stride_ * static_cast<size_t>(worker);
          run_pass(self.filter, *self.pass_, own, band);
        },
        this);
    seconds_[i] = to_s(now_ns() - begin);
  }
  return seconds_;
}

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
  MemoryBlock input(MemoryKind::host, in_bytes);
  if (subject.is_scope)
    fill_gradient(input.data(), pitch_of(subject.format.row_bytes()), subject.format);
  else
    fill_noise(input.data(), input.size());
  buffers.in = MemoryBlock(kind, in_bytes);
  copy_in(buffers.in, input.data(), input.size());
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

std::vector<FrameBuffers> rotating_buffers(const Subject& subject, const Layout& layout, MemoryKind kind,
                                           size_t cache_bytes, size_t most) {
  std::vector<FrameBuffers> frames;
  frames.push_back(make_buffers(subject, layout, kind));
  const size_t count = rotation(frames[0].in.size() + frames[0].out.size(), cache_bytes, most);
  while (frames.size() < count) frames.push_back(make_buffers(subject, layout, kind));
  return frames;
}

Timing time_cpu(Subject& subject, int threads, size_t cache_bytes) {
  SubjectRun run(subject, threads);
  const std::vector<FrameBuffers> frames =
      rotating_buffers(subject, run.cpu.layout, MemoryKind::host, cache_bytes, kMaxBuffers);
  const size_t count = frames.size();
  Timing timing;
  for (const PassSpec& pass : run.cpu.layout.passes) timing.bytes += pass.bytes;
  timing.cold = median_time([&](int i) { run.frame(frames[static_cast<size_t>(i) % count]); });
  timing.warm = median_time([&](int) { run.frame(frames[0]); });
  return timing;
}

Timing time_cpu_copy(double bytes, int threads, size_t cache_bytes) {
  const auto half = static_cast<size_t>(bytes / 2);
  const size_t count = rotation(2 * half, cache_bytes, kMaxBuffers);
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

std::vector<uint8_t> cpu_result(Subject& subject) {
  SubjectRun run(subject, 2);
  const FrameBuffers frame = make_buffers(subject, run.cpu.layout, MemoryKind::host);
  run.frame(frame);
  if (subject.is_scope) return {run.cpu.stats.data(), run.cpu.stats.data() + run.cpu.stats.size()};
  std::vector<uint8_t> pixels;
  for (int y = 0; y < frame.out_ref.height(); ++y)
    pixels.insert(pixels.end(), frame.out_ref.row(y), frame.out_ref.row(y) + frame.out_ref.row_bytes());
  return pixels;
}

}  // namespace lensd::bench

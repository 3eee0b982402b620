#include "tests/filters/harness.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "core/device/memory.hpp"

namespace lensd::test {
namespace {

class CpuRig final : public Rig {
 public:
  CpuRig(Filter& filter, const FilterInputs& inputs, Placement placement, int threads)
      : filter_(filter), placement_(placement), workers_(threads), layout_(filter.configure(inputs)) {
    has_state = layout_.state_bytes > 0;
    for (const ImageFormat& f : inputs.images)
      in_.emplace_back(MemoryKind::host, 1), in_formats_.push_back(f);
    for (const size_t bytes : layout_.scratch_bytes) {
      scratch_.emplace_back(MemoryKind::host, bytes);
      scratch_pointers_.push_back(scratch_.back().data());
    }
    state_stride_ = align_up(layout_.state_bytes, 256);
    state_ = MemoryBlock(MemoryKind::host, 2 * state_stride_);
    std::memset(state_.data(), 0, state_.size());
    stats_ = MemoryBlock(MemoryKind::host, layout_.stats_bytes);
    worker_stride_ = align_up(layout_.worker_bytes, 256);
    worker_ = MemoryBlock(MemoryKind::host, worker_stride_ * static_cast<size_t>(threads));
    block_.resize(filter.block_bytes());
  }

  using Rig::run;
  RunOutput run(const std::vector<Image>& in, const RunExtras& extras) override {
    // Heap blocks of the exact size, so that a read beyond the last row exceeds the allocation.
    std::vector<std::unique_ptr<uint8_t[]>> blocks;
    std::vector<ConstImageRef> refs;
    for (const Image& image : in) {
      blocks.emplace_back(new uint8_t[bytes_of(image.format, placement_)]);
      unpack(image, placement_, blocks.back().get());
      refs.push_back({blocks.back().get() + offset_of(image.format, placement_),
                      static_cast<std::ptrdiff_t>(pitch_of(image.format, placement_)), image.format});
    }
    std::unique_ptr<uint8_t[]> out(new uint8_t[bytes_of(layout_.output, placement_)]);
    RunOutput result{Image(layout_.output), {}};
    unpack(result.image, placement_, out.get());
    filter_.fill_block(block_.data());
    std::memset(stats_.data(), 0, stats_.size());
    for (auto& s : scratch_) std::memset(s.data(), 0xcd, s.size());
    std::memset(worker_.data(), 0xcd, worker_.size());

    args_ = {};
    args_.in = refs;
    args_.out = {out.get() + offset_of(layout_.output, placement_),
                 static_cast<std::ptrdiff_t>(pitch_of(layout_.output, placement_)), layout_.output};
    args_.block = args_.host_block = block_.data();
    args_.scratch = scratch_pointers_;
    const FrameBlock frame = next_frame(extras);
    args_.frame = &frame;
    args_.state = state_.data(), args_.state_bytes = state_stride_;
    args_.stats = stats_.data(), args_.picture = extras.picture;
    if (!extras.tracks.empty()) args_.tracks = reinterpret_cast<const TrackTable*>(extras.tracks.data());
    for (const PassSpec& pass : layout_.passes) {
      pass_ = &pass;
      workers_.run(pass.items, pass.grain, &CpuRig::band, this);
    }
    result.guards_untouched = pack(out.get(), placement_, result.image);
    if (layout_.passes_through) result.image = in[0];
    filter_.read_stats(stats_.data(), result.stats);
    result.stats_bytes.assign(stats_.data(), stats_.data() + layout_.stats_bytes);
    return result;
  }

 private:
  static void band(void* context, Band band, int worker) {
    const auto* self = static_cast<const CpuRig*>(context);
    PassArgs args = self->args_;
    args.worker = self->worker_.data() + self->worker_stride_ * static_cast<size_t>(worker);
    run_pass(self->filter_, *self->pass_, args, band);
  }

  Filter& filter_;
  Placement placement_;
  Workers workers_;
  Layout layout_;
  std::vector<MemoryBlock> in_, scratch_;
  std::vector<ImageFormat> in_formats_;
  std::vector<uint8_t*> scratch_pointers_;
  MemoryBlock state_, stats_, worker_;
  size_t worker_stride_ = 0, state_stride_ = 0;
  std::vector<uint8_t> block_;
  PassArgs args_;
  const PassSpec* pass_ = nullptr;
};

/// Returns the largest value to draw. Sizes in pixels are limited, because the oracle takes minutes for an
/// output of 16384×16384.
double moderate(const ParamSpec& spec) {
  constexpr double most = 300;
  return spec.unit == "px" && spec.max >= kMaxSide - 1 ? most : spec.max;
}

double draw(const ParamSpec& spec, std::mt19937& random) {
  const double max = moderate(spec);
  const double t = std::uniform_real_distribution<double>(0, 1)(random);
  if (t < 0.1) return spec.min;
  if (t > 0.9) return max;
  const double u = (t - 0.1) / 0.8;
  if (spec.min > 0 && max / spec.min > 20) return spec.min * std::pow(max / spec.min, u);
  return spec.min + (max - spec.min) * u;
}

}  // namespace

std::unique_ptr<Rig> make_cpu_rig(Filter& filter, const FilterInputs& inputs, Placement placement,
                                  int threads) {
  return std::make_unique<CpuRig>(filter, inputs, placement, threads);
}

#if !LENSD_CUDA
std::unique_ptr<Rig> make_cuda_rig(Filter&, const FilterInputs&, Placement) {
  return nullptr;
}
#endif

std::string cuda_unavailable() {
  const CudaStatus status = probe_cuda();
  return status.available ? "" : status.reason;
}

size_t offset_of(const ImageFormat& format, Placement placement) {
  return static_cast<size_t>(placement.offset * sample_bytes(format.format));
}

size_t pitch_of(const ImageFormat& format, Placement placement) {
  const size_t row = placement.aligned_rows ? align_up(format.row_bytes(), 256) : format.row_bytes();
  return row + static_cast<size_t>(placement.padding * sample_bytes(format.format));
}

size_t bytes_of(const ImageFormat& format, Placement placement) {
  return offset_of(format, placement) +
         pitch_of(format, placement) * static_cast<size_t>(format.extent.height - 1) + format.row_bytes();
}

void unpack(const Image& image, Placement placement, uint8_t* block) {
  std::memset(block, kGuard, bytes_of(image.format, placement));
  const size_t row = image.format.row_bytes();
  for (int y = 0; y < image.height(); ++y)
    std::memcpy(block + offset_of(image.format, placement) +
                    static_cast<size_t>(y) * pitch_of(image.format, placement),
                image.pixels.data() + static_cast<size_t>(y) * row, row);
}

bool pack(const uint8_t* block, Placement placement, Image& image) {
  const size_t row = image.format.row_bytes(), pitch = pitch_of(image.format, placement);
  bool guards = true;
  for (size_t i = 0; i < offset_of(image.format, placement); ++i) guards &= block[i] == kGuard;
  for (int y = 0; y < image.height(); ++y) {
    const uint8_t* from = block + offset_of(image.format, placement) + static_cast<size_t>(y) * pitch;
    std::memcpy(image.pixels.data() + static_cast<size_t>(y) * row, from, row);
    if (y + 1 < image.height())
      for (size_t i = row; i < pitch; ++i) guards &= from[i] == kGuard;
  }
  return guards;
}

bool within_limit(Extent size) {
  const char* limit = std::getenv("LENSD_MAX_PIXELS");
  return !limit || int64_t{size.width} * size.height <= std::strtoll(limit, nullptr, 10);
}

std::vector<Extent> within_limit(std::vector<Extent> sizes) {
  std::erase_if(sizes, [](Extent size) { return !within_limit(size); });
  return sizes;
}

Image noise(ImageFormat format, std::mt19937& random) {
  Image image(format);
  for (uint8_t& v : image.pixels) v = static_cast<uint8_t>(random() >> 13);
  return image;
}

std::vector<ParamValue> spread(const ParamSpec& spec) {
  std::vector<ParamValue> values;
  if (spec.type == ParamType::boolean) values = {false, true};
  for (const std::string& choice : spec.choices) values.emplace_back(choice);
  if (spec.type != ParamType::integer && spec.type != ParamType::real) return values;
  const double max = moderate(spec), range = max - spec.min;
  const bool all = spec.type == ParamType::integer && range < 64;
  const bool geometric = spec.min > 0 && max / spec.min > 20;
  const int steps = all ? static_cast<int>(range) : 8;
  for (int i = 0; i <= steps; ++i) {
    const double part = steps > 0 ? static_cast<double>(i) / steps : 0;
    double v = geometric && !all ? spec.min * std::pow(max / spec.min, part) : spec.min + range * part;
    v = std::min(v, max);
    spec.type == ParamType::integer ? values.emplace_back(int64_t{std::llround(v)}) : values.emplace_back(v);
  }
  return values;
}

std::string randomise(Filter& filter, std::mt19937& random, Draw which) {
  std::string text = filter.schema().name;
  for (const ParamSpec& spec : filter.schema().params) {
    if (which == Draw::live && spec.change != ParamChange::live) continue;
    ParamValue value = spec.default_value;
    switch (spec.type) {
      case ParamType::boolean:
        value = (random() & 1) != 0;
        break;
      case ParamType::integer:
        value = static_cast<int64_t>(std::llround(draw(spec, random)));
        break;
      case ParamType::real:
        value = draw(spec, random);
        break;
      case ParamType::choice:
        value = spec.choices[random() % spec.choices.size()];
        break;
      case ParamType::text:
      case ParamType::matrix:
        break;
    }
    // A filter may reject a value that the schema allows (for example, an even size); then the old value
    // stays.
    if (!filter.set(spec.name, value)) text += fmt::format(":{}={}", spec.name, to_string(value));
  }
  return text;
}

std::string difference(const Image& expected, const Image& actual) {
  if (!(expected.format == actual.format)) return "formats differ";
  size_t count = 0;
  std::string first;
  for (int y = 0; y < expected.height(); ++y)
    for (int x = 0; x < expected.width(); ++x)
      for (int c = 0; c < expected.channels(); ++c) {
        const int wanted = expected.sample(x, y, c), got = actual.sample(x, y, c);
        if (wanted == got) continue;
        if (count++ == 0)
          first = fmt::format("at x {} y {} channel {}: expected {}, got {}", x, y, c, wanted, got);
      }
  return count == 0 ? "" : fmt::format("{} samples differ, the first {}", count, first);
}

}  // namespace lensd::test

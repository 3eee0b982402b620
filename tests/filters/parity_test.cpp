// Every filter of the registry: oracle == CPU with one and two threads == CUDA, over odd sizes, formats,
// random parameters and placements. Also tests older instruction sets, CUDA graphs, live parameters and
// convert. Each run draws different parameters and prints its seed; LENSD_SEED repeats a run.
// LENSD_DRAWS sets the number of parameter sets per case.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "core/base/error.hpp"
#include "kernels/registry.hpp"
#include "tests/filters/harness.hpp"
#include "tests/filters/instruction_set.hpp"
#include "tests/filters/track_tables.hpp"

namespace lensd::test {
namespace {

unsigned long number_from(const char* variable, unsigned long otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoul(text, nullptr, 10) : otherwise;
}

/// Returns the seed of this run.
uint32_t run_seed() {
  static const auto seed = static_cast<uint32_t>(number_from("LENSD_SEED", std::random_device()()));
  return seed;
}

/// Prints the seed of this run before the first test.
class PrintSeed final : public testing::Environment {
  void SetUp() override { std::printf("random parameters: LENSD_SEED=%u\n", run_seed()); }
};
[[maybe_unused]] const testing::Environment* const kPrintSeed =
    testing::AddGlobalTestEnvironment(new PrintSeed);

struct Case {
  const FilterEntry* filter;
  Extent extent;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.filter->schema().name << ' ' << c.extent.width << 'x' << c.extent.height;
}

std::vector<Case> cases(const std::vector<Extent>& extents) {
  std::vector<Case> all;
  for (const FilterEntry& filter : registry().filters)
    for (const Extent extent : extents) all.push_back({&filter, extent});
  return all;
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  return info.param.filter->schema().name + "_" + std::to_string(info.param.extent.width) + "x" +
         std::to_string(info.param.extent.height);
}

class Parity : public testing::TestWithParam<Case> {
 protected:
  /// Returns the number of parameter sets for large pictures, on which the oracle is slow. An eighth of the
  /// filters, selected by the seed, get random parameters in addition to the defaults.
  static unsigned long large_draws(const FilterEntry& entry) {
    return (static_cast<uint32_t>(&entry - registry().filters.data()) + run_seed()) % 8 == 0 ? 2 : 1;
  }

  /// `frames` contains the inputs of each frame.
  struct Inputs {
    std::vector<ImageFormat> formats;
    std::vector<std::vector<Image>> frames;
  };
  static Inputs noise_for(const FilterEntry& entry, ImageFormat format, std::mt19937& random) {
    Inputs inputs{std::vector<ImageFormat>(static_cast<size_t>(std::max(1, entry.min_inputs)), format),
                  std::vector<std::vector<Image>>(entry.needs_tracks ? 4 : 2)};
    for (auto& frame : inputs.frames)
      for (const ImageFormat& f : inputs.formats) frame.push_back(noise(f, random));
    return inputs;
  }
  /// Calls `check(filter, formats, frames)`, which may refuse parameters that do not fit the size.
  template <class Check>
  static void run(Check& check, Filter& filter, const Inputs& inputs) {
    try {
      check(filter, inputs.formats, inputs.frames);
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ExitCode::invalid_config) << error.what();
    }
  }

  /// Calls `check(filter, formats, frames)` for every parameter set.
  template <class Check>
  void for_each_draw(Check check) {
    const auto [entry, extent] = GetParam();
    const uint32_t seed = run_seed();
    const auto draws = extent.width > 1000 ? large_draws(*entry) : number_from("LENSD_DRAWS", 3);
    for (const PixelFormat format : accepted_formats(*entry)) {
      std::mt19937 random(seed + static_cast<uint32_t>(extent.width * 7 + extent.height));
      for (unsigned long draw = 0; draw < draws; ++draw) {
        auto filter = entry->make();
        const std::string params = draw == 0 ? "defaults" : randomise(*filter, random);
        SCOPED_TRACE("seed " + std::to_string(seed) + ", " + name(format) + ", " + params);
        run(check, *filter, noise_for(*entry, {format, extent}, random));
      }
    }
  }

  /// What the oracle returns for each frame, with the filter's parameters at the first request. Filters that
  /// need tracks get synthetic ones.
  class Expectation {
   public:
    struct Frame {
      RunExtras extras;
      std::vector<uint8_t> tracks;  ///< that extras.tracks refers to
      RunOutput output;
    };
    using Inputs = std::vector<std::vector<Image>>;
    Expectation(const Filter& filter, const Inputs& inputs) : filter_(filter), inputs_(inputs) {}
    const std::vector<Image>& input(size_t index) const { return inputs_[index]; }
    size_t count() const { return inputs_.size(); }
    const Frame& frame(size_t index) {
      while (frames_.size() <= index) frames_.push_back(next_frame(frames_.size()));
      return frames_[index];
    }

   private:
    Frame next_frame(size_t index) {
      const auto extent = GetParam().extent;
      Frame frame{
          .extras = {.fields = static_cast<FieldOrder>((index + static_cast<size_t>(extent.width)) % 3)},
          .tracks = {},
          .output = {}};
      const TableBytes* table = GetParam().filter->needs_tracks ? &script_.next() : nullptr;
      if (table) frame.tracks = table->bytes, frame.extras.tracks = frame.tracks;
      oracle_.tracks = table ? table->table() : nullptr;
      oracle_.in = inputs_[index];
      oracle_.stats.clear();
      const auto number = static_cast<int64_t>(index);
      oracle_.frame = {number, number * 40'000'000, static_cast<uint32_t>(index % 2), index == 0 ? 1u : 0u,
                       frame.extras.fields};
      filter_.reference(oracle_);
      frame.output = {.image = oracle_.out, .stats = oracle_.stats, .stats_bytes = oracle_.stats_bytes};
      return frame;
    }

    const Filter& filter_;
    const Inputs& inputs_;
    TrackScript script_{GetParam().extent, 50, 5};
    ReferenceRun oracle_;
    std::vector<Frame> frames_;
  };

  /// Runs the rig over the frames; filters without state need only one frame.
  static void compare(Expectation& expected, Rig& rig) {
    for (size_t i = 0; i < (rig.has_state ? expected.count() : 1); ++i) {
      const auto& [extras, tracks, oracle] = expected.frame(i);
      const RunOutput output = rig.run(expected.input(i), extras);
      ASSERT_EQ(difference(oracle.image, output.image), "") << "frame " << i;
      ASSERT_TRUE(output.guards_untouched) << "bytes between rows were written";
      if (!oracle.stats_bytes.empty()) {
        ASSERT_EQ(oracle.stats_bytes, output.stats_bytes) << "frame " << i;
      }
      ASSERT_EQ(oracle.stats.size(), output.stats.size());
      for (size_t s = 0; s < oracle.stats.size(); ++s) {
        EXPECT_EQ(oracle.stats[s].name, output.stats[s].name);
        EXPECT_EQ(oracle.stats[s].value, output.stats[s].value) << oracle.stats[s].name;
      }
    }
  }
};

TEST(ParityHarness, TheComparisonReadsEveryByte) {
  std::mt19937 random(1);
  for (const PixelFormat format :
       {PixelFormat::gray8, PixelFormat::rgba8, PixelFormat::gray16, PixelFormat::rgba16}) {
    const Image image = noise({format, {5, 3}}, random);
    EXPECT_EQ(difference(image, image), "");
    for (size_t i = 0; i < image.pixels.size(); ++i) {
      Image other = image;
      other.pixels[i] ^= 1;
      EXPECT_NE(difference(image, other), "") << "byte " << i << " of " << image.pixels.size();
    }
  }
}

TEST_P(Parity, CpuEqualsOracle) {
  for_each_draw([&](Filter& filter, const std::vector<ImageFormat>& formats, const auto& frames) {
    Expectation expected(filter, frames);
    for (const Placement placement : {kAligned, kOdd})
      for (const int threads : {1, 2}) {
        SCOPED_TRACE(std::to_string(threads) + " threads, offset " + std::to_string(placement.offset));
        const auto rig = make_cpu_rig(filter, {.images = formats}, placement, threads);
        compare(expected, *rig);
      }
  });
}

class OlderProcessors : public Parity {};

TEST_P(OlderProcessors, EqualOracle) {
  for_each_draw([&](Filter& filter, const std::vector<ImageFormat>& formats, const auto& frames) {
    Expectation expected(filter, frames);
    for (const int64_t best : instruction_sets()) {
      SCOPED_TRACE(hwy::TargetName(best));
      const InstructionSet set(best);
      const auto rig = make_cpu_rig(filter, {.images = formats}, kOdd, 1);
      compare(expected, *rig);
    }
  });
}

TEST_P(Parity, CudaEqualsOracle) {
  if (const std::string reason = cuda_unavailable(); !reason.empty()) GTEST_SKIP() << reason;
  for_each_draw([&](Filter& filter, const std::vector<ImageFormat>& formats, const auto& frames) {
    Expectation expected(filter, frames);
    for (const Placement placement : {kAligned, kHalfAligned, kOdd}) {
      SCOPED_TRACE("offset " + std::to_string(placement.offset));
      const auto rig = make_cuda_rig(filter, {.images = formats, .backend = Backend::cuda}, placement);
      compare(expected, *rig);
    }
  });
}

class CudaGraph : public Parity {};

/// A captured graph stays valid for every value of the live parameters.
TEST_P(CudaGraph, FollowsLiveParameters) {
  if (const std::string reason = cuda_unavailable(); !reason.empty()) GTEST_SKIP() << reason;
  std::mt19937 random(7);
  for_each_draw([&](Filter& filter, const std::vector<ImageFormat>& formats, const auto& frames) {
    const auto rig = make_cuda_rig(filter, {.images = formats, .backend = Backend::cuda}, kAligned);
    if (rig->has_state) return;
    rig->capture();
    for (int i = 0; i < 50; ++i) {
      SCOPED_TRACE(randomise(filter, random, Draw::live));
      Expectation expected(filter, frames);
      compare(expected, *rig);
    }
  });
}

/// Parameters select kernels, for example by radius. Random values would leave some of them out.
class EveryValue : public Parity {
 protected:
  /// Calls `check(filter, formats, frames)` for every value of every parameter. The other parameters are at
  /// their defaults and, for every second value, again at random ones.
  template <class Check>
  void for_each_value(Check check) {
    const auto [entry, extent] = GetParam();
    std::mt19937 random(run_seed());
    for (const PixelFormat format : accepted_formats(*entry)) {
      const Inputs inputs = noise_for(*entry, {format, extent}, random);
      for (const ParamSpec& spec : entry->schema().params) {
        const std::vector<ParamValue> values = spread(spec);
        for (size_t i = 0; i < values.size(); ++i)
          for (size_t draw = 0; draw <= i % 2; ++draw) {
            const ParamValue& value = values[i];
            auto filter = entry->make();
            const std::string params = draw == 0 ? "defaults" : randomise(*filter, random);
            if (filter->set(spec.name, value)) continue;  // for example an even size
            SCOPED_TRACE("seed " + std::to_string(run_seed()) + ", " + name(format) + ", " + params + ", " +
                         spec.name + "=" + to_string(value));
            run(check, *filter, inputs);
            if (HasFatalFailure()) return;
          }
      }
    }
  }
};

TEST_P(EveryValue, CpuEqualsOracle) {
  for_each_value([&](Filter& filter, const std::vector<ImageFormat>& formats, const auto& frames) {
    const auto rig = make_cpu_rig(filter, {.images = formats}, kOdd, 2);
    Expectation expected(filter, frames);
    compare(expected, *rig);
  });
}

TEST_P(EveryValue, CudaEqualsOracle) {
  if (const std::string reason = cuda_unavailable(); !reason.empty()) GTEST_SKIP() << reason;
  for_each_value([&](Filter& filter, const std::vector<ImageFormat>& formats, const auto& frames) {
    Expectation expected(filter, frames);
    for (const Placement placement : {kAligned, kOdd}) {
      SCOPED_TRACE("offset " + std::to_string(placement.offset));
      const auto rig = make_cuda_rig(filter, {.images = formats, .backend = Backend::cuda}, placement);
      compare(expected, *rig);
    }
  });
}

/// Vectors, words and tiles end at some pixel of a row. Every width up to that of the case must work.
class EveryWidth : public Parity {
 protected:
  /// Calls `check(filter, formats, frames)` for every width, with the default parameters.
  template <class Check>
  void for_each_width(Check check) {
    const auto [entry, extent] = GetParam();
    std::mt19937 random(run_seed());
    for (const PixelFormat format : accepted_formats(*entry))
      for (int width = 1; width <= extent.width; ++width) {
        SCOPED_TRACE("seed " + std::to_string(run_seed()) + ", " + name(format) + ", width " +
                     std::to_string(width));
        auto filter = entry->make();
        run(check, *filter, noise_for(*entry, {format, {width, extent.height}}, random));
        if (HasFatalFailure()) return;
      }
  }
};

TEST_P(EveryWidth, CpuEqualsOracle) {
  for_each_width([&](Filter& filter, const std::vector<ImageFormat>& formats, const auto& frames) {
    const auto rig = make_cpu_rig(filter, {.images = formats}, kOdd, 1);
    Expectation expected(filter, frames);
    compare(expected, *rig);
  });
}

TEST_P(EveryWidth, CudaEqualsOracle) {
  if (const std::string reason = cuda_unavailable(); !reason.empty()) GTEST_SKIP() << reason;
  for_each_width([&](Filter& filter, const std::vector<ImageFormat>& formats, const auto& frames) {
    const auto rig = make_cuda_rig(filter, {.images = formats, .backend = Backend::cuda}, kOdd);
    Expectation expected(filter, frames);
    compare(expected, *rig);
  });
}

INSTANTIATE_TEST_SUITE_P(Filters, Parity,
                         testing::ValuesIn(cases(within_limit(
                             {{1, 1}, {1, 7}, {3, 3}, {17, 31}, {64, 64}, {641, 239}, {1920, 1080}}))),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Filters, OlderProcessors, testing::ValuesIn(cases({{17, 31}, {641, 119}})),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Filters, EveryValue, testing::ValuesIn(cases({{67, 45}})), case_name);
INSTANTIATE_TEST_SUITE_P(Filters, EveryWidth, testing::ValuesIn(cases({{130, 9}})), case_name);
INSTANTIATE_TEST_SUITE_P(Filters, CudaGraph, testing::ValuesIn(cases({{64, 64}})), case_name);

/// A live parameter changes only the parameter block: the plan's passes and memory fit all its values.
TEST(LiveParameters, NeedNoNewPlan) {
  std::mt19937 random(11);
  std::vector<Backend> backends{Backend::cpu};
  if (cuda_unavailable().empty()) backends.push_back(Backend::cuda);
  for (const FilterEntry& entry : registry().filters)
    for (const Backend backend : backends) {
      const PixelFormat format = accepted_formats(entry).back();
      const std::vector<ImageFormat> formats(static_cast<size_t>(std::max(1, entry.min_inputs)),
                                             {format, {321, 123}});
      const auto filter = entry.make();
      const Layout planned = filter->configure({.images = formats, .backend = backend});
      for (int draw = 0; draw < 50; ++draw) {
        SCOPED_TRACE(entry.schema().name + " " + randomise(*filter, random, Draw::live));
        const Layout now = filter->configure({.images = formats, .backend = backend});
        ASSERT_EQ(now.passes.size(), planned.passes.size());
        for (size_t i = 0; i < now.passes.size(); ++i) {
          EXPECT_STREQ(now.passes[i].name, planned.passes[i].name);
          EXPECT_EQ(now.passes[i].items, planned.passes[i].items);
        }
        EXPECT_EQ(now.output, planned.output);
        EXPECT_EQ(now.scratch_bytes, planned.scratch_bytes);
        EXPECT_EQ(now.worker_bytes, planned.worker_bytes);
        EXPECT_EQ(now.state_bytes, planned.state_bytes);
        EXPECT_EQ(now.stats_bytes, planned.stats_bytes);
      }
    }
}

TEST(Convert, AllWaysOnBothBackends) {
  std::mt19937 random(3);
  constexpr PixelFormat kAll[] = {PixelFormat::gray8, PixelFormat::rgba8, PixelFormat::gray16,
                                  PixelFormat::rgba16};
  for (const PixelFormat to : kAll)
    for (const PixelFormat from : kAll)
      for (const Extent extent : {Extent{1, 1}, {17, 31}, {641, 47}}) {
        const auto filter = registry().make_convert(to);
        const std::vector<ImageFormat> formats{{from, extent}};
        ReferenceRun oracle;
        oracle.in = {noise(formats[0], random)};
        filter->reference(oracle);
        ASSERT_EQ(oracle.out.format.format, to);
        for (const Placement placement : {kAligned, kOdd}) {
          const auto cpu = make_cpu_rig(*filter, {.images = formats}, placement, 2);
          const RunOutput output = cpu->run(oracle.in);
          ASSERT_EQ(difference(oracle.out, output.image), "");
          ASSERT_TRUE(output.guards_untouched);
          if (!cuda_unavailable().empty()) continue;
          const auto cuda = make_cuda_rig(*filter, {.images = formats, .backend = Backend::cuda}, placement);
          ASSERT_EQ(difference(oracle.out, cuda->run(oracle.in).image), "");
        }
      }
}

}  // namespace
}  // namespace lensd::test

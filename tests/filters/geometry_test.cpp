// crop, flip, rotate, resize, align_channels: properties of their definitions, for the CPU backend and the
// oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <tuple>
#include <vector>

#include "kernels/align_channels/align_math.hpp"
#include "kernels/registry.hpp"
#include "kernels/resize/resize_math.hpp"

namespace lensd {
namespace {

using Params = std::vector<std::pair<std::string, ParamValue>>;

Image noise(PixelFormat format, Extent extent, uint32_t seed = 1) {
  Image image({format, extent});
  std::mt19937 random(seed);
  for (uint8_t& byte : image.pixels) byte = static_cast<uint8_t>(random());
  return image;
}

struct Result {
  Image out;
  std::vector<Statistic> stats;
};

std::unique_ptr<Filter> make(const char* name, const Params& params) {
  auto filter = registry().find(name)->make();
  for (const auto& [key, value] : params) EXPECT_EQ(filter->set(key, value), std::nullopt);
  return filter;
}

/// Memory filled with 0xA5 and aligned to 64 bytes, as MemoryBlock aligns host memory.
struct Memory {
  explicit Memory(size_t bytes) : words(bytes / 64 + 2, Word{}) {
    std::memset(words.data(), 0xA5, words.size() * 64);
  }
  uint8_t* data() { return words.front().bytes; }
  struct alignas(64) Word {
    uint8_t bytes[64];
  };
  std::vector<Word> words;
};

/// Runs all passes, in bands of one grain each.
Result run_cpu(Filter& filter, const Image& in) {
  const ImageFormat formats[] = {in.format};
  const Layout layout = filter.configure({.images = formats, .backend = Backend::cpu});
  Result result{Image(layout.output), {}};
  Memory block(filter.block_bytes()), worker(layout.worker_bytes);
  filter.fill_block(block.data());
  std::vector<Memory> memory;
  for (const size_t bytes : layout.scratch_bytes) memory.emplace_back(bytes);
  std::vector<uint8_t*> scratch;
  for (Memory& m : memory) scratch.push_back(m.data());
  std::vector<uint64_t> stats(layout.stats_bytes / 8 + 1);
  const ConstImageRef inputs[] = {in.ref()};
  for (const PassSpec& pass : layout.passes) {
    PassArgs args;
    args.in = inputs, args.out = result.out.ref(), args.scratch = scratch;
    args.block = args.host_block = block.data(), args.stats = stats.data(), args.worker = worker.data();
    for (int y = 0; y < pass.items; y += pass.grain)
      run_pass(filter, pass, args, {y, std::min(y + pass.grain, pass.items)});
  }
  filter.read_stats(stats.data(), result.stats);
  return result;
}

/// Returns the result of the CPU backend after comparing it with the oracle's.
Result run(const char* name, const Params& params, const Image& in) {
  const auto filter = make(name, params);
  Result result = run_cpu(*filter, in);
  ReferenceRun oracle;
  oracle.in = {in};
  filter->reference(oracle);
  EXPECT_EQ(result.out.format, oracle.out.format);
  EXPECT_EQ(result.out.pixels, oracle.out.pixels) << name;
  return result;
}

TEST(Crop, TakesTheRectangle) {
  const Image in = noise(PixelFormat::rgba8, {37, 29});
  const Image out =
      run("crop", {{"x", int64_t{5}}, {"y", int64_t{7}}, {"width", int64_t{11}}, {"height", int64_t{3}}}, in)
          .out;
  ASSERT_EQ(out.format.extent, (Extent{11, 3}));
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 11; ++x)
      for (int c = 0; c < 4; ++c) EXPECT_EQ(out.at(x, y, c), in.at(x + 5, y + 7, c));
}

TEST(Crop, KeepsAtLeastAPixelOfAnyPicture) {
  const Image in = noise(PixelFormat::gray8, {8, 6});
  const Image out = run("crop", {{"x", int64_t{1000}}, {"y", int64_t{1000}}, {"width", int64_t{50}}}, in).out;
  ASSERT_EQ(out.format.extent, (Extent{1, 1}));
  EXPECT_EQ(out.at(0, 0), in.at(7, 5));
  EXPECT_EQ(run("crop", {}, in).out.pixels, in.pixels);
}

TEST(Flip, TwiceIsTheInput) {
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::rgba8})
    for (const char* mode : {"horizontal", "vertical", "both"}) {
      const Image in = noise(format, {131, 9});
      const Image once = run("flip", {{"mode", std::string(mode)}}, in).out;
      EXPECT_NE(once.pixels, in.pixels);
      EXPECT_EQ(run("flip", {{"mode", std::string(mode)}}, once).out.pixels, in.pixels);
    }
}

TEST(Flip, HorizontalSwapsLeftAndRight) {
  const Image in = noise(PixelFormat::gray8, {100, 2});
  const Image out = run("flip", {}, in).out;
  for (int x = 0; x < 100; ++x) EXPECT_EQ(out.at(x, 1), in.at(99 - x, 1));
}

TEST(Rotate, ClockwiseTakesTheLeftColumnToTheTopRow) {
  for (const Extent extent : {Extent{3, 2}, Extent{67, 50}}) {
    const Image in = noise(PixelFormat::gray8, extent);
    const Image out = run("rotate", {{"angle", int64_t{90}}}, in).out;
    ASSERT_EQ(out.format.extent, (Extent{extent.height, extent.width}));
    for (int y = 0; y < extent.height; ++y) EXPECT_EQ(out.at(extent.height - 1 - y, 0), in.at(0, y));
  }
}

TEST(Rotate, TurnsAddUp) {
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::rgba8}) {
    const Image in = noise(format, {67, 50});
    const Image quarter = run("rotate", {{"angle", int64_t{90}}}, in).out;
    EXPECT_EQ(run("rotate", {{"angle", int64_t{90}}}, quarter).out.pixels,
              run("rotate", {{"angle", int64_t{180}}}, in).out.pixels);
    EXPECT_EQ(run("rotate", {{"angle", int64_t{270}}}, quarter).out.pixels, in.pixels);
  }
}

Params sized(int width, int height, const char* method, bool align = false) {
  return {{"width", int64_t{width}},
          {"height", int64_t{height}},
          {"method", std::string(method)},
          {"align_corners", align}};
}

TEST(Resize, SizeFollowsAspectAndScale) {
  const Image in = noise(PixelFormat::gray8, {192, 108});
  EXPECT_EQ(run("resize", {{"width", int64_t{96}}}, in).out.format.extent, (Extent{96, 54}));
  EXPECT_EQ(run("resize", {{"height", int64_t{216}}}, in).out.format.extent, (Extent{384, 216}));
  EXPECT_EQ(run("resize", {{"scale", 0.25}}, in).out.format.extent, (Extent{48, 27}));
  EXPECT_EQ(run("resize", {{"scale", 0.01}}, noise(PixelFormat::gray8, {3, 3})).out.format.extent,
            (Extent{1, 1}));
}

TEST(Resize, TheLargestSideLimitsBoth) {
  const auto extent = [](const ResizeParams& params, Extent in) {
    return ResizeGeometry::make(params, in).extent();
  };
  EXPECT_EQ(extent({.scale = 16}, {3840, 2160}), (Extent{16384, 9216}));
  EXPECT_EQ(extent({.scale = 16}, {2160, 3840}), (Extent{9216, 16384}));
  EXPECT_EQ(extent({.scale = 16}, {1024, 512}), (Extent{16384, 8192}));
  EXPECT_EQ(extent({.scale = 2}, {16384, 1}), (Extent{16384, 1}));
  EXPECT_EQ(extent({.width = 4000}, {1000, 8192}), (Extent{2000, 16384}));
  EXPECT_EQ(extent({.height = 4000}, {8192, 1000}), (Extent{16384, 2000}));
  EXPECT_EQ(extent({.height = 5000}, {1, 16384}), (Extent{1, 5000}));
  EXPECT_EQ(extent({.width = 16384, .height = 5}, {10, 10}), (Extent{16384, 5}));
}

TEST(Resize, SameSizeIsTheInput) {
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::rgba8})
    for (const char* method : {"nearest", "bilinear", "bicubic", "area", "lanczos3"}) {
      const Image in = noise(format, {53, 31});
      EXPECT_EQ(run("resize", sized(53, 31, method), in).out.pixels, in.pixels) << method;
    }
}

TEST(Resize, FlatStaysFlat) {
  Image in({PixelFormat::rgba8, {41, 23}});
  std::fill(in.pixels.begin(), in.pixels.end(), uint8_t{201});
  for (const char* method : {"nearest", "bilinear", "bicubic", "area", "lanczos3"})
    for (const uint8_t value : run("resize", sized(97, 11, method), in).out.pixels)
      ASSERT_EQ(value, 201) << method;
}

TEST(Resize, AlignedCornersKeepTheCorners) {
  const Image in = noise(PixelFormat::gray8, {17, 13});
  for (const char* method : {"nearest", "bilinear", "bicubic", "lanczos3"}) {
    const Image out = run("resize", sized(50, 40, method, true), in).out;
    EXPECT_EQ(out.at(0, 0), in.at(0, 0)) << method;
    EXPECT_EQ(out.at(49, 39), in.at(16, 12)) << method;
  }
}

TEST(Resize, NearestPicksTheseSamples) {
  const struct {
    int from, to;
    bool align_corners;
    std::vector<int> samples;  ///< computed by hand; with align_corners halves are rounded up
  } cases[] = {
      {5, 9, true, {0, 1, 1, 2, 2, 3, 3, 4, 4}},
      {9, 5, true, {0, 2, 4, 6, 8}},
      {4, 3, true, {0, 2, 3}},
      {10, 4, true, {0, 3, 6, 9}},
      {6, 4, true, {0, 2, 3, 5}},
      {3, 7, true, {0, 0, 1, 1, 1, 2, 2}},
      {7, 1, true, {0}},
      {1, 3, true, {0, 0, 0}},
      {4, 6, false, {0, 0, 1, 2, 2, 3}},
      {5, 3, false, {0, 1, 3}},
      {7, 1, false, {0}},
  };
  for (const auto& c : cases) {
    const Image row = noise(PixelFormat::rgba8, {c.from, 1}), column = noise(PixelFormat::rgba8, {1, c.from});
    const Image wide = run("resize", sized(c.to, 1, "nearest", c.align_corners), row).out;
    const Image high = run("resize", sized(1, c.to, "nearest", c.align_corners), column).out;
    ASSERT_EQ(c.samples.size(), static_cast<size_t>(c.to));
    for (int i = 0; i < c.to; ++i)
      for (int channel = 0; channel < 4; ++channel) {
        const int sample = c.samples[static_cast<size_t>(i)];
        EXPECT_EQ(wide.at(i, 0, channel), row.at(sample, 0, channel))
            << c.from << " to " << c.to << ": " << i;
        EXPECT_EQ(high.at(0, i, channel), column.at(0, sample, channel))
            << c.from << " to " << c.to << ": " << i;
      }
  }
}

TEST(Resize, AreaIsTheRoundedMean) {
  const Image in = noise(PixelFormat::gray8, {60, 45});
  const Image thirds = run("resize", sized(20, 15, "area"), in).out;
  for (int y = 0; y < 15; ++y)
    for (int x = 0; x < 20; ++x) {
      int sum = 0;
      for (int i = 0; i < 9; ++i) sum += in.at(3 * x + i % 3, 3 * y + i / 3);
      EXPECT_EQ(thirds.at(x, y), (2 * sum + 9) / 18);
    }
  uint64_t sum = 0;
  for (const uint8_t v : in.pixels) sum += v;
  EXPECT_EQ(run("resize", sized(1, 1, "area"), in).out.at(0, 0),
            (2 * sum + in.pixels.size()) / (2 * in.pixels.size()));
}

TEST(Resize, HalfByBilinearIsTheMeanOfFour) {
  const Image in = noise(PixelFormat::rgba8, {150, 20});
  const Image out = run("resize", sized(75, 10, "bilinear"), in).out;
  EXPECT_EQ(out.pixels, run("resize", sized(75, 10, "area"), in).out.pixels);
  for (int c = 0; c < 4; ++c)
    EXPECT_EQ(out.at(74, 9, c),
              (in.at(148, 18, c) + in.at(149, 18, c) + in.at(148, 19, c) + in.at(149, 19, c) + 2) / 4);
}

double sinc(double x) {
  const double angle = x * 3.14159265358979323846;
  return x == 0 ? 1 : std::sin(angle) / angle;
}

/// Returns the normalised weights of a method's kernel in double precision. `t`: fraction of the position.
std::vector<double> weights(const std::string& method, double t) {
  std::vector<double> w;
  const int taps = method == "bilinear" ? 2 : method == "bicubic" ? 4 : 6;
  double sum = 0;
  for (int k = 0; k < taps; ++k) {
    const double x = std::abs(t - (k - (taps / 2 - 1)));
    const double cubic = x <= 1 ? (1.25 * x - 2.25) * x * x + 1 : -0.75 * (((x - 5) * x + 8) * x - 4);
    w.push_back(taps == 2 ? 1 - x : taps == 4 ? cubic : sinc(x) * sinc(x / 3));
    sum += w.back();
  }
  for (double& v : w) v /= sum;
  return w;
}

TEST(Resize, WithinOneOfDoublePrecision) {
  const Image in = noise(PixelFormat::gray8, {37, 29}, 5);
  for (const std::string method : {"bilinear", "bicubic", "lanczos3"})
    for (const Extent to : {Extent{83, 64}, Extent{20, 31}}) {
      const Image out = run("resize", sized(to.width, to.height, method.c_str()), in).out;
      for (int y = 0; y < to.height; ++y)
        for (int x = 0; x < to.width; ++x) {
          const double px = (x + 0.5) * 37 / to.width - 0.5, py = (y + 0.5) * 29 / to.height - 0.5;
          const int ix = static_cast<int>(std::floor(px)), iy = static_cast<int>(std::floor(py));
          const auto wx = weights(method, px - ix), wy = weights(method, py - iy);
          const int before = static_cast<int>(wx.size()) / 2 - 1;
          double sum = 0;
          for (int j = 0; j < static_cast<int>(wy.size()); ++j)
            for (int k = 0; k < static_cast<int>(wx.size()); ++k)
              sum += wx[static_cast<size_t>(k)] * wy[static_cast<size_t>(j)] *
                     in.at(std::clamp(ix - before + k, 0, 36), std::clamp(iy - before + j, 0, 28));
          ASSERT_NEAR(out.at(x, y), std::clamp(sum, 0.0, 255.0), 0.6) << method << " " << x << "," << y;
        }
    }
}

TEST(Resize, WeightsSumToOne) {
  for (const ResizeMethod method : {ResizeMethod::bilinear, ResizeMethod::bicubic, ResizeMethod::lanczos3})
    for (int i = 0; i < 1000; ++i) {
      const ResizeTaps taps = resize_taps({.n = 16384, .m = 1000}, method, i);
      int sum = 0;
      for (const int w : taps.weight) sum += w;
      ASSERT_EQ(sum, kResizeOne);
    }
}

/// Returns smooth noise that is the same in all colours, except that red is shifted by (rx, ry), and blue is
/// shifted by (bx, by) and has less contrast.
Image displaced(Extent extent, int rx, int ry, int bx, int by) {
  const Extent coarse{extent.width / 3 + 40, extent.height / 3 + 40};
  const Image texture = run("resize", sized(extent.width + 80, extent.height + 80, "bicubic"),
                            noise(PixelFormat::gray8, coarse, 9))
                            .out;
  Image image({PixelFormat::rgba8, extent});
  for (int y = 0; y < extent.height; ++y)
    for (int x = 0; x < extent.width; ++x) {
      image.at(x, y, 0) = texture.at(x + 40 - rx, y + 40 - ry);
      image.at(x, y, 1) = texture.at(x + 40, y + 40);
      image.at(x, y, 2) = static_cast<uint8_t>(255 - (255 - texture.at(x + 40 - bx, y + 40 - by)) * 3 / 4);
      image.at(x, y, 3) = static_cast<uint8_t>(x + y);
    }
  return image;
}

/// Returns red_x, red_y, blue_x and blue_y.
std::vector<double> shifts_of(const Result& result) {
  std::vector<double> shifts;
  for (const Statistic& s : result.stats) shifts.push_back(s.value);
  return shifts;
}

TEST(AlignChannels, FindsAndRemovesSyntheticShifts) {
  std::mt19937 random(4);
  const auto shift = [&] { return static_cast<int>(random() % 31) - 15; };
  for (int i = 0; i < 40; ++i) {
    const int rx = shift(), ry = shift(), bx = shift(), by = shift();
    const Image in = displaced({240, 160}, rx, ry, bx, by);
    const Result result =
        run("align_channels", {{"levels", int64_t{1} + i % 5}, {"max_shift", int64_t{15}}}, in);
    EXPECT_EQ(shifts_of(result), (std::vector<double>{1.0 * rx, 1.0 * ry, 1.0 * bx, 1.0 * by}));
    for (int y = 15; y < 145; ++y)
      for (int x = 15; x < 225; ++x) {
        ASSERT_EQ(result.out.at(x, y, 0), in.at(x, y, 1));
        ASSERT_EQ(result.out.at(x, y, 3), in.at(x, y, 3));
      }
  }
}

TEST(AlignChannels, FindsShiftsOfNarrowRangesOf16Bits) {
  // Ranges: within one high byte, 10 bits, all 16 bits, a narrow one beside a defective white pixel.
  const Image shown = displaced({240, 160}, 7, -4, -11, 3);
  for (const auto& [base, numerator, denominator, defect] :
       {std::tuple{6920, 1, 2, false}, {0, 4, 1, false}, {0, 257, 1, false}, {6920, 1, 3, true}}) {
    Image in({PixelFormat::rgba16, shown.format.extent});
    for (int y = 0; y < in.height(); ++y)
      for (int x = 0; x < in.width(); ++x)
        for (int c = 0; c < 4; ++c)
          in.set_sample(x, y, c, base + shown.at(x, y, c) * numerator / denominator);
    for (int c = 0; c < 3 && defect; ++c) in.set_sample(0, 0, c, 65535);
    EXPECT_EQ(shifts_of(run("align_channels", {}, in)), (std::vector<double>{7, -4, -11, 3}))
        << base << ' ' << numerator << ' ' << defect;
  }
}

TEST(AlignChannels, LeavesFlatAndTinyPictures) {
  for (const PixelFormat format : {PixelFormat::rgba8, PixelFormat::rgba16}) {
    Image flat({format, {64, 48}});
    std::fill(flat.pixels.begin(), flat.pixels.end(), uint8_t{77});
    EXPECT_EQ(run("align_channels", {}, flat).out.pixels, flat.pixels);
  }
  const Image pixel = noise(PixelFormat::rgba8, {1, 1});
  EXPECT_EQ(run("align_channels", {}, pixel).out.pixels, pixel.pixels);
}

TEST(AlignScore, IsTheSquareOfTheCorrelationWithItsSign) {
  using Values = std::vector<int64_t>;
  const auto score = [](const Values& green, const Values& shifted) {
    AlignGreen g{};
    AlignSums c{};
    for (size_t i = 0; i < green.size(); ++i) {
      g.value += green[i], g.square += green[i] * green[i];
      c.value += shifted[i], c.square += shifted[i] * shifted[i], c.product += green[i] * shifted[i];
    }
    const double result = align_score(green.size(), g, c);
    EXPECT_DOUBLE_EQ(align_deep_score(green.size(), g, c), result);
    return result;
  };
  EXPECT_DOUBLE_EQ(score({1, 2, 3, 4}, {1, 2, 3, 4}), 1);
  EXPECT_DOUBLE_EQ(score({1, 2, 3, 4}, {9, 7, 5, 3}), -1);
  EXPECT_DOUBLE_EQ(score({1, 2, 3, 4}, {10, 30, 20, 40}), 0.64);
  EXPECT_DOUBLE_EQ(score({1, 2, 1, 2}, {1, 1, 2, 2}), 0);
  EXPECT_EQ(score({5, 5, 5}, {1, 2, 3}), -2) << "a flat window";
  EXPECT_EQ(score({1, 2, 3}, {5, 5, 5}), -2);
  constexpr int64_t kCount = 33'177'607, kValue = 32767;
  const AlignGreen green{kCount * kValue, kCount * kValue * kValue};
  const AlignSums flat{green.value, green.square, green.square};
  EXPECT_EQ(align_deep_score(kCount, green, flat), -2);
  EXPECT_NE(align_score(kCount, green, flat), -2) << "the test checks nothing";
}

}  // namespace
}  // namespace lensd

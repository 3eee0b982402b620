// stabilize with synthetic tracks of a known camera motion: it finds the motion, reduces the shake and
// follows pans. LENSD_SEED sets the seed. Compares the oracle, the CPU and, with a device, CUDA.
#include "kernels/stabilize/stabilize.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "kernels/registry.hpp"
#include "tests/filters/harness.hpp"
#include "tests/filters/shaken_clip.hpp"

namespace lensd::test {
namespace {

using Params = std::vector<std::pair<std::string, ParamValue>>;

/// Runs the filter on the CPU and, with a device, on CUDA. Compares both outputs of every frame.
class Steady {
 public:
  Steady(const Params& params, ImageFormat format, int threads = 2)
      : cpu_filter_(make(params)), cuda_filter_(make(params)), format_(format) {
    cpu_ = make_cpu_rig(*cpu_filter_, {.images = {&format_, 1}}, kOdd, threads);
    if (cuda_unavailable().empty())
      cuda_ = make_cuda_rig(*cuda_filter_, {.images = {&format_, 1}, .backend = Backend::cuda}, kOdd);
  }

  RunOutput frame(const Image& in, const TableBytes& tracks, bool again = false, bool cut = false) {
    const RunExtras extras{.tracks = tracks.bytes, .again = again, .cut = cut};
    RunOutput output = cpu_->run({in}, extras);
    EXPECT_TRUE(output.guards_untouched);
    if (cuda_) {
      const RunOutput other = cuda_->run({in}, extras);
      EXPECT_EQ(difference(output.image, other.image), "");
      EXPECT_EQ(output.stats_bytes, other.stats_bytes);
    }
    std::memcpy(&stats, output.stats_bytes.data(), sizeof(stats));
    return output;
  }
  StabilizeStats stats{};
  Filter& filter() { return *cpu_filter_; }

 private:
  static std::unique_ptr<Filter> make(const Params& params) {
    auto filter = registry().find("stabilize")->make();
    for (const auto& [name, value] : params) EXPECT_EQ(filter->set(name, value), std::nullopt);
    return filter;
  }
  std::unique_ptr<Filter> cpu_filter_, cuda_filter_;
  ImageFormat format_;
  std::unique_ptr<Rig> cpu_, cuda_;
};

Params model(const char* name) {
  return {{"model", std::string(name)}};
}

/// Sum of the squared distances of a few points of the scene from their mean positions in the picture.
class Energy {
 public:
  explicit Energy(Extent e) {
    for (const double x : {-0.4, 0.0, 0.4})
      for (const double y : {-0.4, 0.4}) points_.push_back({x * e.width, y * e.height});
    sum_.resize(points_.size()), squares_.resize(points_.size());
  }
  /// Adds a frame. `view` maps points of the scene, as seen by the ideal camera, to the picture.
  void add(const Motion& view) {
    for (size_t i = 0; i < points_.size(); ++i) {
      const Point p = moved(view, points_[i]);
      sum_[i].x += p.x, sum_[i].y += p.y;
      squares_[i] += p.x * p.x + p.y * p.y;
    }
    ++frames_;
  }
  double value() const {
    double energy = 0;
    for (size_t i = 0; i < points_.size(); ++i)
      energy += squares_[i] - (sum_[i].x * sum_[i].x + sum_[i].y * sum_[i].y) / frames_;
    return energy;
  }

 private:
  std::vector<Point> points_, sum_;
  std::vector<double> squares_;
  int frames_ = 0;
};

struct Outcome {
  double left = 0;                         ///< remaining share of the shake's energy
  double off_pixels = 0, off_degrees = 0;  ///< largest errors of the estimated motion
  double share = 1;                        ///< least share of inliers
};

/// Stabilises a clip. A pan starts at full speed. The filter learns the speed in the first frames, so the
/// energies of clips with a pan exclude frames 0 to 120.
Outcome stabilised(const Params& params, const Shake& shake, Extent extent = {640, 480}, int frames = 300) {
  const ImageFormat format{PixelFormat::gray8, extent};
  const Image in(format);
  ShakenClip clip(extent, 800, shake);
  Steady steady(params, format);
  Energy before(extent), after(extent);
  Outcome run;
  for (int i = 0; i < frames; ++i) {
    const RunOutput output = steady.frame(in, clip.next());
    const StabilizeStats& s = steady.stats;
    if (shake.pan == 0 || i > 120) {
      before.add(composed(clip.pose(), inverse(clip.ideal())));
      after.add(composed(composed(inverse(s.correction), clip.pose()), inverse(clip.ideal())));
    }
    if (i == 0) continue;
    const Motion truth = clip.motion();
    run.off_pixels = std::max(run.off_pixels, std::hypot(s.motion.x0 - truth.x0, s.motion.y0 - truth.y0));
    const double turn = std::atan2(truth.yx - truth.xy, truth.xx + truth.yy) * 57.29577951308232;
    for (const Statistic& value : output.stats)
      if (value.name == "angle") run.off_degrees = std::max(run.off_degrees, std::abs(value.value - turn));
    run.share = std::min(run.share, static_cast<double>(s.inliers) / s.pairs);
  }
  run.left = after.value() / before.value();
  return run;
}

struct ModelCase {
  const char* model;
  Shake shake;
};

class EachModel : public testing::TestWithParam<ModelCase> {};

TEST_P(EachModel, FindsTheMotionAndReducesTheShake) {
  const auto [name, shake] = GetParam();
  SCOPED_TRACE("seed " + std::to_string(seed()));
  Params params = model(name);
  const Outcome standard = stabilised(params, shake);
  params.emplace_back("crop_zoom", 1.0);
  const Outcome run = stabilised(params, shake);
  std::printf(
      "%s: %.1f %% of the shake left (%.1f %% with crop_zoom), motion off by %.3f px, %.4f degrees at most\n",
      name, 100 * run.left, 100 * standard.left, run.off_pixels, run.off_degrees);
  EXPECT_LT(run.left, 0.1);
  EXPECT_LT(standard.left, 0.1);
  EXPECT_LT(run.off_pixels, 0.05);
  EXPECT_LT(run.off_degrees, 0.01);
  EXPECT_GT(run.share, 0.55);
}

INSTANTIATE_TEST_SUITE_P(
    Stabilize, EachModel,
    testing::Values(ModelCase{"translation", {.degrees = 0}}, ModelCase{"similarity", {}},
                    ModelCase{"similarity", {.zoom = 0.01, .pan = 1}}, ModelCase{"affine", {}},
                    ModelCase{"affine", {.zoom = 0.01, .shear = 0.01}}),
    [](const auto& test) { return std::string(test.param.model) + std::to_string(test.index); });

TEST(Stabilize, FollowsAPanWithoutLag) {
  const ImageFormat format{PixelFormat::gray8, {320, 240}};
  const Image in(format);
  ShakenClip clip(format.extent, 200, {.shift = 0, .degrees = 0, .pan = 2}, 0.05);
  Steady steady({{"crop_zoom", 1.0}}, format);
  double farthest = 0;
  for (int i = 0; i < 300; ++i) {
    steady.frame(in, clip.next());
    farthest = std::max(farthest, std::abs(steady.stats.correction.x0));
  }
  EXPECT_LT(farthest, 40) << "while it learns the speed";
  EXPECT_LT(std::abs(steady.stats.correction.x0), 1);
  EXPECT_NEAR(steady.stats.path_x, 2 * 299, 6);
}

TEST(Stabilize, PicturesRestToo) {
  // A smooth scene, sampled by the shaking camera.
  const ImageFormat format{PixelFormat::rgba8, {320, 240}};
  ShakenClip clip(format.extent, 300, {.shift = 6, .degrees = 1});
  Steady steady({{"crop_zoom", 1.2}}, format);
  const auto seen = [&](const Motion& pose) {
    Image image(format);
    const Motion back = inverse(pose);
    for (int y = 0; y < 240; ++y)
      for (int x = 0; x < 320; ++x) {
        const Point p = moved(back, {x - 159.5, y - 119.5});
        const double wave =
            std::sin(p.x * 0.11) * std::cos(p.y * 0.13) + 0.5 * std::sin(0.05 * (p.x + 2 * p.y));
        for (int c = 0; c < 3; ++c) image.at(x, y, c) = static_cast<uint8_t>(128 + (80 - 20 * c) * wave);
        image.at(x, y, 3) = 255;
      }
    return image;
  };
  const auto apart = [](const Image& a, const Image& b) {
    double sum = 0;
    for (size_t i = 0; i < a.pixels.size(); ++i) sum += std::pow(a.pixels[i] - b.pixels[i], 2);
    return sum;
  };
  double before = 0, after = 0;
  Image last_in, last_out;
  for (int i = 0; i < 60; ++i) {
    const TableBytes& tracks = clip.next();
    const Image in = seen(clip.pose());
    const Image out = steady.frame(in, tracks).image;
    ASSERT_EQ(out.at(5, 5, 3), 255);
    if (i > 30) before += apart(in, last_in), after += apart(out, last_out);
    last_in = in, last_out = out;
  }
  EXPECT_LT(after, 0.1 * before) << "differences between neighbouring frames";
}

TEST(Stabilize, WithoutEnoughTracksThePictureStaysStill) {
  const ImageFormat format{PixelFormat::rgba8, {64, 48}};
  std::mt19937 random(seed());
  const Image in = noise(format, random);
  for (const char* name : {"translation", "similarity", "affine"}) {
    Params params = model(name);
    params.emplace_back("crop_zoom", 1.0);
    Steady steady(params, format);
    steady.frame(in, TableBytes(0));
    EXPECT_EQ(difference(in, steady.frame(in, TableBytes(10)).image), "");
    TableBytes few(10);
    for (int i = 0; i < 2; ++i)
      few.table()->tracks()[3 * i] = {.id = 1,
                                      .status = TrackStatus::tracked,
                                      .x = 30.f + 9 * i,
                                      .y = 20,
                                      .previous_x = 20.f + 9 * i,
                                      .previous_y = 20};
    few.table()->picture = format.extent;
    EXPECT_EQ(difference(in, steady.frame(in, few).image), "") << name << " from two tracks";
    EXPECT_EQ(steady.stats.inliers, name[0] == 't' ? 0u : steady.stats.inliers);
  }
}

TEST(Stabilize, TracksWithoutCommonMotionAreIgnored) {
  const ImageFormat format{PixelFormat::gray8, {320, 240}};
  const Image in(format);
  Steady steady({{"crop_zoom", 1.0}, {"threshold", 0.5}}, format);
  TrackScript script(format.extent, 300, seed());
  for (int i = 0; i < 5; ++i) {
    steady.frame(in, script.next([&](TrackScript::Point p) -> TrackScript::Point {
      // All points move to random places.
      return {std::fmod(p.x * 7919, 319.f), std::fmod(p.y * 104729, 239.f)};
    }));
    EXPECT_EQ(steady.stats.motion.x0, 0);
    EXPECT_EQ(steady.stats.motion.xx, 1);
  }
}

/// Two thirds of the tracks are on an object that covers a fifth of the picture and moves by 0.4 to 12 pixels
/// per frame.
TEST(Stabilize, AMovingObjectDoesNotMoveThePicture) {
  const ImageFormat format{PixelFormat::gray8, {640, 480}};
  const Image in(format);
  for (const double speed : {0.4, 1.0, 3.0, 12.0})
    for (const double shake : {0.0, 3.0}) {
      std::mt19937 random(seed());
      const auto around = [&](double middle, double reach) {
        return std::uniform_real_distribution<double>(middle - reach, middle + reach)(random);
      };
      const double shift = around(0, shake);
      TableBytes tracks(600);
      tracks.table()->picture = format.extent;
      for (uint32_t i = 0; i < 600; ++i) {
        const bool thing = i % 3 != 0;
        const double x = thing ? around(300, 150) : around(320, 319),
                     y = thing ? around(200, 100) : around(240, 239);
        tracks.table()->tracks()[i] = {
            .id = i + 1,
            .status = TrackStatus::tracked,
            .x = static_cast<float>(x + shift + (thing ? speed : 0) + around(0, 0.1)),
            .y = static_cast<float>(y + around(0, 0.1)),
            .previous_x = static_cast<float>(x),
            .previous_y = static_cast<float>(y)};
      }
      Steady steady({}, format);
      steady.frame(in, tracks);
      EXPECT_NEAR(steady.stats.motion.x0, shift, 0.05)
          << "a thing at " << speed << " px a frame, shake " << shake;
      EXPECT_NEAR(steady.stats.motion.y0, 0, 0.05);
    }
}

TEST(Stabilize, HidesTheBorder) {
  const ImageFormat format{PixelFormat::gray8, {160, 120}};
  Image in(format);
  for (uint8_t& v : in.pixels) v = 255;
  for (const bool keeps : {true, false}) {
    ShakenClip clip(format.extent, 300, {.shift = 9, .degrees = 2});
    Steady steady({{"crop_zoom", 1.1}, {"keep_inside", keeps}, {"border", std::string("constant")}}, format);
    size_t dark = 0;
    for (int i = 0; i < 60; ++i)
      for (const uint8_t v : steady.frame(in, clip.next()).image.pixels) dark += v < 250;
    EXPECT_EQ(dark == 0, keeps) << dark << " dark pixels";
  }
}

TEST(Stabilize, CutAndRepeat) {
  const ImageFormat format{PixelFormat::gray8, {320, 240}};
  std::mt19937 random(seed());
  const Image in = noise(format, random);
  ShakenClip clip(format.extent, 300, {});
  Steady steady({}, format);
  for (int i = 0; i < 5; ++i) steady.frame(in, clip.next());
  const TableBytes& tracks = clip.next();
  const RunOutput once = steady.frame(in, tracks), twice = steady.frame(in, tracks, true);
  EXPECT_EQ(difference(once.image, twice.image), "");
  EXPECT_EQ(once.stats_bytes, twice.stats_bytes);
  EXPECT_NE(steady.stats.correction.x0, 0);
  steady.frame(in, clip.next(), false, true);
  EXPECT_EQ(steady.stats.correction.x0, 0);
  EXPECT_EQ(steady.stats.path_x, 0);
}

/// Identical bytes from the oracle, one and two threads and CUDA, for tracks with a common motion.
TEST(Stabilize, AllBackendsAndThreadCountsAgree) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  std::mt19937 random(seed());
  for (const Extent extent :
       within_limit({{1, 1}, {1, 7}, {3, 3}, {17, 31}, {64, 64}, {641, 479}, {1920, 1080}}))
    for (const PixelFormat pixels : {PixelFormat::gray8, PixelFormat::rgba8})
      for (const char* name : {"translation", "similarity", "affine"}) {
        const ImageFormat format{pixels, extent};
        Params params = model(name);
        params.emplace_back("border",
                            registry().find("stabilize")->schema().find("border")->choices[random() % 5]);
        params.emplace_back("crop_zoom", random() % 2 == 0 ? 1.0 : 1.05);
        ShakenClip clip(extent, 150, {.shift = 4, .degrees = 2, .zoom = 0.01});
        Steady one(params, format, 1), two(params, format, 2);
        ReferenceRun oracle;
        for (int i = 0; i < (extent.width > 1000 ? 2 : 4); ++i) {
          const TableBytes& tracks = clip.next();
          oracle.in = {noise(format, random)}, oracle.tracks = tracks.table();
          one.filter().reference(oracle);
          const RunOutput a = one.frame(oracle.in[0], tracks), b = two.frame(oracle.in[0], tracks);
          ASSERT_EQ(difference(oracle.out, a.image), "") << extent.width << ' ' << name << ' ' << i;
          ASSERT_EQ(difference(oracle.out, b.image), "") << extent.width << ' ' << name << ' ' << i;
          ASSERT_EQ(oracle.stats_bytes, a.stats_bytes);
          ASSERT_EQ(oracle.stats_bytes, b.stats_bytes);
        }
        EXPECT_TRUE(extent.width < 600 || name[0] == 't' || one.stats.inliers > 60) << name;
      }
}

TEST(Stabilize, LargestTable) {
  const ImageFormat format{PixelFormat::gray8, {640, 480}};
  const Image in(format);
  ShakenClip clip(format.extent, kMaxTracks, {});
  Steady steady({}, format);
  for (int i = 0; i < 3; ++i) steady.frame(in, clip.next());
  EXPECT_GT(steady.stats.pairs, 10000u);
  EXPECT_NEAR(steady.stats.motion.x0, clip.motion().x0, 0.01);
}

TEST(StabilizeMath, PlausibleMotionsHaveLimits) {
  const auto plausible = [](double Motion::*entry, double value) {
    Motion motion;
    motion.*entry = value;
    return is_plausible(motion);
  };
  EXPECT_TRUE(is_plausible(Motion{}));
  for (const double sign : {-1.0, 1.0}) {
    for (double Motion::*shift : {&Motion::x0, &Motion::y0}) {
      EXPECT_TRUE(plausible(shift, sign * 32767.9));
      EXPECT_FALSE(plausible(shift, sign * 32768));
    }
    for (double Motion::*shear : {&Motion::xy, &Motion::yx}) {
      EXPECT_TRUE(plausible(shear, sign * 0.999));
      EXPECT_FALSE(plausible(shear, sign));
    }
  }
  for (double Motion::*zoom : {&Motion::xx, &Motion::yy}) {
    for (const double value : {0.26, 3.99}) EXPECT_TRUE(plausible(zoom, value)) << value;
    for (const double value : {0.25, 4.0, -1.0}) EXPECT_FALSE(plausible(zoom, value)) << value;
  }
  for (double Motion::*entry : {&Motion::xx, &Motion::xy, &Motion::x0, &Motion::yx, &Motion::yy, &Motion::y0})
    EXPECT_FALSE(plausible(entry, std::nan("")));
  EXPECT_FALSE(is_plausible({.xx = -1, .yy = -1})) << "a half turn";
}

TEST(StabilizeMath, SamplesAreInterpolatedAndHalvesRoundUp) {
  EXPECT_EQ(lensd::bilinear(10, 20, 30, 40, 0, 0), 10u);
  EXPECT_EQ(lensd::bilinear(10, 20, 30, 40, 128, 0), 15u);
  EXPECT_EQ(lensd::bilinear(10, 20, 30, 40, 0, 128), 20u);
  EXPECT_EQ(lensd::bilinear(10, 20, 30, 40, 128, 128), 25u);
  EXPECT_EQ(lensd::bilinear(10, 20, 30, 40, 64, 0), 13u) << "12.5";
  EXPECT_EQ(lensd::bilinear(0, 1, 0, 1, 127, 0), 0u);
  EXPECT_EQ(lensd::bilinear(0, 1, 0, 1, 128, 0), 1u);
  EXPECT_EQ(lensd::bilinear(65535, 65535, 65535, 65535, 255, 255), 65535u);
}

}  // namespace
}  // namespace lensd::test

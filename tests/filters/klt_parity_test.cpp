// klt: both backends against the oracle, byte for byte, for sequences with a cut and with repeated frames.
#include <cstring>
#include <memory>

#include "kernels/klt/klt.hpp"
#include "tests/filters/harness.hpp"
#include "tests/filters/klt_tables.hpp"
#include "tests/filters/motions.hpp"
#include "tests/filters/pictures.hpp"

namespace lensd::test {

using namespace bench;  // pictures that move

namespace {

struct ParityCase {
  std::string name;
  Extent extent;
  Settings settings;
  PixelFormat format = PixelFormat::gray8;
  bool from_picture = false;
};

std::vector<ParityCase> parity_cases() {
  const Settings few{{"max_features", int64_t{120}}, {"redetect_below", 0.95}};
  const auto with = [&few](Settings more) {
    more.insert(more.begin(), few.begin(), few.end());
    return more;
  };
  return {
      {"defaults", {320, 200}, {}},
      {"few", {320, 200}, few},
      {"rgba", {161, 121}, few, PixelFormat::rgba8},
      {"picture", {162, 122}, few, PixelFormat::rgba8, true},
      {"gain_bias", {161, 121}, with({{"gain_bias", true}})},
      {"affine_check", {161, 121}, with({{"affine_check", true}})},
      {"both", {161, 121}, with({{"affine_check", true}, {"gain_bias", true}, {"window", int64_t{13}}})},
      {"smallest_window", {161, 121}, with({{"window", int64_t{5}}, {"levels", int64_t{4}}})},
      {"window_11", {161, 121}, with({{"window", int64_t{11}}, {"fb_threshold", 0.0}})},
      {"largest_window",
       {161, 121},
       with({{"window", int64_t{31}}, {"levels", int64_t{2}}, {"affine_check", true}})},
      {"no_levels", {97, 61}, with({{"levels", int64_t{0}}, {"iterations", int64_t{100}}, {"epsilon", 0.0}})},
      {"most_levels",
       {403, 371},
       with({{"levels", int64_t{6}}, {"window", int64_t{5}}, {"gain_bias", true}})},
      {"crowds", {161, 121}, with({{"min_distance", 20.0}})},
      {"everything_kept",
       {161, 121},
       with({{"min_eigen", 0.0}, {"quality", 0.0}, {"min_distance", 0.0}, {"fb_threshold", 100.0}})},
      {"small", {16, 16}, few},
      {"tiny", {3, 3}, few},
      {"gray16", {161, 121}, few, PixelFormat::gray16},
      {"rgba16", {162, 122}, few, PixelFormat::rgba16},
      {"rgba16_from_picture", {162, 122}, few, PixelFormat::rgba16, true},
      {"gray16_gain_bias_and_affine_check",
       {161, 121},
       with({{"affine_check", true}, {"gain_bias", true}, {"window", int64_t{11}}}),
       PixelFormat::gray16},
      {"gray16_largest_window",
       {163, 121},
       with({{"window", int64_t{31}}, {"levels", int64_t{2}}, {"affine_check", true}, {"block", int64_t{7}}}),
       PixelFormat::gray16},
      {"gray16_most_levels",
       {403, 371},
       with({{"levels", int64_t{6}}, {"window", int64_t{5}}, {"block", int64_t{5}}}),
       PixelFormat::gray16},
      {"gray16_tiny", {3, 3}, few, PixelFormat::gray16}};
}

class KltParity : public testing::TestWithParam<ParityCase> {
 protected:
  struct Frame {
    Image image;
    std::shared_ptr<HostPicture> picture;
    bool again = false, cut = false;
  };
  /// Returns a sequence with motion, noise, falling brightness, an occlusion, a cut and repeated frames.
  std::vector<Frame> frames() const {
    const ParityCase& p = GetParam();
    std::vector<Frame> all;
    const Motion motion{.name = "", .x = 2.7, .y = -1.6, .degrees = 0.8, .zoom = 1.01};
    for (unsigned i = 0; i < 7; ++i) {
      const bool deep = sample_bytes(p.format) == 2 && !p.from_picture;
      Image gray = textured(p.extent, times(motion, i),
                            {.noise = 2,
                             .gain = 1 - 0.05 * i,
                             .seed = i + 1,
                             .format = deep ? PixelFormat::gray16 : PixelFormat::gray8});
      for (int y = 0; y < gray.height() / 3; ++y)
        for (int x = 0; x < gray.width() / 2; ++x)
          if (i == 3) gray.set_sample(x, y, 0, x * y % 256 * (deep ? 256 : 1) + (deep ? x % 256 : 0));
      Frame frame{gray, nullptr};
      frame.again = false, frame.cut = i == 5;
      if (p.from_picture) {
        PictureInfo info;
        info.extent = p.extent;
        info.format = {ColourModel::yuv,
                       8,
                       1,
                       1,
                       false,
                       2,
                       {ComponentLayout{0, 1, 0, 0}, {1, 2, 0, 0}, {1, 2, 1, 0}, {}}};
        std::mt19937 random(5);
        frame.picture = std::make_shared<HostPicture>(random_picture(info, random, 3, i % 2 == 1));
        for (int y = 0; y < gray.height(); ++y)
          std::memcpy(
              const_cast<uint8_t*>(frame.picture->ref.planes[0]) + y * frame.picture->ref.pitch_bytes[0],
              gray.ref().row(y), gray.format.row_bytes());
      }
      if (!is_gray(p.format)) {
        frame.image = Image({p.format, p.extent});
        const int values = max_sample(p.format) + 1;
        for (int y = 0; y < gray.height(); ++y)
          for (int x = 0; x < gray.width(); ++x)
            for (int c = 0; c < 4; ++c)
              frame.image.set_sample(x, y, c, (gray.sample(x, y) + 3 * c * (x % 5)) % values);
      }
      all.push_back(frame);
      if (i == 2 || i == 5) all.push_back(frame), all.back().again = true, all.back().cut = false;
    }
    return all;
  }

  void compare(Backend backend, int threads, Placement placement) {
    const ParityCase& p = GetParam();
    const ImageFormat format{p.format, p.extent};
    const std::vector<Frame> sequence = frames();
    Klt klt;
    set_all(klt, p.settings);
    const FilterInputs inputs{.images = {&format, 1},
                              .picture = p.from_picture ? &sequence[0].picture->ref.info : nullptr,
                              .backend = backend};
    const auto rig = backend == Backend::cpu ? make_cpu_rig(klt, inputs, placement, threads)
                                             : make_cuda_rig(klt, inputs, placement);
    ReferenceRun oracle;
    StateIndex state;
    int64_t index = -1;
    uint32_t followed = 0;
    for (size_t i = 0; i < sequence.size(); ++i) {
      SCOPED_TRACE("frame " + std::to_string(i));
      const Frame& frame = sequence[i];
      if (frame.cut) state.reset_next();
      state.advance(frame.again);
      index += frame.again ? 0 : 1;
      const PictureRef* picture = p.from_picture ? &frame.picture->ref : nullptr;
      oracle.in = {frame.image};
      oracle.picture = picture;
      oracle.frame = {index, index * 40'000'000, state.index(), state.reset()};
      klt.reference(oracle);
      const RunOutput output =
          rig->run({frame.image}, RunExtras{.picture = picture, .again = frame.again, .cut = frame.cut});
      ASSERT_EQ(difference(oracle.out, output.image), "");
      const Table expected{oracle.stats_bytes};
      Table actual{output.stats_bytes};
      ASSERT_GE(actual.bytes.size(), expected.bytes.size());
      actual.bytes.resize(expected.bytes.size());  // the rig's allocation is larger than the table
      for (uint32_t slot = 0; slot < expected.header().capacity; ++slot) {
        const Track &e = expected.header().tracks()[slot], &a = actual.header().tracks()[slot];
        ASSERT_EQ(std::memcmp(&e, &a, sizeof(Track)), 0)
            << "slot " << slot << ": expected " << e.id << ' ' << name(e.status) << ' ' << e.x << ' ' << e.y
            << ' ' << e.residual << ' ' << e.return_error << ", got " << a.id << ' ' << name(a.status) << ' '
            << a.x << ' ' << a.y << ' ' << a.residual << ' ' << a.return_error;
      }
      ASSERT_TRUE(expected.bytes == actual.bytes) << "headers differ";
      followed += expected.count(TrackStatus::tracked);
    }
    if (p.extent.width > 16) {
      EXPECT_GT(followed, 50u) << "nothing to compare";
    }
  }
};

TEST_P(KltParity, CpuEqualsOracle) {
  compare(Backend::cpu, 1, kOdd);
  compare(Backend::cpu, 2, kAligned);
}

TEST_P(KltParity, CudaEqualsOracle) {
  if (const std::string reason = cuda_unavailable(); !reason.empty()) GTEST_SKIP() << reason;
  for (const Placement placement : {kAligned, kOdd}) compare(Backend::cuda, 0, placement);
}

INSTANTIATE_TEST_SUITE_P(Klt, KltParity, testing::ValuesIn(parity_cases()),
                         [](const auto& parameter) { return parameter.param.name; });

}  // namespace
}  // namespace lensd::test

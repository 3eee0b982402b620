// State that executors keep between frames, and side data of frames, on both backends.

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "core/graph/exec/executor.hpp"
#include "core/image/tracks.hpp"
#include "kernels/registry.hpp"

namespace lensd {
namespace {

constexpr Extent kStateSize{45, 31};

PictureInfo picture_info(Extent extent = kStateSize) {
  PictureInfo info;
  info.extent = extent, info.colour.range = Range::full;
  info.format = {.model = ColourModel::rgb,
                 .depth = 8,
                 .plane_count = 1,
                 .components = {{{0, 3, 0, 0}, {0, 3, 1, 0}, {0, 3, 2, 0}, {}}}};
  return info;
}

std::vector<uint8_t> pixels_of(const Frame& frame, int image = 0) {
  const ImageRef ref = frame.image(image);
  std::vector<uint8_t> all;
  for (int y = 0; y < ref.height(); ++y) all.insert(all.end(), ref.row(y), ref.row(y) + ref.row_bytes());
  return all;
}

class State : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (GetParam() == Backend::cuda && !probe_cuda().available) GTEST_SKIP() << probe_cuda().reason;
    executor_ = make_executor(GetParam(), {.threads = 2, .frames = 3}, profiler_, timeline_);
    std::mt19937 random(11);
    for (auto& picture : pictures_)
      for (uint8_t& v : picture) v = static_cast<uint8_t>(100 + random() % 20);
  }

  void install(const std::string& chain, const PlanExtras& extras = {}, Extent extent = kStateSize) {
    info_ = picture_info(extent);
    executor_->install(make_plan(parse_chain(chain, registry()), info_, GetParam(), registry(), extras));
  }

  Frame frame(size_t picture, bool again = false) {
    PictureRef ref;
    ref.info = info_;
    ref.planes[0] = pictures_[picture].data(), ref.pitch_bytes[0] = info_.extent.width * 3;
    FrameInfo info;
    info.index = static_cast<int64_t>(picture);
    Frame done = executor_->run(Picture(ref, info, nullptr), again);
    done.wait_ready();
    return done;
  }
  std::vector<uint8_t> run(size_t picture, bool again = false) { return pixels_of(frame(picture, again)); }

  Profiler profiler_;
  Timeline timeline_;
  std::unique_ptr<Executor> executor_;
  PictureInfo info_;
  std::array<std::array<uint8_t, 8192 * 3>, 4> pictures_{};
};

constexpr const char* kTemporal = "temporal_denoise=strength=0.9,difference=gain=8,grey_world,auto_contrast";

TEST_P(State, ARepeatedFrameUsesTheSameState) {
  install(kTemporal);
  run(0), run(1);
  const auto second = run(2);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run(2, true), second);
  const auto third = run(3);

  install("invert");
  install(kTemporal);
  run(0), run(1), run(2);
  EXPECT_EQ(run(3), third) << "repetitions changed the state";
}

TEST_P(State, IsKeptByTheNextPlan) {
  install("temporal_denoise=strength=0.9");
  run(0), run(1);
  const auto expected = run(2);

  install("invert");  // releases all state
  install("temporal_denoise=strength=0.9");
  const auto fresh = run(2);
  EXPECT_NE(fresh, expected);
  executor_->reset_state();
  run(0), run(1);
  install("temporal_denoise=strength=0.9,invert@last");
  auto inverted = run(2);
  for (size_t i = 0; i < inverted.size(); ++i)
    if (i % 4 != 3) inverted[i] = static_cast<uint8_t>(255 - inverted[i]);
  EXPECT_EQ(inverted, expected);
}

TEST_P(State, IsResetByACutAndAnotherFormat) {
  install("temporal_denoise=strength=0.9");
  const auto first = run(2);
  run(0), run(1);
  EXPECT_NE(run(2), first);
  executor_->reset_state();
  EXPECT_EQ(run(2), first);
  install("temporal_denoise=strength=0.9", {}, {40, 30});
  const auto smaller = run(3);
  install("invert", {}, {40, 30});
  install("temporal_denoise=strength=0.9", {}, {40, 30});
  EXPECT_EQ(run(3), smaller);
}

TEST_P(State, IsResetIfWidthAndHeightAreExchanged) {
  constexpr Extent wide{128, 64}, high{64, 128};
  install("temporal_denoise=strength=0.9", {}, high);
  const auto first = run(3);
  const size_t bytes = executor_->plan()->state_bytes;
  install("invert");
  install("temporal_denoise=strength=0.9", {}, wide);
  ASSERT_EQ(executor_->plan()->state_bytes, bytes) << "the sizes differ already: choose others";
  run(0), run(1);
  install("temporal_denoise=strength=0.9", {}, high);
  EXPECT_EQ(run(3), first);
}

TEST_P(State, IdsOfTracksAreNeverReused) {
  uint32_t next_id = 1;
  const auto expect_new_ids = [&](const std::string& chain, Extent extent = kStateSize) {
    SCOPED_TRACE(chain);
    install(chain, {}, extent);
    const Frame done = frame(0);
    const TrackTable* const table = done.tracks();
    ASSERT_NE(table, nullptr);
    EXPECT_GT(table->counts[static_cast<uint32_t>(TrackStatus::fresh)], 0u);
    for (uint32_t slot = 0; slot < table->capacity; ++slot)
      if (const Track& track = table->tracks()[slot]; track.status == TrackStatus::fresh) {
        EXPECT_GE(track.id, next_id);
      }
    next_id = table->next_id;
  };
  expect_new_ids("klt=max_features=20");
  run(1);
  install("invert");
  run(2);
  expect_new_ids("klt=max_features=20");
  install("invert");
  install("flip");  // a plan that keeps the ids and runs no frame
  install("invert");
  expect_new_ids("klt=max_features=20");
  expect_new_ids("klt@renamed=max_features=30");
  install("invert", {}, {40, 30});
  expect_new_ids("invert,klt@renamed=max_features=40", {40, 30});
  for (size_t i = 0; i < 2 * kMaxCounters; ++i) expect_new_ids("klt@other" + std::to_string(i));
  EXPECT_GT(next_id, 2 * kMaxCounters);
}

TEST_P(State, ViewsHaveTheOutputsOfNodes) {
  const std::string chain = "gaussian,grayscale,invert";
  install("gaussian");
  const auto gaussian = run(1);
  install("gaussian,grayscale");
  const auto gray = run(1);
  install(chain);
  const auto output = run(1);

  install(chain, {.scopes = {}, .views = {"source", "grayscale", "invert", "gaussian", "nothing"}});
  const Frame all = frame(1);
  EXPECT_EQ(all.images(), 4);
  EXPECT_EQ(pixels_of(all), output);
  EXPECT_EQ(all.find_image("invert"), 0);
  EXPECT_EQ(pixels_of(all, all.find_image("gaussian")), gaussian);
  EXPECT_EQ(pixels_of(all, all.find_image("grayscale")), gray);
  EXPECT_EQ(all.find_image("nothing"), -1);
  const auto source = pixels_of(all, all.find_image("source"));
  for (size_t p = 0; p < source.size() / 4; ++p)
    for (size_t c = 0; c < 3; ++c) ASSERT_EQ(source[4 * p + c], pictures_[1][3 * p + c]);
}

INSTANTIATE_TEST_SUITE_P(Backends, State, testing::Values(Backend::cpu, Backend::cuda),
                         [](const auto& backend) { return std::string(name(backend.param)); });

}  // namespace
}  // namespace lensd

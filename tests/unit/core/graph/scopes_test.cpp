// Scopes: their places in a plan, and their counts on both backends.
#include <gtest/gtest.h>

#include <algorithm>

#include <random>
#include <thread>

#include "core/graph/exec/executor.hpp"
#include "kernels/compare/compare.hpp"
#include "kernels/registry.hpp"
#include "kernels/scopes/scopes.hpp"

namespace lensd {
namespace {

constexpr Extent kSize{161, 47};

PictureInfo picture_info() {
  PictureInfo info;
  info.extent = kSize;
  info.format = {.model = ColourModel::rgb,
                 .depth = 8,
                 .plane_count = 1,
                 .components = {{{0, 3, 0, 0}, {0, 3, 1, 0}, {0, 3, 2, 0}, {}}}};
  return info;
}

/// Returns the graph median → gaussian → grayscale with `output` as its output node.
GraphDesc graph(const std::string& output) {
  GraphDesc g = parse_chain("median,gaussian,grayscale", registry());
  g.output = output;
  return g;
}

const PlanNode* scope_of(const Plan& plan, const ScopeRequest& scope) {
  for (const PlanNode& node : plan.nodes)
    if (node.scope && *node.scope == scope) return &node;
  return nullptr;
}

TEST(ScopePlan, ScopesFollowTheNodeThatTheyMeasure) {
  const std::vector<ScopeRequest> scopes{{"source", ScopeKind::waveform},
                                         {"median", ScopeKind::histogram},
                                         {"", ScopeKind::vectorscope},
                                         {"nobody", ScopeKind::histogram},
                                         {"median", ScopeKind::histogram}};
  const auto plan =
      make_plan(graph("gaussian"), picture_info(), Backend::cpu, registry(), {.scopes = scopes});
  std::vector<std::string> ids;
  for (const PlanNode& node : plan->nodes) ids.push_back(node.id);
  EXPECT_EQ(ids, (std::vector<std::string>{"source", "source.waveform", "median", "median.histogram",
                                           "gaussian", "output.vectorscope"}));
  EXPECT_EQ(plan->unused, std::vector<std::string>{"grayscale"});
  EXPECT_EQ(plan->find("gaussian")->frame_image, 0);
  EXPECT_EQ(plan->output, plan->find("gaussian")->layout.output);
  EXPECT_GE(plan->stats_bytes, (161u * 256 + 4 * 256 + 65536) * 4);
  EXPECT_EQ(describe(*plan).find("waveform"), std::string::npos);
}

TEST(ScopePlan, OnlyRequestedScopesHaveStatistics) {
  const auto stats_bytes = [](const std::vector<ScopeRequest>& scopes) {
    return make_plan(graph("gaussian"), picture_info(), Backend::cpu, registry(),
                     {.scopes = scopes, .precision = Precision::sixteen})
        ->stats_bytes;
  };
  EXPECT_EQ(stats_bytes({}), 0u);
  EXPECT_EQ(stats_bytes({{"", ScopeKind::histogram}}), 4u * 1024 * 4);
  EXPECT_EQ(stats_bytes({{"", ScopeKind::waveform}}), 161u * 1024 * 4);
  EXPECT_EQ(stats_bytes({{"", ScopeKind::vectorscope}}), 1024u * 1024 * 4);
}

TEST(ScopePlan, MeasuredNodesRunThoughTheOutputDoesNotNeedThem) {
  const std::vector<ScopeRequest> scopes{{"grayscale", ScopeKind::histogram}};
  const auto plan = make_plan(graph("median"), picture_info(), Backend::cpu, registry(), {.scopes = scopes});
  EXPECT_TRUE(plan->unused.empty());
  ASSERT_TRUE(scope_of(*plan, scopes[0]));
  EXPECT_EQ(plan->find("median")->frame_image, 0);
}

TEST(ScopePlan, DisabledNodesShowWhatPassesThrough) {
  GraphDesc g = graph("grayscale");
  g.find("gaussian")->enabled = false;
  const std::vector<ScopeRequest> scopes{{"gaussian", ScopeKind::histogram}};
  const auto plan = make_plan(g, picture_info(), Backend::cpu, registry(), {.scopes = scopes});
  const PlanNode* scope = scope_of(*plan, scopes[0]);
  ASSERT_TRUE(scope);
  EXPECT_EQ(plan->nodes[static_cast<size_t>(scope->inputs[0])].id, "median");
}

class PlannedScopes : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (GetParam() == Backend::cuda && !probe_cuda().available) GTEST_SKIP() << probe_cuda().reason;
    std::mt19937 random(5);
    for (uint8_t& v : pixels_) v = static_cast<uint8_t>(random() % 200);
  }

  /// Runs the graph with the scopes. Returns the output; writes the counts of each scope to `readings`.
  Image run(const GraphDesc& g, const std::vector<ScopeRequest>& scopes,
            std::vector<ScopeReading>* readings = nullptr, Precision precision = Precision::eight) {
    Profiler profiler;
    Timeline timeline;
    const auto executor = make_executor(GetParam(), {.threads = 2, .frames = 3}, profiler, timeline);
    executor->install(
        make_plan(g, picture_info(), GetParam(), registry(), {.scopes = scopes, .precision = precision}));
    PictureRef ref;
    ref.info = picture_info();
    ref.planes[0] = pixels_.data(), ref.pitch_bytes[0] = kSize.width * 3;
    Image image;
    for (int i = 0; i < 5; ++i) {
      FrameInfo info;
      info.index = i;
      const Frame frame = executor->run(Picture(ref, info, nullptr));
      frame.wait_ready();
      image = Image(frame.image().format);
      for (int y = 0; y < image.height(); ++y)
        std::copy_n(frame.image().row(y), image.format.row_bytes(), image.ref().row(y));
    }
    if (!readings) return image;
    readings->resize(scopes.size());
    for (size_t i = 0; i < scopes.size(); ++i)
      for (int tries = 0; tries < 500 && (*readings)[i].frame != 4; ++tries) {
        if (!executor->read_scope(scopes[i], (*readings)[i]) || (*readings)[i].frame != 4)
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    ScopeReading none;
    EXPECT_FALSE(executor->read_scope({"nobody", ScopeKind::parade}, none));
    for (const NodeStatistics& statistics : executor->statistics())
      EXPECT_EQ(statistics.node.find('.'), std::string::npos) << "scopes are not statistics";
    return image;
  }

  std::vector<uint8_t> pixels_ = std::vector<uint8_t>(static_cast<size_t>(kSize.width * kSize.height) * 3);
};

TEST_P(PlannedScopes, CountWhatTheNodeGivesAndChangeNothing) {
  std::vector<ScopeRequest> scopes;
  for (const char* node : {"source", "median", "gaussian", "grayscale", ""})
    for (const ScopeKind kind :
         {ScopeKind::histogram, ScopeKind::waveform, ScopeKind::parade, ScopeKind::vectorscope})
      scopes.push_back({node, kind});
  for (const auto& [output, precision] :
       std::vector<std::pair<const char*, Precision>>{{"source", Precision::eight},
                                                      {"median", Precision::eight},
                                                      {"gaussian", Precision::eight},
                                                      {"grayscale", Precision::eight},
                                                      {"gaussian", Precision::sixteen},
                                                      {"grayscale", Precision::sixteen}}) {
    std::vector<ScopeReading> readings;
    const Image with = run(graph(output), scopes, &readings, precision);
    EXPECT_EQ(with.pixels, run(graph(output), {}, nullptr, precision).pixels) << output;
    for (size_t i = 0; i < scopes.size(); ++i) {
      SCOPED_TRACE(std::string(output) + ", scope " + scopes[i].node + " " + name(scopes[i].kind));
      const Image image = scopes[i].node.empty() ? with : run(graph(scopes[i].node), {}, nullptr, precision);
      const PictureInfo info = picture_info();
      const ImageFormat formats[] = {image.format};
      Scope oracle(scopes[i].kind);
      oracle.configure({.images = formats, .picture = &info});
      EXPECT_EQ(readings[i].frame, 4);
      EXPECT_EQ(readings[i].image, image.format);
      EXPECT_EQ(readings[i].counts, oracle.count_reference(image));
    }
  }
}

TEST_P(PlannedScopes, ComparesTwoNodes) {
  const std::vector<ScopeRequest> scopes{{"source", ScopeKind::compare, "gaussian"},
                                         {"", ScopeKind::compare, "source"}};
  std::vector<ScopeReading> readings;
  const GraphDesc g = graph("grayscale");
  const Image output = run(g, scopes, &readings);
  EXPECT_EQ(output.pixels, run(g, {}).pixels);
  const auto image_of = [&](const char* node) { return run(graph(node), {}); };
  const Comparison expected = Compare().compare_reference(image_of("source"), image_of("gaussian"));
  EXPECT_GT(expected.psnr(), 1);
  EXPECT_EQ(readings[0].comparison().squares[1], expected.squares[1]);
  EXPECT_EQ(readings[0].comparison().ssim_q24, expected.ssim_q24);
  EXPECT_EQ(readings[1].comparison().channels, 3u) << "Gray8 against RGBA8 is compared in colour";
}

TEST(ScopePlan, ANodeIsComparedWithSeveralOthers) {
  const std::vector<ScopeRequest> scopes{{"median", ScopeKind::compare, "source"},
                                         {"median", ScopeKind::compare, "gaussian"},
                                         {"median", ScopeKind::compare, ""},
                                         {"median", ScopeKind::compare, "source"}};
  const auto plan =
      make_plan(graph("grayscale"), picture_info(), Backend::cpu, registry(), {.scopes = scopes});
  std::vector<std::string> ids;
  for (const PlanNode& node : plan->nodes)
    if (node.scope) ids.push_back(node.id);
  EXPECT_EQ(ids, (std::vector<std::string>{"median.source.compare", "median.gaussian.compare",
                                           "median.output.compare"}));
  for (const ScopeRequest& scope : scopes) EXPECT_TRUE(scope_of(*plan, scope));
}

TEST(ScopePlan, PicturesOfTwoSizesAreShownAndNotMeasured) {
  const GraphDesc g = parse_chain("resize=scale=0.5,grayscale", registry());
  const std::vector<ScopeRequest> scopes{{"source", ScopeKind::compare, ""}};
  const auto plan =
      make_plan(g, picture_info(), Backend::cpu, registry(), {.scopes = scopes, .views = {"source"}});
  EXPECT_EQ(scope_of(*plan, scopes[0]), nullptr);
  EXPECT_EQ(plan->output.format, PixelFormat::gray8) << "nothing was converted for a comparison";
  EXPECT_GE(plan->find("source")->frame_image, 0);
}

TEST(ScopePlan, AComparisonOfTwoSizesLeavesAnUnusedNodeInThePlan) {
  GraphDesc g = parse_chain("resize=scale=0.5,grayscale", registry());
  g.output = kSourceNode;
  const std::vector<ScopeRequest> scopes{{"grayscale", ScopeKind::compare, ""}};
  const auto plan = make_plan(g, picture_info(), Backend::cpu, registry(), {.scopes = scopes});
  EXPECT_EQ(scope_of(*plan, scopes[0]), nullptr);
  EXPECT_TRUE(plan->find("grayscale"));
}

INSTANTIATE_TEST_SUITE_P(Backends, PlannedScopes, testing::Values(Backend::cpu, Backend::cuda),
                         [](const auto& one) { return std::string(name(one.param)); });

}  // namespace
}  // namespace lensd

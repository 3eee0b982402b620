// Refusals that need no picture: graphs that no picture fits, and the origin that messages name.
#include <gtest/gtest.h>

#include <fstream>

#include "core/base/error.hpp"
#include "core/config/layers.hpp"
#include "core/graph/edit_history.hpp"
#include "core/graph/plan.hpp"
#include "kernels/registry.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

std::vector<std::string> chain_problems(const std::string& chain) {
  return planning_problems(parse_chain(chain, registry()), registry());
}

std::string layers_refusal(const Layers& layers) {
  try {
    load_layers(layers, registry());
    return "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::invalid_config);
    return e.what();
  }
}

/// Two nodes that read the source, and a blend of two inputs.
GraphDesc blended(const std::string& chain, const std::vector<std::string>& inputs) {
  GraphDesc graph = parse_chain(chain, registry());
  for (NodeDesc& node : graph.nodes) node.inputs = {kSourceNode};
  graph.nodes.push_back({.id = "blend", .filter = "blend", .inputs = inputs});
  graph.output = "blend";
  return graph;
}

TEST(PlanProblems, AreThoseOfEveryPicture) {
  EXPECT_TRUE(chain_problems("klt,stabilize").empty());
  EXPECT_TRUE(chain_problems("convolve=compose=gaussian(1.2)+sharpen").empty());
  ASSERT_EQ(chain_problems("stabilize,draw_tracks").size(), 2u);
  EXPECT_EQ(chain_problems("stabilize")[0], "stabilize: stabilize needs tracks; put a klt node before it");
  ASSERT_EQ(chain_problems("convolve@c=compose=foo(1)").size(), 1u);
  EXPECT_TRUE(
      chain_problems("convolve@c=compose=foo(1)")[0].starts_with("c: compose: 'foo(1)' is not a kernel"));
  EXPECT_EQ(chain_problems("convolve=compose=box(15)+box(3)").size(), 1u);
}

TEST(PlanProblems, IncludeParametersOfUnusedNodes) {
  GraphDesc graph = parse_chain("convolve=compose=foo(1),invert", registry());
  graph.nodes[0].enabled = false;
  EXPECT_EQ(planning_problems(graph, registry()).size(), 1u) << "disabled";
  graph.nodes[0].enabled = true;
  EXPECT_EQ(planning_problems(graph, registry()).size(), 1u) << "reported once";
  graph.output = kSourceNode;
  EXPECT_EQ(planning_problems(graph, registry()).size(), 1u) << "unused";
}

TEST(PlanProblems, SizesCountOnlyIfThePictureDoesNotDecide) {
  const auto problems = [](const std::string& chain, const std::vector<std::string>& inputs) {
    return planning_problems(blended(chain, inputs), registry());
  };
  const std::string small = "resize=width=320:height=240,", large = "resize=width=640:height=480";
  const std::vector<std::string> fixed = problems(small + large, {"resize", "resize2"});
  ASSERT_EQ(fixed.size(), 1u);
  EXPECT_EQ(fixed[0],
            "blend: its inputs differ in size: resize is 320×240, resize2 is 640×480 (put a resize or crop "
            "before one of them)");
  EXPECT_TRUE(problems(small + "resize=width=320:height=240", {"resize", "resize2"}).empty());
  EXPECT_TRUE(problems(small + large, {"resize", "source"}).empty()) << "fits a source of 320×240";
  EXPECT_TRUE(problems("crop=width=32,crop=width=48", {"crop", "crop2"}).empty()) << "fits narrow sources";
}

TEST(PlanProblems, AFileIsRefusedAtTheNode) {
  const TemporaryFolder folder;
  const std::string file = folder / "a.toml";
  std::ofstream(file) << "[record]\n\n[[node]]\nfilter = \"convolve\"\ncompose = \"foo(1)\"\n"
                      << "[[node]]\nfilter = \"stabilize\"\n";
  const std::string refusal = layers_refusal({.files = {file}});
  EXPECT_NE(refusal.find(file + ":3:1: convolve: compose: 'foo(1)' is not a kernel"), std::string::npos)
      << refusal;
  EXPECT_NE(refusal.find(file + ":6:1: stabilize: stabilize needs tracks"), std::string::npos) << refusal;
}

TEST(PlanProblems, AChainAndAssignmentsAreRefusedBeforeTheSourceOpens) {
  EXPECT_NE(layers_refusal({.graph_spec = "draw_tracks"}).find("needs tracks"), std::string::npos);
  EXPECT_NE(layers_refusal({.graph_spec = "convolve", .sets = {"convolve.compose=foo(1)"}}).find("foo(1)"),
            std::string::npos);
}

TEST(PlanProblems, CopiedNodesNeedNoTracker) {
  Config config;
  EXPECT_TRUE(parse_config("[[node]]\nfilter = \"stabilize\"\n", "clipboard", registry(), config).empty());
}

TEST(Origin, MessagesNameTheLayer) {
  EXPECT_TRUE(layers_refusal({.graph_spec = "mediann"}).starts_with("--graph: "));
  EXPECT_TRUE(layers_refusal({.environment = {{"LENSD_GRAPH", "mediann"}}}).starts_with("LENSD_GRAPH: "));
  const Layers layers{.environment = {{"LENSD_GRAPH", "median"}, {"LENSD_SET", "median.radius=99"}}};
  EXPECT_TRUE(layers_refusal(layers).starts_with("LENSD_SET median.radius=99: ")) << layers_refusal(layers);
}

TEST(Config, ANodeHasInputOrInputs) {
  Config config;
  const auto problems = parse_config(
      "[[node]]\nfilter = \"median\"\ninput = \"source\"\ninputs = [\"source\"]\n", "a", registry(), config);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0], "a:4:1: median: has both input and inputs (keep one of them)");
}

TEST(Origin, AnEditedGraphHasNoLines) {
  GraphDesc graph = parse_chain("median", registry());
  graph.nodes[0].where = "a.toml:1:1";
  GraphHistory history;
  history.reset(graph, -1);
  EXPECT_EQ(history.present().nodes[0].where, "");
  history.record(graph, "edit", {}, -1);
  EXPECT_EQ(history.present().nodes[0].where, "");
  history.amend(graph);
  EXPECT_EQ(history.present().nodes[0].where, "");
}

}  // namespace
}  // namespace lensd

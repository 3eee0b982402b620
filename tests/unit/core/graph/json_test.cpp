// core/graph/json: graphs as JSON, as clients of the control protocol send and receive them.

#include "core/graph/json.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/graph/graph.hpp"
#include "kernels/registry.hpp"

namespace lensd {
namespace {

using Json = nlohmann::json;

std::string graph_refusal(const Json& value) {
  try {
    graph_from_json(value, registry());
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(GraphJson, AGraphComesBackAsItWas) {
  for (const FilterEntry& entry : registry().filters) {
    GraphDesc graph{.nodes = {{.id = "first", .filter = "invert", .inputs = {"source"}}}, .output = "second"};
    NodeDesc second{.id = "second", .filter = entry.schema().name, .inputs = {"first"}, .enabled = false};
    if (entry.min_inputs > 1) second.inputs.emplace_back("source");
    graph.nodes.push_back(second);
    const Json sent = graph_json(graph, registry());
    EXPECT_EQ(graph_json(graph_from_json(sent, registry()), registry()), sent) << second.filter;
  }
}

TEST(GraphJson, AChainComesBackAsItWas) {
  const GraphDesc graph = parse_chain(
      "convolve@a=kernel=[[0, -1, 0], [-1, 5, -1], [0, -1, 0]]:bias=3,convolve=kernel=1 2 1,canny",
      registry());
  ASSERT_EQ(graph.nodes.size(), 3u);
  EXPECT_EQ(graph.nodes[0].params[0].second, ParamValue(Matrix{3, 3, {0, -1, 0, -1, 5, -1, 0, -1, 0}}));
  EXPECT_EQ(graph.nodes[0].params[1].second, ParamValue(3.0));
  EXPECT_EQ(to_chain(parse_chain(to_chain(graph), registry())), to_chain(graph));
}

TEST(GraphJson, TheOutputNeedNotBeTheLastNode) {
  GraphDesc graph = parse_chain("invert,canny", registry());
  graph.output = graph.nodes[0].id;
  const Json sent = graph_json(graph, registry());
  EXPECT_EQ(sent["output"], graph.nodes[0].id);
  EXPECT_EQ(graph_from_json(sent, registry()).output, graph.nodes[0].id);
  Json without = sent;
  without.erase("output");
  EXPECT_NE(graph_from_json(without, registry()).output, graph.nodes[0].id);
}

TEST(GraphJson, WhatDoesNotFitIsNamed) {
  EXPECT_NE(graph_refusal(5).find("expected a chain as text"), std::string::npos) << graph_refusal(5);
  const Json good = graph_json(parse_chain("median", registry()), registry());
  EXPECT_EQ(graph_refusal(good), "accepted");
  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, Json>>{
           {"output", 3}, {"nodes", "median"}, {"edges", Json::array()}}) {
    Json bad = good;
    bad[key] = value;
    EXPECT_NE(graph_refusal(bad).find(key), std::string::npos) << graph_refusal(bad);
  }
  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, Json>>{
           {"id", 3}, {"filter", nullptr}, {"inputs", "source"}, {"enabled", "yes"}, {"params", 4}}) {
    Json bad = good;
    bad["nodes"][0][key] = value;
    EXPECT_NE(graph_refusal(bad).find(key), std::string::npos) << graph_refusal(bad);
  }
}

TEST(GraphJson, OnlyAnEmptyListRemovesAllNodes) {
  EXPECT_NE(graph_refusal(Json::object()).find("needs the key 'nodes'"), std::string::npos);
  EXPECT_NE(graph_refusal({{"output", "source"}}).find("needs the key 'nodes'"), std::string::npos);
  EXPECT_EQ(graph_refusal({{"nodes", Json::array()}}), "accepted");
}

TEST(GraphJson, ANodeHasInputOrInputs) {
  const Json node{{"filter", "median"}, {"input", "source"}, {"inputs", {"source"}}};
  EXPECT_EQ(graph_refusal({{"nodes", {node}}}),
            "graph: node 1: has both input and inputs (keep one of them)");
}

TEST(GraphJson, TheOriginIsNotTheCommandLine) {
  EXPECT_TRUE(graph_refusal("mediann").starts_with("graph: ")) << graph_refusal("mediann");
}

}  // namespace
}  // namespace lensd

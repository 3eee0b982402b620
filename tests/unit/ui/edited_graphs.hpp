// Small graphs for tests of graph editing.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/graph/edit_shape.hpp"
#include "tests/unit/ui/sample_model.hpp"

namespace lensd::ui {

inline const Registry& filters() {
  return test::sample_registry();
}

inline GraphDesc graph_of(std::vector<NodeDesc> nodes, std::string output = {}) {
  GraphDesc graph;
  graph.nodes = std::move(nodes), graph.output = std::move(output);
  EXPECT_TRUE(validate(graph, filters()).empty());
  return resolved(graph, filters());
}

inline NodeDesc node(std::string id, std::vector<std::string> inputs = {}, std::string filter = "median") {
  NodeDesc desc;
  desc.id = std::move(id), desc.filter = std::move(filter), desc.inputs = std::move(inputs);
  return desc;
}

/// Returns the nodes with their inputs, then the output: "a(source) b(a) > b".
inline std::string shape(const GraphDesc& graph) {
  std::string text;
  for (const NodeDesc& n : graph.nodes) {
    text += n.id + "(";
    for (const std::string& input : n.inputs) text += (&input == &n.inputs.front() ? "" : ",") + input;
    text += ") ";
  }
  return text + "> " + graph.output;
}

inline GraphDesc chain() {
  return graph_of({node("a"), node("b"), node("c")});
}

/// a feeds b and c; d blends c over b.
inline GraphDesc diamond() {
  return graph_of({node("a"), node("b", {"a"}), node("c", {"a"}), node("d", {"b", "c"}, "mix")});
}

}  // namespace lensd::ui

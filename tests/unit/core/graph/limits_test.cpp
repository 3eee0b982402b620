// Limits of graphs and configuration files, the time to check them, and the memory of profiler and timeline.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "core/base/error.hpp"
#include "core/base/limits.hpp"
#include "core/config/config.hpp"
#include "core/graph/edit_shape.hpp"
#include "core/graph/json.hpp"
#include "core/graph/trace/profiler.hpp"
#include "core/graph/trace/timeline.hpp"
#include "kernels/registry.hpp"

namespace lensd {
namespace {

/// Returns this thread's CPU time, which hardly depends on the load by other programs.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// With a sanitizer, tests are not optimised, and every access is checked.
constexpr double kSlowdown = LENSD_SANITIZED ? 30 : 1;

/// Expects that `run` takes at most `seconds` of CPU time.
template <class F>
void expect_within(double seconds, F run) {
  const double begin = cpu_seconds();
  run();
  EXPECT_LE(cpu_seconds() - begin, seconds * kSlowdown);
}

template <class F>
std::string refusal(F run) {
  try {
    run();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::invalid_config);
    return e.what();
  }
  return {};
}

/// A chain in reverse order: every node reads the next one, the last one reads the source.
GraphDesc reversed(size_t count) {
  GraphDesc graph;
  for (size_t i = 0; i < count; ++i)
    graph.nodes.push_back({.id = fmt::format("n{}", i),
                           .filter = "invert",
                           .inputs = {i + 1 == count ? kSourceNode : fmt::format("n{}", i + 1)}});
  graph.output = "n0";
  return graph;
}

std::string repeated(size_t count, const std::string& text) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}

TEST(Limits, AGraphHasAtMost256Nodes) {
  EXPECT_TRUE(validate(reversed(kMaxNodes), registry()).empty());
  const auto problems = validate(reversed(kMaxNodes + 1), registry());
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0], "257 nodes are too many, the limit is 256");

  const std::string chain = "invert" + repeated(kMaxNodes - 1, ",invert");
  const GraphDesc graph = parse_chain(chain, registry());
  EXPECT_EQ(graph.nodes.back().id, "invert256");
  EXPECT_NE(refusal([&] { parse_chain(chain + ",invert", registry()); }).find("too many"), std::string::npos);
}

TEST(Limits, TheLargestGraphIsCheckedInLinearTime) {
  const GraphDesc graph = reversed(kMaxNodes);
  expect_within(0.1, [&] { EXPECT_TRUE(validate(graph, registry()).empty()); });
}

TEST(Limits, HugeGraphsAreRefusedBeforeTheyAreChecked) {
  constexpr size_t kHuge = 100'000;
  const GraphDesc graph = reversed(kHuge);
  expect_within(0.1, [&] { EXPECT_EQ(validate(graph, registry()).size(), 1u); });
  const std::string chain = "invert" + repeated(kHuge, ",invert");
  expect_within(0.1, [&] { EXPECT_FALSE(refusal([&] { parse_chain(chain, registry()); }).empty()); });
  const nlohmann::json object{
      {"nodes", nlohmann::json(std::vector<nlohmann::json>(kHuge, {{"filter", "x"}, {"id", 3}}))}};
  expect_within(0.2, [&] {
    EXPECT_NE(refusal([&] { graph_from_json(object, registry()); }).find("too many"), std::string::npos);
  });
}

TEST(Limits, NamesInputsAndParametersOfANode) {
  const auto problems = [](NodeDesc node) {
    return validate({.nodes = {std::move(node)}, .output = {}}, registry());
  };
  const std::string longest(kMaxNameBytes, 'n');
  EXPECT_TRUE(problems({.id = longest, .filter = "invert"}).empty());
  ASSERT_EQ(problems({.id = longest + "n", .filter = "invert"}).size(), 1u);
  EXPECT_EQ(problems({.id = longest + "n", .filter = "invert"})[0],
            "node 1: 65 bytes of id, the limit is 64");
  EXPECT_EQ(problems({.id = "a", .filter = longest + "n"}).size(), 1u);
  EXPECT_EQ(problems({.id = "a", .filter = "invert", .inputs = {longest + "n"}}).size(), 1u);
  EXPECT_EQ(problems({.id = "a", .filter = "invert", .inputs = std::vector<std::string>(30'000, "b")})[0],
            "node 1: 30000 inputs, the limit is 16");
  NodeDesc node{.id = "a", .filter = "median"};
  for (int i = 0; i < 30'000; ++i) node.params.emplace_back("radius", ParamValue(int64_t{1}));
  EXPECT_EQ(problems(node)[0], "node 1: 30000 parameters, the limit is 64");
  EXPECT_NE(refusal([] {
              parse_chain("median=" + repeated(30'000, "radius=1:"), registry());
            }).find("more than 64 parameters"),
            std::string::npos);
}

TEST(Limits, EditsKeepNamesWithinTheirLimit) {
  GraphDesc graph{.nodes = {{.id = std::string(kMaxNameBytes, 'n'), .filter = "invert"}}, .output = {}};
  graph = resolved(graph, registry());
  EXPECT_LE(duplicate_node(graph, graph.nodes[0].id).size(), kMaxNameBytes);
  EXPECT_TRUE(validate(graph, registry()).empty());
  EXPECT_TRUE(rename_node(graph, graph.nodes[0].id, std::string(kMaxNameBytes + 1, 'm')));
}

TEST(Limits, AMessageListsAtMost100Problems) {
  std::vector<std::string> problems(30'000, "wrong");
  const std::string text = refusal([&] { checked("graph", {}, problems, registry()); });
  EXPECT_NE(text.find("and 29900 more problems"), std::string::npos);
  EXPECT_LT(text.size(), 2000u);
}

std::vector<std::string> problems_of(const std::string& text) {
  Config config;
  return parse_config(text, "c.toml", registry(), config);
}

TEST(Limits, DeepConfigurationsAreRefused) {
  const auto deep = [](const std::string& text) {
    const auto problems = problems_of(text);
    return problems.size() == 1 && problems[0].find("nested deeper than 32") != std::string::npos;
  };
  EXPECT_TRUE(deep("a" + repeated(150'000, ".a") + " = 1\n"));
  EXPECT_TRUE(deep("[a" + repeated(150'000, ".a") + "]\n"));
  EXPECT_TRUE(deep("[[a" + repeated(150'000, " . 'a'") + "]]\n"));
  EXPECT_TRUE(deep("a = " + repeated(100'000, "[")));
  EXPECT_TRUE(deep("a = " + repeated(100'000, "{a = ")));
  EXPECT_TRUE(deep("a = {b" + repeated(150'000, ".\"b\"") + " = 1}\n"));
  EXPECT_TRUE(deep("a = [\"\"\"x\"\"\"\"\", {b" + repeated(150'000, ".b") + " = 1}]\n"));
  EXPECT_TRUE(deep("# \"\na = ['\\', {b" + repeated(150'000, ".b") + " = 1}]\n"));
  EXPECT_EQ(problems_of("\n\nab" + repeated(40, ".a") + " = 1\n")[0], "c.toml:3:65: nested deeper than 32");

  const std::string dots(500, '.'), brackets(500, '[');
  EXPECT_TRUE(problems_of("[log]\nfile = \"" + dots + brackets + "\" # " + dots + brackets + "\n").empty());
  EXPECT_TRUE(problems_of("[log]\nfile = '" + dots + "'\n[source]\nurl = '''\n" + dots + "\n'''\n").empty());
}

TEST(Limits, HugeConfigurationsAreRefusedQuickly) {
  expect_within(5, [] {
    const auto problems = problems_of(repeated(30'000, "[[node]]\nfilter = 'invert'\n"));
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0], "c.toml:513:1: 30000 nodes are too many, the limit is 256");
  });
  std::string keys = "[[node]]\nfilter = 'median'\n", tables;
  for (int i = 0; i < 30'000; ++i) keys += fmt::format("k{} = 1\n", i), tables += fmt::format("t{} = 1\n", i);
  EXPECT_EQ(problems_of(keys).size(), 1u);
  EXPECT_EQ(problems_of(tables).size(), kMaxProblems + 1);
}

TEST(Profiler, ScopesWithoutHandlesAreFreed) {
  Profiler profiler;
  const Profiler::Scope kept = profiler.scope("kept", "pass");
  profiler.record(kept, 7);
  for (int i = 0; i < 5000; ++i) profiler.record(profiler.scope(fmt::format("n{}", i), "pass"), i);
  EXPECT_LE(profiler.snapshot().size(), Profiler::kMaxUnused + 2);
  EXPECT_EQ(profiler.snapshot()[0].node, "kept");
  EXPECT_EQ(profiler.history("kept", "pass"), std::vector<int64_t>{7});
  EXPECT_EQ(profiler.history("n4999", "pass"), std::vector<int64_t>{4999}) << "for a plan that has it again";
  EXPECT_TRUE(profiler.history("n0", "pass").empty());
  std::vector<Profiler::Scope> many;
  for (int i = 0; i < 5000; ++i) many.push_back(profiler.scope(fmt::format("m{}", i), "pass"));
  EXPECT_EQ(std::ranges::count_if(profiler.snapshot(), [](const auto& r) { return r.node[0] == 'm'; }), 5000);
}

TEST(Profiler, OnlyScopesOfTheRunningPlanAreActive) {
  Profiler profiler;
  const auto active = [&profiler] {
    std::string passes;
    for (const PassStats& row : profiler.snapshot())
      if (row.active) passes += row.pass + " ";
    return passes;
  };
  const Profiler::Scope decode = profiler.scope("decode", "h264");
  const Profiler::Scope otsu = profiler.plan_scope("threshold", "otsu", 1, 1, false),
                        apply = profiler.plan_scope("threshold", "threshold", 1, 1, false);
  EXPECT_EQ(active(), "h264 ") << "the plan may be refused";
  profiler.activate({otsu, apply}, {"decode"});
  EXPECT_EQ(active(), "h264 otsu threshold ");
  EXPECT_EQ(profiler.plan_scope("threshold", "threshold", 2, 2, false), apply);
  EXPECT_EQ(active(), "h264 otsu threshold ");
  profiler.activate({apply}, {"decode"});
  EXPECT_EQ(active(), "h264 threshold ") << "the node has one pass less";
}

TEST(Timeline, LabelsOfFormerPlansAreReusedOnceTheirIntervalsAreGone) {
  Timeline timeline;
  const int track = timeline.track("t"), permanent = timeline.label("permanent");
  const int former = *timeline.plan_label("former");
  timeline.record(track, former, 0, 1, 2);
  EXPECT_EQ(*timeline.plan_label("former"), former);
  EXPECT_NE(*timeline.plan_label("early"), former);
  EXPECT_EQ(timeline.intervals()[0].label, "former");
  for (size_t i = 0; i < Timeline::kSlots; ++i) timeline.record(track, permanent, 0, 1, 2);
  EXPECT_EQ(*timeline.plan_label("late"), former);
  for (size_t i = 0; i < Timeline::kSlots; ++i) timeline.record(track, permanent, 0, 1, 2);
  const auto held = timeline.plan_label("held");
  for (size_t i = 0; i < Timeline::kSlots; ++i) timeline.record(track, permanent, 0, 1, 2);
  EXPECT_NE(*timeline.plan_label("another"), *held);
  EXPECT_EQ(timeline.label("permanent"), permanent);
}

}  // namespace
}  // namespace lensd

// Graph descriptions, plans, changes of graphs, arena, configuration files, profiler, timeline.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/base/error.hpp"
#include "core/config/config.hpp"
#include "core/graph/arena.hpp"
#include "core/graph/plan.hpp"
#include "core/graph/trace/profiler.hpp"
#include "core/graph/trace/timeline.hpp"
#include "kernels/registry.hpp"

namespace lensd {
namespace {

std::string refusal(const std::string& chain) {
  try {
    parse_chain(chain, registry());
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::invalid_config);
    return e.what();
  }
  return {};
}

PictureInfo colour_picture(int width = 64, int height = 48) {
  PictureInfo info;
  info.extent = {width, height};
  info.format = {.model = ColourModel::rgb,
                 .depth = 8,
                 .plane_count = 1,
                 .components = {{{0, 3, 0, 0}, {0, 3, 1, 0}, {0, 3, 2, 0}, {}}}};
  return info;
}

TEST(Chain, ParsesNodesIdsAndParameters) {
  const GraphDesc g =
      parse_chain("median=radius=2,gaussian@soft=sigma=1.5:border=wrap,grayscale,median", registry());
  ASSERT_EQ(g.nodes.size(), 4u);
  EXPECT_EQ(g.nodes[0].id, "median");
  EXPECT_EQ(g.nodes[1].id, "soft");
  EXPECT_EQ(g.nodes[3].id, "median2");
  EXPECT_EQ(g.nodes[0].inputs, std::vector<std::string>{"source"});
  EXPECT_EQ(g.nodes[2].inputs, std::vector<std::string>{"soft"});
  EXPECT_EQ(g.output, "median2");
  EXPECT_EQ(std::get<double>(g.nodes[1].params[0].second), 1.5);
  EXPECT_EQ(parse_chain(to_chain(g), registry()).nodes.size(), 4u);
}

TEST(Chain, ListsOfKernelsReadBackAsOneNode) {
  for (const char* kernels : {"gaussian(1.2), sharpen", "[gaussian(1.2), sharpen]"}) {
    GraphDesc g = parse_chain("convolve", registry());
    g.nodes[0].set_param("compose", std::string(kernels));
    EXPECT_EQ(to_chain(g), "convolve=compose=[gaussian(1.2), sharpen]");
    EXPECT_EQ(to_chain(parse_chain(to_chain(g), registry())), to_chain(g));
  }
}

TEST(Chain, EmptyGraphOutputsTheSource) {
  EXPECT_EQ(parse_chain("", registry()).output, "source");
}

TEST(Chain, RefusesWithNameKeyAndRange) {
  EXPECT_NE(refusal("mediann").find("mediann"), std::string::npos);
  EXPECT_NE(refusal("median=size=3").find("'size'"), std::string::npos);
  EXPECT_NE(refusal("median=radius=99").find("radius = '99'"), std::string::npos);
  EXPECT_NE(refusal("gaussian=sigma=nan").find("sigma"), std::string::npos);
  EXPECT_FALSE(refusal("median=radius").empty());
  EXPECT_FALSE(refusal("median,,median").empty());
  EXPECT_FALSE(refusal("invert@a,invert@a").empty());
  const std::string both = refusal("median=radius=99,gaussian=sigma=-1");
  EXPECT_NE(both.find("radius"), std::string::npos);
  EXPECT_NE(both.find("sigma"), std::string::npos);
}

TEST(Validate, FindsCyclesArityAndMissingInputs) {
  GraphDesc g;
  g.nodes = {{.id = "a", .filter = "invert", .inputs = {"b"}},
             {.id = "b", .filter = "invert", .inputs = {"a"}},
             {.id = "c", .filter = "invert", .inputs = {"nobody"}},
             {.id = "d", .filter = "invert", .inputs = {"source", "source"}}};
  g.output = "nowhere";
  const auto problems = validate(g, registry());
  const auto mentions = [&](const std::string& text) {
    return std::any_of(problems.begin(), problems.end(),
                       [&](const auto& p) { return p.find(text) != std::string::npos; });
  };
  EXPECT_TRUE(mentions("cycle through a, b"));
  EXPECT_TRUE(mentions("'nobody'"));
  EXPECT_TRUE(mentions("takes 1 input"));
  EXPECT_TRUE(mentions("'nowhere'"));
}

TEST(Validate, RefusesIdsThatChainsCannotExpress) {
  for (const std::string id : {"a,b", "a:b", "a=b", "a@b", "a b", "a.b", "it's"}) {
    GraphDesc graph;
    graph.nodes.push_back({.id = id, .filter = "median"});
    const auto problems = validate(graph, registry());
    ASSERT_EQ(problems.size(), 1u) << id;
    EXPECT_TRUE(
        problems[0].starts_with(id + ": a name cannot contain spaces, tabs or any of , : = @ . \" ' "))
        << problems[0];
  }
  EXPECT_NE(refusal("median@a@b").find("(try a_b)"), std::string::npos);
  for (const std::string name : {"a\nb", "a\x7F", "\xFF", "a\xC3"})
    EXPECT_NE(refusal("median@" + name).find("control characters or bytes that are not UTF-8"),
              std::string::npos);
  GraphDesc graph = parse_chain("median@weich_ü-1", registry());
  EXPECT_EQ(parse_chain(to_chain(graph), registry()).nodes[0].id, "weich_ü-1");
}

TEST(Set, ChangesTheDescription) {
  GraphDesc g = parse_chain("median,gaussian", registry());
  apply_set(g, "gaussian.sigma=3", registry());
  apply_set(g, "median.enabled=false", registry());
  EXPECT_EQ(std::get<double>(g.find("gaussian")->params[0].second), 3.0);
  EXPECT_FALSE(g.find("median")->enabled);
  apply_set(g, " gaussian . sigma = 4 ", registry());
  EXPECT_EQ(std::get<double>(g.find("gaussian")->params[0].second), 4.0);
  for (const char* bad :
       {"gaussian.sigma", "sigma=3", "nobody.sigma=3", "gaussian.nothing=3", "gaussian.sigma=nan"})
    EXPECT_THROW(apply_set(g, bad, registry()), Error) << bad;
}

TEST(Plan, DisabledNodesPassTheirInputThrough) {
  GraphDesc g = parse_chain("median,gaussian,invert", registry());
  g.find("gaussian")->enabled = false;
  const auto plan = make_plan(g, colour_picture(), Backend::cpu, registry());
  ASSERT_EQ(plan->nodes.size(), 3u);
  EXPECT_EQ(plan->nodes[2].id, "invert");
  EXPECT_EQ(plan->nodes[2].inputs, std::vector<int>{1});
}

TEST(Plan, AutomaticPrecisionFollowsThePicture) {
  const PictureInfo eight = colour_picture();
  PictureInfo ten = eight, hdr = eight;
  ten.format.depth = 10, hdr.colour.transfer = Transfer::hlg;
  EXPECT_EQ(bits_of(Precision::automatic, eight), 8);
  EXPECT_EQ(bits_of(Precision::automatic, ten), 16);
  EXPECT_EQ(bits_of(Precision::automatic, hdr), 16);
  EXPECT_EQ(bits_of(Precision::eight, ten), 8);
  EXPECT_EQ(bits_of(Precision::sixteen, eight), 16);
}

TEST(Plan, NoFilterRoundsTo8Bits) {
  for (const FilterEntry& filter : registry().filters) {
    if (filter.needs_tracks || filter.min_inputs > 1) continue;
    const GraphDesc g = parse_chain(filter.schema().name, registry());
    const auto plan =
        make_plan(g, colour_picture(), Backend::cpu, registry(), {.precision = Precision::sixteen});
    EXPECT_EQ(plan->precision, 16);
    for (const PlanNode& node : plan->nodes)
      EXPECT_EQ(sample_bytes(node.layout.output.format), 2) << filter.schema().name << ": " << node.id;
  }
}

TEST(Plan, UnusedNodesAreListedAndRemoved) {
  GraphDesc g = parse_chain("median,gaussian,invert", registry());
  g.output = "median";
  const auto plan = make_plan(g, colour_picture(), Backend::cpu, registry());
  EXPECT_EQ(plan->nodes.size(), 2u);
  EXPECT_EQ(plan->unused, (std::vector<std::string>{"gaussian", "invert"}));
  EXPECT_EQ(plan->nodes[1].frame_image, 0);
}

TEST(Plan, LongChainsNeedTwoImages) {
  const auto plan = make_plan(parse_chain("invert,invert,invert,invert,invert,invert", registry()),
                              colour_picture(), Backend::cpu, registry());
  const size_t image = static_cast<size_t>(plan->nodes[0].pitch_bytes) * 48;
  EXPECT_EQ(plan->arena_bytes, 2 * image);
  EXPECT_EQ(plan->unshared_bytes, 6 * image);
}

TEST(Plan, ParametersChangeInPlace) {
  auto plan = make_plan(parse_chain("gaussian", registry()), colour_picture(), Backend::cpu, registry());
  const auto before = plan->blocks;
  EXPECT_EQ(plan->set_param({"gaussian", "sigma", 2.5}).kind, ChangeResult::Kind::applied);
  EXPECT_NE(plan->blocks, before);
  const auto changed = plan->blocks;
  EXPECT_EQ(plan->set_param({"gaussian", "sigma", -1.0}).kind, ChangeResult::Kind::refused);
  EXPECT_EQ(plan->set_param({"nobody", "sigma", 1.0}).kind, ChangeResult::Kind::applied) << "ignored";
  EXPECT_EQ(plan->blocks, changed);
}

TEST(Plan, ParametersThatResizeBuffersNeedANewPlan) {
  auto plan = make_plan(parse_chain("crop", registry()), colour_picture(), Backend::cpu, registry());
  EXPECT_EQ(plan->set_param({"crop", "width", int64_t{16}}).kind, ChangeResult::Kind::needs_plan);
}

TEST(GraphChange, IsCheckedConvertedAndApplied) {
  GraphDesc g = parse_chain("mosaic=block=4,crop", registry());
  const auto change = [&](const GraphChange& c) { return apply_change(g, c, registry()); };
  using Kind = ChangeResult::Kind;
  EXPECT_EQ(change(SetParam{"mosaic", "block", 8.0}).kind, Kind::applied);
  EXPECT_EQ(g.nodes[0].params, (decltype(g.nodes[0].params){{"block", int64_t{8}}}))
      << "converted to an integer";
  EXPECT_EQ(change(SetParam{"crop", "width", int64_t{16}}).kind, Kind::needs_plan);
  EXPECT_EQ(change(SetEnabled{"crop", true}).kind, Kind::applied) << "already enabled";
  EXPECT_EQ(change(SetEnabled{"crop", false}).kind, Kind::needs_plan);
  EXPECT_EQ(change(SetParam{"crop", "width", int64_t{8}}).kind, Kind::applied) << "disabled: not in the plan";
}

TEST(GraphChange, NumbersNameChoices) {
  const ParamSpec& angle = *registry().find("rotate")->schema().find("angle");
  const ParamValue halves[] = {int64_t{180}, 180.0, std::string("180")};
  for (const ParamValue& half : halves) {
    GraphDesc g = parse_chain("rotate", registry());
    EXPECT_FALSE(apply_change(g, SetParam{"rotate", "angle", half}, registry()).refused());
    EXPECT_EQ(value_of(g.nodes[0], angle), ParamValue(std::string("180")));
  }
  GraphDesc g = parse_chain("rotate", registry());
  for (const ParamValue& wrong : {ParamValue(180.5), ParamValue(int64_t{45}), ParamValue(true)})
    EXPECT_TRUE(apply_change(g, SetParam{"rotate", "angle", wrong}, registry()).refused());
}

TEST(GraphChange, AKernelNeedsAPlanOnlyWithAComposition) {
  using Kind = ChangeResult::Kind;
  const SetParam kernel{"convolve", "kernel", Matrix{1, 3, {1, 2, 1}}};
  for (const auto& [chain, kind] :
       {std::pair{"convolve", Kind::applied}, {"convolve=compose=kernel+box(3)", Kind::needs_plan}}) {
    GraphDesc g = parse_chain(chain, registry());
    EXPECT_EQ(make_plan(g, colour_picture(), Backend::cpu, registry())->set_param(kernel).kind, kind);
    EXPECT_EQ(apply_change(g, kernel, registry()).kind, kind) << chain;
  }
}

TEST(GraphChange, RefusalsListKnownNamesAndChangeNothing) {
  GraphDesc g = parse_chain("median=radius=1,invert", registry());
  const auto problem = [&](const GraphChange& c) { return apply_change(g, c, registry()).problem; };
  EXPECT_EQ(problem(SetParam{"blur", "radius", int64_t{1}}),
            "there is no node 'blur' (the graph has median, invert)");
  EXPECT_EQ(problem(SetParam{"median", "size", int64_t{1}}),
            "median: there is no parameter 'size' (median has radius, border)");
  EXPECT_EQ(problem(SetParam{"invert", "size", int64_t{1}}),
            "invert: there is no parameter 'size' (invert has none)");
  EXPECT_EQ(
      problem(SetParam{"median", "radius", std::string("x")}).find("median: radius = 'x' is not allowed"),
      0u);
  const GraphDesc before = g;
  const std::vector<GraphChange> changes{SetParam{"median", "radius", int64_t{3}}, SetEnabled{"blur", false}};
  EXPECT_TRUE(apply_changes(g, changes, registry()).refused());
  EXPECT_TRUE(equivalent(g, before, registry())) << "all or none";
  EXPECT_FALSE(apply_changes(g, {changes.data(), 1}, registry()).refused());
  EXPECT_FALSE(equivalent(g, before, registry()));
}

TEST(Arena, NeverOverlapsLiveBuffers) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<ArenaBuffer> buffers;
    for (int i = 0; i < 20; ++i) {
      const int first = static_cast<int>(random() % 20);
      buffers.push_back({.bytes = 1 + random() % 1000,
                         .first = first,
                         .last = first + static_cast<int>(random() % 5),
                         .offset = 0});
    }
    const size_t total = pack_arena(buffers, 64);
    for (size_t a = 0; a < buffers.size(); ++a) {
      EXPECT_EQ(buffers[a].offset % 64, 0u);
      EXPECT_LE(buffers[a].offset + buffers[a].bytes, total);
      for (size_t b = a + 1; b < buffers.size(); ++b) {
        const bool together = buffers[a].first <= buffers[b].last && buffers[b].first <= buffers[a].last;
        const bool apart = buffers[a].offset + buffers[a].bytes <= buffers[b].offset ||
                           buffers[b].offset + buffers[b].bytes <= buffers[a].offset;
        EXPECT_TRUE(!together || apart);
      }
    }
  }
}

TEST(Config, ReadsAGraph) {
  Config config;
  const auto problems = parse_config(R"(
[source]
url = "clip.mp4"
[graph]
output = "soft"
[[node]]
filter = "median"
radius = 2
[[node]]
id = "soft"
filter = "gaussian"
input = "median"
sigma = 2
enabled = false
[performance]
backend = "cpu"
threads = 2
)",
                                     "a.toml", registry(), config);
  EXPECT_TRUE(problems.empty()) << problems.front();
  EXPECT_EQ(config.source_url, "clip.mp4");
  EXPECT_EQ(config.threads, 2);
  ASSERT_TRUE(config.graph);
  EXPECT_EQ(config.graph->output, "soft");
  EXPECT_FALSE(config.graph->find("soft")->enabled);
}

TEST(Config, ReportsAllProblemsWithTheirPositions) {
  Config config;
  config.threads = 77;
  const auto problems = parse_config(
      "colour = 1\n[performance]\nbackend = \"gpu\"\nspeed = 1\n[[node]]\nfilter = \"median\"\nradius = "
      "nan\nsize = 3\n",
      "b.toml", registry(), config);
  ASSERT_EQ(problems.size(), 5u);
  for (const char* place : {"b.toml:1:1", "b.toml:3:11", "b.toml:4:1", "b.toml:7:10", "b.toml:8:1"})
    EXPECT_TRUE(std::any_of(problems.begin(), problems.end(), [&](const auto& p) {
      return p.starts_with(place);
    })) << place;
  EXPECT_EQ(config.threads, 77) << "nothing is applied";
}

TEST(Config, RefusesSyntaxErrorsDuplicatesAndInvalidGraphs) {
  const auto refused = [](const std::string& text) {
    Config config;
    return !parse_config(text, "c.toml", registry(), config).empty();
  };
  EXPECT_TRUE(refused("a = "));
  EXPECT_TRUE(refused("[log]\nlevel = \"info\"\nlevel = \"warn\"\n"));
  EXPECT_TRUE(
      refused("[[node]]\nfilter = \"invert\"\nid = \"x\"\n[[node]]\nfilter = \"invert\"\nid = \"x\"\n"));
  EXPECT_TRUE(refused("[[node]]\nfilter = \"invert\"\ninputs = [\"source\", 3]\n"));
  EXPECT_TRUE(refused("[[node]]\nid = \"x\"\n"));
  EXPECT_TRUE(refused("[graph]\noutput = \"nobody\"\n"));
  EXPECT_TRUE(refused("\xff\xfe"));
  EXPECT_TRUE(refused(std::string(kMaxConfigBytes + 1, ' ')));
  EXPECT_FALSE(refused(""));
}

TEST(Profiler, PercentilesAreNearestRank) {
  Profiler profiler;
  const Profiler::Scope scope = profiler.scope("node", "pass", 100, 10);
  EXPECT_EQ(profiler.snapshot()[0].count, 0u);
  for (int i = 1; i <= 100; ++i) profiler.record(scope, i * 37 % 101);  // 1 to 100, shuffled
  const PassStats row = profiler.snapshot()[0];
  EXPECT_EQ(row.last_ns, 100 * 37 % 101);
  EXPECT_EQ(row.p50_ns, 50);
  EXPECT_EQ(row.p95_ns, 95);
  EXPECT_EQ(row.p99_ns, 99);
  EXPECT_EQ(row.max_ns, 100);
  for (int i = 0; i < 1000; ++i) profiler.record(scope, 7);
  EXPECT_EQ(profiler.snapshot()[0].max_ns, 7) << "old samples leave the ring";
  EXPECT_EQ(profiler.scope("node", "pass"), scope);
}

TEST(Timeline, TraceConnectsTheIntervalsOfAFrame) {
  Timeline timeline;
  const int first = timeline.track("decode"), second = timeline.track("process"),
            label = timeline.label("work");
  timeline.record(first, label, 0, 1000, 2000);
  timeline.record(second, label, 0, 3000, 4000);
  EXPECT_EQ(timeline.intervals().size(), 2u);
  const std::string json = timeline.chrome_trace();
  EXPECT_NE(json.find("\"ph\":\"s\""), std::string::npos);
  EXPECT_NE(json.find("\"ph\":\"f\""), std::string::npos);
}

TEST(Chain, SlipsAreExplained) {
  const auto problem = [](const std::string& chain) -> std::string {
    try {
      parse_chain(chain, registry());
      return "";
    } catch (const Error& e) {
      return e.problem();
    }
  };
  EXPECT_EQ(problem("medain"), "there is no filter 'medain', did you mean median?");
  EXPECT_NE(problem("quantise").find("there are "), std::string::npos);
  EXPECT_EQ(problem("median=radiu=1"),
            "median: there is no parameter 'radiu' (did you mean radius? median has radius, border)");
  EXPECT_EQ(problem("median radius=2"), "'median radius=2' is not a node of a chain (write median=radius=2)");
  EXPECT_EQ(
      problem("invert,median radius=2 border=reflect"),
      "'median radius=2 border=reflect' is not a node of a chain (write median=radius=2:border=reflect)");
  EXPECT_EQ(problem("median:radius=2"), "'median:radius=2' is not a node of a chain (write median=radius=2)");
}

}  // namespace
}  // namespace lensd

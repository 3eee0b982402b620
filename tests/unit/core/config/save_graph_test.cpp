// Saving a graph: comments and order are kept, the file reads back equal, and a kill leaves a complete file.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <random>
#include <thread>

#include "core/base/error.hpp"
#include "core/base/whole_file.hpp"
#include "core/config/save.hpp"
#include "core/config/toml_text.hpp"
#include "kernels/registry.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCommented = R"(# A file of one's own, with a ü.
# It says much.

[source]
url = "clip.mp4"      # the usual one

[graph]
output = "mix"        # what is shown

# Denoise: first of all.

[[node]]
id = "clean"
filter = "median"
radius = 3            # removes specks
# border = "wrap"

[[node]]              # edges
id = "edges"
filter = 'canny'
  low = 40
high = 110.5   # strong

# Over each other.
[[node]]
id = "mix"
filter = "blend"
inputs = ["clean", "edges"]
mode = "screen"
enabled = true

# The end.
)";

GraphDesc parsed(const std::string& text) {
  Config config;
  const auto problems = parse_config(text, "test", registry(), config);
  EXPECT_TRUE(problems.empty()) << problems.front() << "\n" << text;
  return config.graph.value_or(resolved(GraphDesc{}, registry()));
}

void give(GraphDesc& graph, const char* node, const char* param, ParamValue value) {
  auto& params = graph.find(node)->params;
  std::erase_if(params, [&](const auto& p) { return p.first == param; });
  params.emplace_back(param, std::move(value));
}

std::string saved(const GraphDesc& graph, const std::string& base) {
  const std::string text = graph_text(graph, base, "test", registry());
  EXPECT_TRUE(equivalent(parsed(text), graph, registry())) << text;
  return text;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(SaveGraph, AnUnchangedGraphKeepsTheText) {
  EXPECT_EQ(saved(parsed(kCommented), kCommented), kCommented);
  for (const char* folder : {"/config/graphs", "/config/presets"})
    for (const auto& file : fs::directory_iterator(std::string(LENSD_SOURCE_DIR) + folder)) {
      const std::string text = read_whole_file(file.path().string(), kMaxConfigBytes).value();
      EXPECT_EQ(saved(parsed(text), text), text) << file.path();
    }
}

TEST(SaveGraph, ValuesChangeInPlaceWithTheirCommentsInTheirColumns) {
  GraphDesc graph = parsed(kCommented);
  give(graph, "clean", "radius", int64_t{12});
  give(graph, "edges", "high", 99.0);
  give(graph, "mix", "mode", std::string("multiply"));
  std::string wanted = replaced(kCommented, "radius = 3            #", "radius = 12           #");
  wanted = replaced(wanted, "110.5   #", "99      #");
  wanted = replaced(wanted, "\"screen\"", "\"multiply\"");
  EXPECT_EQ(saved(graph, kCommented), wanted);
}

TEST(SaveGraph, NewKeysComeBelowTheNodesOwn) {
  GraphDesc graph = parsed(kCommented);
  give(graph, "clean", "border", std::string("wrap"));
  graph.find("edges")->enabled = false;
  graph.find("mix")->enabled = false;
  std::string wanted = replaced(kCommented, "# removes specks\n", "# removes specks\nborder = \"wrap\"\n");
  wanted = replaced(wanted, "# strong\n", "# strong\nenabled = false\n");
  wanted = replaced(wanted, "enabled = true", "enabled = false");
  EXPECT_EQ(saved(graph, kCommented), wanted);
}

TEST(SaveGraph, NodesMoveWithTheirCommentsAndGoWithThem) {
  GraphDesc graph = parsed(kCommented);
  graph.nodes.erase(graph.nodes.begin());
  graph.find("edges")->inputs = {"source"};
  graph.find("mix")->inputs = {"source", "edges"};
  std::string text = saved(graph, kCommented);
  EXPECT_EQ(text.find("Denoise"), std::string::npos);
  for (const char* kept : {"with a ü", "# the usual one", "# what is shown", "# edges", "# Over each other.",
                           "# The end.", "high = 110.5   # strong"})
    EXPECT_NE(text.find(kept), std::string::npos) << kept << "\n" << text;

  graph = parsed("[[node]]\nfilter = \"median\"  # one\n\n# about two\n[[node]]\nfilter = \"invert\"\n");
  std::swap(graph.nodes[0], graph.nodes[1]);
  graph.nodes[0].inputs = {"source"}, graph.nodes[1].inputs = {"invert"}, graph.output = "median";
  EXPECT_EQ(
      saved(graph, "[[node]]\nfilter = \"median\"  # one\n\n# about two\n[[node]]\nfilter = \"invert\"\n"),
      "# about two\n[[node]]\nfilter = \"invert\"\n\n[[node]]\nfilter = \"median\"  # one\n");
}

TEST(SaveGraph, NewNodesComeInTheirPlace) {
  GraphDesc graph = parsed(kCommented);
  NodeDesc blur;
  blur.id = "soft", blur.filter = "gaussian", blur.inputs = {"clean"}, blur.params = {{"sigma", 2.5}};
  graph.nodes.insert(graph.nodes.begin() + 1, blur);
  graph.find("edges")->inputs = {"soft"};
  const std::string text = saved(graph, kCommented);
  EXPECT_NE(text.find("[[node]]\nid = \"soft\"\nfilter = \"gaussian\"\nsigma = 2.5\n"), std::string::npos)
      << text;
  EXPECT_LT(text.find("\"soft\""), text.find("\"edges\""));
  EXPECT_NE(text.find("# edges"), std::string::npos);
}

TEST(SaveGraph, OutputsAndEmptyGraphs) {
  GraphDesc graph = parsed(kCommented);
  graph.output = "edges";
  EXPECT_EQ(saved(graph, kCommented),
            replaced(kCommented, "output = \"mix\"        #", "output = \"edges\"      #"));
  const std::string chain = "# mine\n\n[[node]]\nfilter = \"median\"\n\n[[node]]\nfilter = \"invert\"\n";
  graph = parsed(chain);
  graph.output = "median";
  EXPECT_EQ(saved(graph, chain),
            "# mine\n\n[graph]\noutput = \"median\"\n\n[[node]]\nfilter = \"median\"\n\n"
            "[[node]]\nfilter = \"invert\"\n");
  const GraphDesc none = parsed("");
  EXPECT_EQ(saved(none, ""), "[graph]\noutput = \"source\"\n");
  EXPECT_TRUE(parsed(saved(none, kCommented)).nodes.empty());
}

TEST(SaveGraph, TextThatCannotBeEditedIsRewrittenWithItsOtherTables) {
  const std::string inline_nodes =
      "node = [{filter = \"median\", radius = 2}, {filter = \"invert\"}]\nwindow = {width = 800, height = "
      "600}\n";
  GraphDesc graph = parsed(inline_nodes);
  give(graph, "median", "radius", int64_t{5});
  Config config;
  EXPECT_TRUE(parse_config(saved(graph, inline_nodes), "test", registry(), config).empty());
  EXPECT_EQ(config.window_width, 800);
}

/// Returns the configuration after `graph` was saved into `base`.
Config config_after(const GraphDesc& graph, const std::string& base) {
  Config config;
  const std::string text = saved(graph, base);
  const auto problems = parse_config(text, "test", registry(), config);
  EXPECT_TRUE(problems.empty()) << problems.front() << "\n" << text;
  return config;
}

TEST(SaveGraph, SettingsOfTheGraphTableAreKeptInEveryForm) {
  const GraphDesc one = parsed("[[node]]\nfilter = \"median\"\n"), none = parsed("");
  for (const char* base : {"graph.precision = 16\n", "graph = {precision = 16}\n",
                           "graph = {precision = 16, output = \"source\"}\n",
                           "graph.precision = 16\ngraph.output = \"source\"\n", "[graph]\nprecision = 16\n",
                           "graph.precision = 16\nnode = [{filter = \"invert\"}]\n"})
    for (const GraphDesc* graph : {&one, &none})
      EXPECT_EQ(config_after(*graph, base).precision, Precision::sixteen) << base;
}

TEST(SaveGraph, EveryStringOfARewrittenFileReadsBack) {
  const GraphDesc graph = parsed("[[node]]\nfilter = \"median\"\n");
  const std::string strings[] = {
      "a\nb", "tab\there", "quote\"s' and \\", "\x7f",  "\x1b[31m", "'''", "\"\"\"",
      "\r\n", "",          "\u0085\u2028",     "\x01'", "ü"};
  for (const std::string& text : strings) {
    const std::string quoted = toml_quoted(text);
    const Config config = config_after(
        graph, fmt::format("graph.precision = 16\nsource.url = {0}\n[output]\nurl = {0}\n", quoted));
    EXPECT_EQ(config.source_url, text);
    EXPECT_EQ(config.output_url, text);
    EXPECT_EQ(config.precision, Precision::sixteen);
  }
}

/// Saves every filter with random values of its parameters. saved() checks that they are read back.
TEST(SaveGraph, EveryKindOfValueReadsBack) {
  std::mt19937 random(7);
  for (const FilterEntry& filter : registry().filters) {
    NodeDesc node;
    node.id = "back\\slash_näme", node.filter = filter.schema().name;
    node.inputs.assign(static_cast<size_t>(filter.min_inputs), kSourceNode);
    GraphDesc graph;
    graph.nodes = {node}, graph.output = node.id;
    std::string base;
    for (int round = 0; round < 4; ++round) {
      for (const ParamSpec& spec : filter.schema().params) {
        const double at = std::uniform_real_distribution<>(spec.min, std::max(spec.min, spec.max))(random);
        ParamValue value = spec.default_value, checked;
        if (spec.type == ParamType::boolean) value = random() % 2 == 0;
        if (spec.type == ParamType::integer)
          value = static_cast<int64_t>(at) | (spec.widget == Widget::odd_slider);
        if (spec.type == ParamType::real) value = at;
        if (spec.type == ParamType::choice) value = spec.choices[random() % spec.choices.size()];
        if (spec.type == ParamType::text)
          value = std::string(round % 2 ? "\"\\\t\n ü" : "gaussian(1.2), sharpen");
        if (spec.type == ParamType::matrix)
          value = Matrix{3, 5, {1, -2.5, 1e-7, 0.1, 1e5, 0, 0, 1, 0, 0, 3, 3, 3, 3, 3}};
        if (!spec.check(value, checked)) give(graph, node.id.c_str(), spec.name.c_str(), checked);
      }
      base = saved(graph, base);
    }
  }
}

TEST(SaveGraph, AnInvalidFileIsNotOverwritten) {
  EXPECT_THROW(graph_text(parsed(kCommented), "[[node]]\nfilter = \"nosuch\"\n", "mine.toml", registry()),
               Error);
}

class InFolder : public ::testing::Test {
 protected:
  static std::string content(const fs::path& path) {
    return read_whole_file(path.string(), kMaxConfigBytes).value_or("(no file)");
  }
  TemporaryFolder folder;
};

using WholeFile = InFolder;

TEST_F(InFolder, ThePrecisionIsSavedWithTheGraph) {
  const std::string path = folder / "a.toml", node = "[[node]]\nfilter = \"median\"\n";
  const GraphDesc graph = parsed(node.c_str());
  const struct {
    std::string base;
    Precision precision;
    std::string wanted;
  } cases[] = {
      {node, Precision::automatic, node},
      {"# mine\n\n" + node, Precision::sixteen, "# mine\n\n[graph]\nprecision = 16\n\n" + node},
      {node, Precision::eight, "[graph]\nprecision = 8\n\n" + node},
      {"[graph] # ü\nprecision = 8 # was enough\n" + node, Precision::sixteen,
       "[graph] # ü\nprecision = 16 # was enough\n" + node},
      {"[graph]\nprecision = \"16\"\n" + node, Precision::automatic,
       "[graph]\nprecision = \"auto\"\n" + node},
      {"[http]\nport = 8080\n\n[graph]\noutput = \"median\"\n\n" + node, Precision::sixteen,
       "[http]\nport = 8080\n\n[graph]\nprecision = 16\noutput = \"median\"\n\n" + node},
      {"graph.precision = 8\n" + node, Precision::sixteen, "[graph]\nprecision = 16\n\n" + node},
      {"graph = {output = \"mädian\", precision = 8}\n[[node]]\nid = \"mädian\"\nfilter = \"median\"\n",
       Precision::sixteen, "[graph]\nprecision = 16\n\n" + node},
      {"graph = {output = \"median\"}\n" + node, Precision::eight, "[graph]\nprecision = 8\n\n" + node},
      {"graph.output = \"median\"\n" + node, Precision::sixteen, "[graph]\nprecision = 16\n\n" + node},
  };
  for (const auto& one : cases) {
    save_graph_as(path, {graph, one.precision}, one.base, registry());
    EXPECT_EQ(content(path), one.wanted);
  }
}

TEST_F(WholeFile, MakesFoldersKeepsModesAndFollowsLinks) {
  const fs::path file = folder / "deep/er/a.toml";
  write_whole_file(file.string(), "one", Flush::to_disk);
  EXPECT_EQ(content(file), "one");
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  const fs::path link = folder / "link.toml";
  fs::create_symlink(file, link);
  write_whole_file(link.string(), "two", Flush::to_disk);
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(content(file), "two");
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(std::distance(fs::directory_iterator(file.parent_path()), fs::directory_iterator()), 1)
      << "no temporary file is left";
}

TEST_F(WholeFile, WritesToAPipeWithoutReplacingIt) {
  const std::string pipe = folder / "pipe", link = folder / "link";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  fs::create_symlink(pipe, link);
  EXPECT_THROW(write_whole_file(link, "nobody reads", Flush::none), Error);
  auto reader = std::async(std::launch::async, [&] { return content(pipe); });
  const std::string text(300'000, 'x');  // more than a pipe holds
  write_whole_file(link, text, Flush::to_disk);
  EXPECT_TRUE(fs::is_fifo(pipe) && fs::is_symlink(link));
  EXPECT_EQ(reader.get(), text);
}

TEST_F(WholeFile, ReportsWhyItCannotBeWritten) {
  write_whole_file(folder / "file", "x", Flush::none);
  for (const std::string& path : {folder.path().string(), folder / "file/below", std::string("/proc/x.toml")})
    EXPECT_THROW(write_whole_file(path, "y", Flush::none), Error) << path;
  EXPECT_EQ(content(folder / "file"), "x");
}

/// A child process saves two graphs in turn and is killed at a random time. The file must be one of them,
/// complete.
TEST_F(WholeFile, AKillLeavesACompleteFile) {
  const fs::path file = folder / "preset.toml";
  GraphDesc small = parsed(kCommented), large = small;
  for (int i = 0; i < 200; ++i) {
    NodeDesc node;
    node.id = fmt::format("n{}", i), node.filter = "median", node.inputs = {large.output};
    node.params = {{"radius", int64_t{2 + i % 20}}};
    large.output = node.id;
    large.nodes.push_back(node);
  }
  save_graph_as(file.string(), {small, Precision::automatic}, kCommented, registry());
  const std::string one = content(file);
  save_graph_as(file.string(), {large, Precision::automatic}, kCommented, registry());
  const std::string other = content(file);
  ASSERT_NE(one, other);
  const char* value = std::getenv("LENSD_LONG");
  const int rounds = value && *value == '1' ? 500 : 50;
  std::mt19937 random(11);
  int changed = 0;
  std::string before = other;
  for (int round = 0; round < rounds; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (;;) {
        write_whole_file(file.string(), one, Flush::to_disk);
        write_whole_file(file.string(), other, Flush::to_disk);
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20000));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    const std::string now = content(file);
    ASSERT_TRUE(now == one || now == other) << "round " << round << ": " << now.size() << " bytes";
    changed += now != before;
    before = now;
  }
  EXPECT_GT(changed, 0) << "the child never saved";
}

}  // namespace
}  // namespace lensd

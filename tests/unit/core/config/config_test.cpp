// core/config: precedence of files, variables and --set; reported problems; the schema; file watching
// for every way of saving; pipes.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/base/error.hpp"
#include "core/base/text/text.hpp"
#include "core/config/keys.hpp"
#include "core/config/layers.hpp"
#include "core/config/schema.hpp"
#include "core/config/watch.hpp"
#include "kernels/registry.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

std::string problems_of(const Layers& layers) {
  try {
    load_layers(layers, registry());
    return "";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::invalid_config);
    return e.what();
  }
}

TEST(Layers, LaterPlacesWin) {
  const TemporaryFolder folder;
  write_text(folder / "a.toml",
             "[http]\nport = 1000\n[log]\nlevel = \"info\"\n[[node]]\nfilter = \"median\"\nradius = 2\n");
  write_text(folder / "b.toml", "[http]\nport = 2000\nstream_fps = 5\n");
  Layers layers{.files = {folder / "a.toml", folder / "b.toml"}};
  EXPECT_EQ(load_layers(layers, registry()).config.http_port, 2000);
  EXPECT_EQ(load_layers(layers, registry()).config.log_level, "info");
  layers.environment = {{"LENSD_HTTP_PORT", "3000"},
                        {"LENSD_HTTP_AUTH", "false"},
                        {"LENSD_SET", "median.radius=3; median.enabled=false"},
                        {"LENSD_UI_MAP", "nothing of ours"}};
  Layered layered = load_layers(layers, registry());
  EXPECT_EQ(layered.config.http_port, 3000);
  EXPECT_EQ(layered.config.http_auth, false);
  EXPECT_EQ(layered.config.http_stream_fps, 5);
  EXPECT_EQ(to_chain(layered.graph), "median=radius=3");
  EXPECT_FALSE(layered.graph.nodes[0].enabled);
  layers.sets = {"median.radius=4"};
  EXPECT_EQ(to_chain(load_layers(layers, registry()).graph), "median=radius=4");
  layers.environment.emplace_back("LENSD_GRAPH", "median=radius=9,invert");
  EXPECT_EQ(load_layers(layers, registry()).graph.nodes.size(), 2u);
  layers.graph_spec = "median,mosaic,invert";
  EXPECT_EQ(load_layers(layers, registry()).graph.nodes.size(), 3u);
}

TEST(Layers, ReportEverythingAtOnceAndRefuseUnknownVariables) {
  const TemporaryFolder folder;
  write_text(folder / "a.toml", "[http]\nport = 99999\nports = 1\n");
  write_text(folder / "b.toml", "[[node]]\nfilter = \"median\"\nradius = 99\n");
  const std::string problems =
      problems_of({.files = {folder / "a.toml", folder / "b.toml", folder / "c.toml"},
                   .environment = {{"LENSD_HTTP_PROT", "1"}, {"LENSD_LOG_LEVEL", "loud"}}});
  for (const char* part :
       {"a.toml:2:8", "a.toml:3:1", "b.toml:3:10", "c.toml", "LENSD_HTTP_PROT", "LENSD_LOG_LEVEL"})
    EXPECT_NE(problems.find(part), std::string::npos) << part << " in\n" << problems;
  EXPECT_NE(problems_of({.sets = {"nobody.radius=1"}}).find("nobody"), std::string::npos);
  EXPECT_NE(problems_of({.environment = {{"LENSD_SET", "median.radius"}}}).find("node.parameter"),
            std::string::npos);
  EXPECT_NE(problems_of({.environment = {{"LENSD_HTTP", "8080"}}}).find("LENSD_HTTP_"), std::string::npos);
  EXPECT_EQ(problems_of({.environment = {{"LENSD_GRAPH", "median"}}}), "");
  EXPECT_EQ(problems_of({}), "");
}

TEST(Config, ProblemsAreCompleteAndInLineOrder) {
  Config config;
  const std::vector<std::string> problems = parse_config(
      "[window]\nwidht = 3\nvsync = 7\n"                            // lines 1 to 3
      "[record]\ncrf = \"x\"\n"                                     // 4, 5
      "[[node]]\nfilter = 3\nenabled = 4\nid = 5\n"                 // 6 to 9
      "[[node]]\nfilter = \"medain\"\n"                             // 10, 11
      "[[node]]\nfilter = \"median\"\nradius = true\nradios = 1\n"  // 12 to 15
      "[htpp]\nport = 1\n",
      "a.toml", registry(), config);
  std::vector<std::string> starts;
  for (const std::string& p : problems) starts.push_back(p.substr(0, p.find(':', 7)));
  EXPECT_EQ(starts,
            (std::vector<std::string>{"a.toml:2", "a.toml:3", "a.toml:5", "a.toml:7", "a.toml:8", "a.toml:9",
                                      "a.toml:10", "a.toml:14", "a.toml:15", "a.toml:16"}));
  const std::string all = fmt::format("{}", fmt::join(problems, "\n"));
  for (const char* name : {"width", "median", "radius", "http"})
    EXPECT_NE(all.find(fmt::format("did you mean {}?", name)), std::string::npos) << name << " in\n" << all;
}

TEST(Config, ProblemsOfTheWholeGraphHaveALine) {
  Config config;
  EXPECT_EQ(parse_config("[[node]]\nid = \"a\"\nfilter = \"invert\"\ninput = \"b\"\n"    // lines 1 to 4
                         "[[node]]\nid = \"b\"\nfilter = \"invert\"\n"                   // 5 to 7
                         "[[node]]\nid = \"c\"\nfilter = \"invert\"\n"                   // 8 to 10
                         "[[node]]\nid = \"c\"\nfilter = \"invert\"\n"                   // 11 to 13
                         "[[node]]\nid = \"source\"\nfilter = \"invert\"\nradius = 1\n"  // 14 to 17
                         "[graph]\noutput = \"nowhere\"\n",
                         "a.toml", registry(), config),
            (std::vector<std::string>{"a.toml:1:1: there is a cycle through a, b",
                                      "a.toml:11:1: two nodes have the id 'c'",
                                      "a.toml:14:1: the id 'source' stands for the decoded picture",
                                      "a.toml:17:1: invert: there is no parameter 'radius' (invert has none)",
                                      "a.toml:19:10: the output 'nowhere' is not a node"}));
  const std::string name(65, 'x');
  EXPECT_EQ(parse_config("[graph]\noutput = \"" + name + "\"\n", "a.toml", registry(), config),
            std::vector<std::string>{"a.toml:2:10: the output: 65 bytes of id, the limit is 64"});
}

TEST(Config, ProblemsShowNoSecrets) {
  const TemporaryFolder folder;
  write_text(folder / "a.toml",
             "[http]\ntoken = 4711\nport = \"x\"\n[source]\noptions = [4712]\nurl = 4713\n");
  Layers layers;
  layers.files = {folder / "a.toml"};
  const std::string problems = problems_of(layers);
  EXPECT_NE(problems.find("token = … is not allowed, expected text"), std::string::npos) << problems;
  EXPECT_NE(problems.find("port = 'x'"), std::string::npos) << problems;
  EXPECT_EQ(problems.find("471"), std::string::npos) << problems;
}

TEST(Config, SyntaxErrorsHaveOneLine) {
  for (const std::string text : {"bend = f\nid = 3", "ä = 1", "é", "\xC3\xA4\xD1\x85 = 2", "a = \"\x01\""}) {
    Config config;
    const auto problems = parse_config(text, "a.toml", registry(), config);
    ASSERT_FALSE(problems.empty()) << text;
    EXPECT_EQ(problems[0].find('\n'), std::string::npos) << problems[0];
  }
}

TEST(Config, NamesWithLineBreaksStayOnOneLine) {
  for (const std::string text : {"\"a\\nb\" = 1", "[source]\n\"u\\nx\" = 1", "[\"t\\u001b\"]\nx = 1",
                                 "[[node]]\nfilter = \"a\\nb\"", "[log]\nlevel = \"a\\nb\"", "a = "}) {
    Config config;
    const auto problems = parse_config(text, "a\n\x1b[31mb.toml", registry(), config);
    ASSERT_EQ(problems.size(), 1u) << text;
    EXPECT_FALSE(has_control_character(problems[0])) << problems[0];
    EXPECT_TRUE(problems[0].starts_with("a  [31mb.toml:")) << problems[0];
  }
}

TEST(Config, SyntaxErrorsShowNoNumbers) {
  for (const char* text :
       {"[http]\ntoken = 12345678901234567890\n", "http.token = 0x123456789012345678901\n",
        "http = {token = [\n 12345678901234567890 ]}\n", "[http]\ntoken = 123456789012e9999\n"}) {
    Config config;
    const auto problems = parse_config(text, "a.toml", registry(), config);
    ASSERT_EQ(problems.size(), 1u) << text;
    EXPECT_EQ(problems[0].find("123456"), std::string::npos) << problems[0];
    EXPECT_NE(problems[0].find("'…'"), std::string::npos) << problems[0];
  }
  Config config;
  const auto problems = parse_config("[http]\nport = 1\nport = 2\n", "a.toml", registry(), config);
  EXPECT_NE(problems.at(0).find("'port'"), std::string::npos) << "names stay: " << problems[0];
}

TEST(Config, ControlsOfACameraAreATable) {
  const TemporaryFolder folder;
  write_text(
      folder / "a.toml",
      "[source]\nurl = \"/dev/video0\"\n[source.controls]\ngain = 20\nmirror = true\nmode = \"Manual\"\n");
  write_text(folder / "b.toml", "[source.controls]\ngain = 30\nzoom = 2\n");
  Layers layers{.files = {folder / "a.toml", folder / "b.toml"}};
  layers.command_line.source_controls = {{"zoom", std::string("3")}};
  const ControlValues expected{
      {"gain", int64_t{30}}, {"mirror", true}, {"mode", std::string("Manual")}, {"zoom", std::string("3")}};
  EXPECT_EQ(load_layers(layers, registry()).config.source_controls, expected);

  const std::string bad = folder / "bad.toml";
  write_text(bad, "[source.controls]\nGain = 20\nzoom = 1.5\nareas = [1, 2]\n");
  EXPECT_EQ(problems_of({.files = {bad}}),
            fmt::format(
                "{0}:2:1: a control is named as in lensd doctor, not 'Gain' (did you mean gain?)\n"
                "{0}:3:8: zoom = 1.5 is not allowed, expected a whole number, true, false or text in quotes\n"
                "{0}:4:9: areas = [ 1, 2 ] is not allowed, expected a whole number, true, false or text in "
                "quotes",
                bad));
  write_text(bad, "[source]\ncontrols = 5\n");
  EXPECT_EQ(problems_of({.files = {bad}}), bad + ":2:12: 'controls' must be a table: [source.controls]");
}

TEST(Schema, HasEveryKeyAndFilter) {
  const auto schema = nlohmann::json::parse(config_schema(registry()));
  for (const ConfigTable& table : config_tables())
    for (const ParamSpec& key : table.params) {
      const auto& property = schema["properties"][table.name]["properties"][key.name];
      EXPECT_EQ(property["description"].get<std::string>().substr(0, key.doc.size()), key.doc);
      EXPECT_FALSE(property["default"].is_null()) << key_name(table, key);
      ParamValue ignored;
      EXPECT_FALSE(key.check(key.default_value, ignored)) << key_name(table, key);
    }
  EXPECT_EQ(schema["properties"]["node"]["items"]["oneOf"].size(), registry().filters.size());
}

/// Returns true if the watch reports a changed text within two seconds.
bool notices(ConfigWatch& watch) {
  for (int i = 0; i < 40; ++i) {
    pollfd waiting{watch.fd(), POLLIN, 0};
    if (poll(&waiting, 1, 50) > 0) watch.drain();
    if (watch.changed()) return true;
  }
  return false;
}

TEST(ConfigWatch, SeesEveryWayOfSaving) {
  const TemporaryFolder folder;
  const std::string file = folder / "a.toml";
  write_text(file, "# 1\n");
  ConfigWatch watch({file});
  write_text(file, "# 2\n");
  EXPECT_TRUE(notices(watch)) << "truncate and write";
  write_text(folder / "a.tmp", "# 3\n");
  fs::rename(folder / "a.tmp", file);
  EXPECT_TRUE(notices(watch)) << "rename over";
  fs::remove(file);
  EXPECT_FALSE(notices(watch)) << "deleted: the old text stays";
  write_text(file, "# 4\n");
  EXPECT_TRUE(notices(watch)) << "delete and create";
  write_text(file, "# 4\n");
  EXPECT_FALSE(notices(watch)) << "the same text again is no change";
}

// `mv new.toml lensd.toml`, then `chmod 644 lensd.toml`. Root can read every file, but no folder as a file.
TEST(ConfigWatch, ReadsAnUnreadableFileAgainWhenItsPermissionsChange) {
  const TemporaryFolder folder;
  const std::string file = folder / "a.toml";
  write_text(file, "# 1\n");
  ConfigWatch watch({file});
  ASSERT_EQ(watch.wait_ms(), -1);
  fs::permissions(file, fs::perms::owner_all);
  watch.drain();
  EXPECT_EQ(watch.wait_ms(), -1) << "it was readable, and may just be written";
  fs::create_directory(folder / "unreadable");
  fs::remove(file);
  fs::rename(folder / "unreadable", file);
  EXPECT_FALSE(notices(watch));
  ASSERT_EQ(watch.wait_ms(), -1);
  fs::permissions(file, fs::perms::owner_all);
  watch.drain();
  EXPECT_GE(watch.wait_ms(), 0);
}

TEST(ConfigWatch, IsNotDelayedByOtherFiles) {
  const TemporaryFolder folder;
  const std::string file = folder / "a.toml";
  write_text(file, "# 1\n");
  ConfigWatch watch({file});
  const auto notices_while_writing = [&](const std::string& busy, const std::string& text) {
    for (int i = 0; i < 80; ++i) {  // shorter than the rest time, for two seconds or more
      std::this_thread::sleep_for(std::chrono::milliseconds(25));
      write_text(folder / busy, text);
      watch.drain();
      if (watch.changed()) return true;
    }
    return false;
  };
  write_text(file, "# 2\n");
  EXPECT_TRUE(notices_while_writing("status.txt", "busy")) << "another file";
  EXPECT_EQ(watch.wait_ms(), -1) << "events of other files do not count";
  EXPECT_TRUE(notices_while_writing("a.toml", "# 3\n")) << "the file itself, written all the time";
}

TEST(ConfigWatch, FollowsFoldersThatAreReplaced) {
  const TemporaryFolder folder;
  const std::string file = folder / "outer/etc/a.toml";
  const auto make = [&](const std::string& outer, const std::string& text) {
    fs::create_directories(folder / (outer + "/etc"));
    write_text(folder / (outer + "/etc/a.toml"), text);
  };
  make("outer", "# 1\n");
  ConfigWatch watch({file});
  fs::remove_all(folder / "outer/etc");
  make("outer", "# 2\n");
  EXPECT_TRUE(notices(watch)) << "deleted and created";
  write_text(file, "# 3\n");
  EXPECT_TRUE(notices(watch)) << "the new folder is watched";
  fs::remove_all(folder / "outer");
  EXPECT_FALSE(notices(watch)) << "deleted: the old text stays";
  make("outer", "# 4\n");
  EXPECT_TRUE(notices(watch)) << "created after a while";
  make("other", "# 5\n");
  fs::rename(folder / "outer/etc", folder / "old");
  fs::rename(folder / "other/etc", folder / "outer/etc");
  EXPECT_TRUE(notices(watch)) << "renamed";
  make("third", "# 6\n");
  fs::rename(folder / "outer", folder / "away");
  fs::rename(folder / "third", folder / "outer");
  EXPECT_TRUE(notices(watch)) << "the folder above was renamed";
  write_text(file, "# 7\n");
  EXPECT_TRUE(notices(watch)) << "the renamed folder is watched";
}

TEST(ConfigWatch, FollowsLinksThatAreSwapped) {
  const TemporaryFolder folder;
  for (const char* version : {"v1", "v2"}) {
    fs::create_directory(folder / version);
    write_text((folder / version) + "/a.toml", std::string("# ") + version);
  }
  fs::create_directory(folder / "etc");
  fs::create_directory_symlink("../v1", folder / "etc/data");
  fs::create_symlink("data/a.toml", folder / "etc/a.toml");
  ConfigWatch watch({folder / "etc/a.toml"});
  fs::create_directory_symlink("../v2", folder / "etc/data.tmp");
  fs::rename(folder / "etc/data.tmp", folder / "etc/data");
  EXPECT_TRUE(notices(watch)) << "a folder on the way was swapped";
  write_text(folder / "v2/a.toml", "# 3");
  EXPECT_TRUE(notices(watch)) << "and its file is the one that is watched now";
}

TEST(ConfigWatch, IgnoresAPathThatIsNoRegularFile) {
  const TemporaryFolder folder;
  const std::string file = folder / "a.toml";
  write_text(file, "# 1\n");
  ConfigWatch watch({file});
  const auto become = [&](const char* what) {
    fs::remove(file);
    if (std::string(what) == "fifo") {
      ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
    } else {
      fs::create_symlink(what, file);
    }
  };
  for (const char* what : {"fifo", "/dev/zero", "/dev/full", "/"}) {
    become(what);
    // If the watch read such a file, a FIFO would block here and /dev/zero would fill the memory.
    EXPECT_FALSE(notices(watch)) << what;
    Layers layers;
    layers.files = {file}, layers.kind = FileKind::regular;
    EXPECT_THROW(load_layers(layers, registry()), Error) << what;
  }
  fs::remove(file);
  write_text(file, "# 2\n");
  EXPECT_TRUE(notices(watch));
}

TEST(ConfigText, PipesAreReadToTheirEndAndWithinTheLimit) {
  const TemporaryFolder folder;
  const std::string file = folder / "pipe";
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  std::thread writer([&] {
    std::ofstream out(file);
    out << "# one\n" << std::flush;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    out << "# two\n";
  });
  EXPECT_EQ(read_config_text(file), "# one\n# two\n");
  writer.join();
  EXPECT_THROW(read_config_text("/dev/zero"), Error);
}

}  // namespace
}  // namespace lensd

// core/control: the command table, properties, and parsing of requests.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "core/base/error.hpp"
#include "core/control/commands.hpp"
#include "tests/unit/core/control/fake_target.hpp"

namespace lensd {
namespace {

TEST(Commands, AllAreDescribedAndFound) {
  for (const CommandSpec& command : command_table()) {
    EXPECT_EQ(find_command(command.name), &command);
    if (command.alias) {
      EXPECT_EQ(find_command(command.alias), &command);
    }
    EXPECT_TRUE(command_usage(command).starts_with(command.name));
    EXPECT_GT(std::string(command.doc).size(), 5u) << command.name;
  }
  EXPECT_EQ(find_command("format-disk"), nullptr);
  EXPECT_EQ(command_usage(*find_command("seek")), "seek SECONDS [MODE]");
  EXPECT_EQ(command_usage(*find_command("record")), "record [on|off] [PATH] [output|source]");
}

TEST(Commands, NameAtMost1024Properties) {
  FakeTarget target("canny@edges");
  Json get = Json::array({"get"}), set = Json::array({"set"});
  for (int i = 0; i < 1025; ++i) get.push_back("graph"), set.push_back("edges.low"), set.push_back(1);
  for (const Json& command : {get, set}) {
    const Response response = ask(target, command);
    EXPECT_EQ(response.status, Status::refused);
    EXPECT_NE(response.error.find("at most 1024"), std::string::npos) << response.error;
  }
  EXPECT_TRUE(target.posted().empty());
  get.erase(1);
  EXPECT_EQ(ask(target, get).error, "");
}

TEST(Commands, SetsSeveralValuesAsOneBatchOrNone) {
  FakeTarget target("canny@edges,invert");
  EXPECT_EQ(ask(target, {"set", "edges.low", 60, "edges.high", "170", "invert.enabled", false}).error, "");
  ASSERT_EQ(target.posted().size(), 1u);
  EXPECT_EQ(std::get<Batch>(target.posted()[0]).changes.size(), 3u);
  EXPECT_EQ(ask(target, {"get", "edges.high"}).data, 170);
  EXPECT_EQ(ask(target, {"get", "invert.enabled"}).data, false);

  const Response refused = ask(target, {"set", {{"edges.low", 61}, {"edges.high", 1e9}}});
  EXPECT_EQ(refused.status, Status::refused);
  EXPECT_NE(refused.error.find("high"), std::string::npos) << refused.error;
  EXPECT_EQ(target.posted().size(), 1u) << "a refused request applies nothing";
  EXPECT_EQ(ask(target, {"get", "edges.low"}).data, 60);
}

TEST(Commands, LoopFileKeepsTheABLoop) {
  FakeTarget target("canny@edges");
  EXPECT_EQ(ask(target, {"set", "loop-file", true}).error, "");
  ASSERT_EQ(target.posted().size(), 1u);
  ASSERT_TRUE(std::holds_alternative<SetFileLoop>(target.posted()[0]));
  EXPECT_TRUE(std::get<SetFileLoop>(target.posted()[0]).on);
}

TEST(Commands, RecordAcceptsSeveralForms) {
  using What = StartRecord::What;
  const struct {
    Json command;
    bool on;
    const char* path;
    What what;
  } cases[] = {
      {{"record"}, true, "", What::output},
      {{"record", "on"}, true, "", What::output},
      {{"record", true}, true, "", What::output},
      {{"record", "a.mkv"}, true, "a.mkv", What::output},
      {{"record", "on", "a.mkv", "source"}, true, "a.mkv", What::source},
      {{"record", "a.mkv", "source"}, true, "a.mkv", What::source},
      {{"record", "source"}, true, "", What::source},
      {{"record", "source", "a.mkv"}, true, "a.mkv", What::source},
      {{"record", "on", "on"}, true, "on", What::output},
      {{"record", {{"on", true}, {"path", "source"}}}, true, "source", What::output},
      {{"record", {{"path", "a.mkv"}, {"what", "source"}}}, true, "a.mkv", What::source},
      {{"record", {{"on", false}}}, false, "", What::output},
      {{"record", "off"}, false, "", What::output},
      {{"record", "stop"}, false, "", What::output},
      {{"record", false}, false, "", What::output},
  };
  for (const auto& c : cases) {
    FakeTarget target("invert");
    target.recording = !c.on;
    EXPECT_EQ(ask(target, c.command).error, "") << c.command;
    EXPECT_EQ(target.recording, c.on) << c.command;
    EXPECT_EQ(target.recorded.path, c.path) << c.command;
    EXPECT_EQ(target.recorded.what, c.what) << c.command;
  }
  for (const Json& wrong :
       {Json{"record", 1}, Json{"record", "off", "a.mkv"}, Json{"record", "a.mkv", "b.mkv"},
        Json{"record", {{"file", "a.mkv"}}}, Json{"record", "a.mkv", false}}) {
    FakeTarget target("invert");
    EXPECT_EQ(ask(target, wrong).status, Status::usage) << wrong;
  }
}

TEST(Commands, RecordChecksItsNamedArguments) {
  const struct {
    Json args;
    const char* error;
  } cases[] = {{{{"on", true}, {"what", "inputs"}}, "record: what: expected output or source"},
               {{{"what", nullptr}}, "record: what: expected output or source"},
               {{{"on", "a.mkv"}}, "record: on: expected true or false"},
               {{{"path", true}}, "record: path: expected text"},
               {{{"on", false}, {"path", "a.mkv"}}, "record: off takes no other arguments"},
               {{{"file", "a.mkv"}}, "record: the names are on, path and what"}};
  for (const auto& c : cases) {
    FakeTarget target("invert");
    const Response response = ask(target, {"record", c.args});
    EXPECT_EQ(response.status, Status::usage);
    EXPECT_EQ(response.error, c.error);
    EXPECT_FALSE(target.recording);
  }
}

TEST(Commands, VirtualCameraTakesAStateAndAName) {
  const struct {
    Json command;
    bool on;
    const char* name;
  } cases[] = {{{"virtual-camera"}, true, ""},         {{"virtual-camera", "on"}, true, ""},
               {{"virtual-camera", true}, true, ""},   {{"virtual-camera", "Desk"}, true, "Desk"},
               {{"virtual-camera", "off"}, false, ""}, {{"virtual-camera", "on", "off"}, true, "off"},
               {{"virtual-camera", false}, false, ""}};
  for (const auto& c : cases) {
    FakeTarget target("invert");
    target.camera_on = !c.on;
    EXPECT_TRUE(ask(target, c.command).ok()) << c.command;
    EXPECT_EQ(target.camera_on, c.on) << c.command;
    EXPECT_EQ(target.camera_name, c.name) << c.command;
  }
  for (const Json& command :
       {Json{"virtual-camera", 1}, Json{"virtual-camera", "off", "Desk"}, Json{"virtual-camera", "a", "b"}}) {
    FakeTarget target("invert");
    EXPECT_EQ(ask(target, command).status, Status::usage) << command;
  }
}

TEST(Commands, PauseTogglesAndRestartsAtTheEndOfAFile) {
  FakeTarget target("invert");
  const auto toggled = [&](const RunState& state) {
    target.set_state(state);
    EXPECT_EQ(ask(target, {"pause", "toggle"}).error, "");
    return std::get<Pause>(target.posted().back()).paused;
  };
  RunState state;
  state.seekable = true;
  EXPECT_TRUE(toggled(state));
  state.paused = true;
  EXPECT_FALSE(toggled(state));
  state.paused = false, state.ended = true;
  EXPECT_FALSE(toggled(state)) << "plays the file again";
  state.seekable = false;
  EXPECT_TRUE(toggled(state)) << "cannot seek back to the start";
}

TEST(Commands, RefuseWrongArgumentsWithAReason) {
  FakeTarget target("canny@edges");
  const struct {
    Json command;
    Status status;
    const char* text;
  } cases[] = {
      {{"set", "edges.low"}, Status::usage, "NAME VALUE"},
      {{"set", "edges.lo", 1}, Status::not_found, "no parameter 'lo'"},
      {{"set", "nobody.low", 1}, Status::not_found, "no node"},
      {{"set", "frame", 1}, Status::refused, "cannot be set"},
      {{"set", "edges.low", nullptr}, Status::refused, "expected"},
      {{"set", "edges.low", "nan"}, Status::refused, "low"},
      {{"get", "nothing"}, Status::not_found, "no property"},
      {{"get", 3}, Status::usage, "expected get"},
      {{"seek"}, Status::usage, "SECONDS"},
      {{"seek", 5}, Status::refused, "cannot seek"},
      {{"seek", 5, "sideways"}, Status::usage, "relative or absolute"},
      {{"speed", 0}, Status::refused, "0.01"},
      {{"pause", "maybe"}, Status::usage, "toggle"},
      {{"observe", "frame"}, Status::usage, "/events"},
      {{"graph-set", "median=radius=99"}, Status::refused, "radius"},
      {{"graph-set", {{"nodes", {{{"filter", "nope"}}}}}}, Status::refused, "nope"},
      {{"graph-set", 3}, Status::usage, "GRAPH"},
      {{"log-level", "loud"}, Status::refused, "trace"},
      {{"log-level", "critical"}, Status::refused, "trace"},
      {{"shell", "ls"}, Status::not_found, "no command"},
      {{}, Status::usage, "expected"},
  };
  for (const auto& c : cases) {
    const Response response = ask(target, c.command);
    EXPECT_EQ(response.status, c.status) << c.command.dump() << ": " << response.error;
    EXPECT_NE(response.error.find(c.text), std::string::npos) << c.command.dump() << ": " << response.error;
  }
  RunState seekable;
  seekable.seekable = true;
  target.set_state(seekable);
  for (const int64_t frames : {int64_t{0}, int64_t{1'000'001}, std::numeric_limits<int64_t>::min()})
    EXPECT_EQ(ask(target, {"step", frames}).status, Status::refused) << frames;
  EXPECT_EQ(ask(target, {"step", std::numeric_limits<uint64_t>::max()}).status, Status::refused) << "not -1";
  EXPECT_TRUE(target.posted().empty());
  target.full = true;
  EXPECT_EQ(ask(target, {"set", "edges.low", 10}).status, Status::busy);
}

TEST(Commands, GraphSetAcceptsTheOutputOfGraphGet) {
  FakeTarget target("median@soft=radius=2,convolve=preset=emboss");
  const Json graph = ask(target, {"graph-get"}).data;
  EXPECT_EQ(graph["nodes"][0]["params"]["radius"], 2);
  EXPECT_EQ(graph["chain"], "median@soft=radius=2,convolve=preset=emboss");
  Response later{Status::failed, "none"};
  run_command(target, {{"command", {"graph-set", graph}}}, nullptr,
              [&](Response a) { later = std::move(a); });
  EXPECT_EQ(later.error, "none") << "replies only after planning";
  target.reply_all();
  EXPECT_EQ(later.error, "");
}

TEST(Commands, EditTheGraphLikeTheViewer) {
  FakeTarget target("canny@edges=low=60,invert");
  const auto chain = [&] { return ask(target, {"graph-get"}).data["chain"].get<std::string>(); };
  EXPECT_EQ(ask(target, {"node-add", "median", "edges"}).data["node"], "median");
  EXPECT_EQ(chain(), "canny@edges=low=60,median,invert");
  EXPECT_EQ(ask(target, {"node-add", "median"}).data["node"], "median2") << "by default at the end";
  EXPECT_EQ(ask(target, {"node-add", "box", "source"}).error, "");
  EXPECT_EQ(chain(), "box,canny@edges=low=60,median,invert,median@median2");
  EXPECT_EQ(ask(target, {"node-move", "median2", 0}).error, "");
  EXPECT_EQ(ask(target, {"node-remove", "box"}).error, "");
  EXPECT_EQ(ask(target, {"node-rename", "median2", "soft"}).error, "");
  EXPECT_EQ(chain(), "median@soft,canny@edges=low=60,median,invert");
  EXPECT_EQ(ask(target, {"node-duplicate", "edges"}).data["node"], "edges2");
  EXPECT_EQ(ask(target, {"get", "edges2.low"}).data, 60);
  EXPECT_EQ(ask(target, {"node-reset", "edges"}).error, "");
  EXPECT_NE(ask(target, {"get", "edges.low"}).data, 60);
  EXPECT_EQ(ask(target, {"get", "edges2.low"}).data, 60);
  EXPECT_EQ(ask(target, {"graph-output", "soft"}).error, "");
  EXPECT_EQ(ask(target, {"get", "graph"}).data["output"], "soft");
  EXPECT_EQ(ask(target, {"node-add", "blend"}).error, "");
  EXPECT_EQ(ask(target, {"node-input", "blend", 1, "soft"}).error, "");
  EXPECT_EQ(ask(target, {"get", "graph"}).data["nodes"].back()["inputs"], Json({"invert", "soft"}));
  EXPECT_EQ(ask(target, {"graph-output", "source"}).error, "");
  EXPECT_EQ(ask(target, {"get", "graph"}).data["output"], "source");
  FakeTarget three("canny@edges,invert,median");
  EXPECT_EQ(ask(three, {"node-move", "edges", 2}).error, "") << "the last place";
  EXPECT_EQ(ask(three, {"graph-get"}).data["chain"], "invert,median,canny@edges");
}

TEST(Commands, RefuseImpossibleEditsOfTheGraph) {
  FakeTarget target("canny@edges,invert,difference");
  ASSERT_EQ(ask(target, {"node-input", "difference", 1, "edges"}).error, "");
  const Json before = ask(target, {"graph-get"}).data;
  const struct {
    Json command;
    Status status;
    const char* text;
  } cases[] = {
      {{"node-add", "medain"}, Status::not_found, "median"},
      {{"node-add", "median", "nobody"}, Status::not_found, "no node 'nobody'"},
      {{"node-add"}, Status::usage, "node-add FILTER [AFTER]"},
      {{"node-remove", "source"}, Status::not_found, "no node 'source'"},
      {{"node-remove", 3}, Status::usage, "NODE"},
      {{"node-move", "edges", 3}, Status::refused, "0 to 2"},
      {{"node-move", "edges", -1}, Status::refused, "0 to 2"},
      {{"node-move", "edges", std::numeric_limits<uint64_t>::max()}, Status::refused, "0 to 2"},
      {{"node-move", "edges", 1.5}, Status::usage, "PLACE"},
      {{"node-move", "difference", 0}, Status::refused, "cannot move above edges"},
      {{"node-rename", "edges", "invert"}, Status::refused, "already"},
      {{"node-rename", "edges", "a b"}, Status::refused, "spaces"},
      {{"node-rename", "edges", std::string(65, 'x')}, Status::refused, "64 bytes"},
      {{"node-duplicate", "nobody"}, Status::not_found, "no node"},
      {{"node-reset", "nobody"}, Status::not_found, "no node"},
      {{"node-input", "edges", 2, "source"}, Status::refused, "0 to 1"},
      {{"node-input", "edges", -1, "source"}, Status::refused, "0 to 1"},
      {{"graph-output", "nobody"}, Status::not_found, "no node"},
  };
  for (const auto& c : cases) {
    const Response response = ask(target, c.command);
    EXPECT_EQ(response.status, c.status) << c.command.dump() << ": " << response.error;
    EXPECT_NE(response.error.find(c.text), std::string::npos) << c.command.dump() << ": " << response.error;
  }
  EXPECT_EQ(ask(target, {"graph-get"}).data, before);
}

TEST(Commands, NamedArgumentsAreOrdered) {
  Json args;
  EXPECT_TRUE(positional(*find_command("seek"), {{"mode", "absolute"}, {"seconds", 3}}, args).ok());
  EXPECT_EQ(args, Json({3, "absolute"}));
  EXPECT_TRUE(positional(*find_command("set"), {{"a.b", 1}}, args).ok());
  EXPECT_EQ(args, Json::array({Json{{"a.b", 1}}}));
}

TEST(Commands, NamedArgumentsThatDoNotFitAreRefused) {
  Json args;
  const Response misspelled = positional(*find_command("step"), {{"frame", 5}}, args);
  EXPECT_EQ(misspelled.error, "step: the names of the arguments, in this order, are: frames");
  EXPECT_FALSE(positional(*find_command("seek"), {{"mode", "absolute"}}, args).ok()) << "seconds is missing";
  EXPECT_FALSE(positional(*find_command("version"), {{"x", 1}}, args).ok());
}

TEST(Requests, MustBeObjectsOfBoundedDepth) {
  Json request;
  EXPECT_TRUE(parse_request(R"({"command":["version"],"request_id":"x"})", request).ok());
  for (const std::string& text :
       {std::string("[]"), std::string("{"), std::string("{\"a\":\"\xff\"}"), std::string("{\"a\":1e999}"),
        R"({"command":[],"request_id":{}})" + std::string(),
        "{\"a\":" + std::string(5000, '[') + std::string(5000, ']') + "}"}) {
    EXPECT_NE(parse_request(text, request).error, "") << text.substr(0, 40);
  }
  EXPECT_EQ(response_line({}, 7), "{\"error\":\"success\",\"request_id\":7}\n");
  EXPECT_EQ(response_line({Status::not_found, "no"}, 7),
            "{\"error\":\"no\",\"request_id\":7,\"status\":\"not-found\"}\n");
  EXPECT_EQ(response_line({.data = "a\n\xff"}).find('\n'), response_line({.data = "a\n\xff"}).size() - 1);
}

TEST(Commands, ParametersOfANodeNamedColourTakePrecedence) {
  FakeTarget target("levels@colour=saturation=3");
  EXPECT_EQ(ask(target, {"get", "colour.saturation"}).data, 3.0);
  EXPECT_EQ(ask(target, {"set", "colour.saturation", 4, "colour.enabled", false}).error, "");
  ASSERT_EQ(target.posted().size(), 1u);
  EXPECT_EQ(std::get<Batch>(target.posted()[0]).changes.size(), 2u);
  EXPECT_EQ(ask(target, {"get", "colour.saturation"}).data, 4.0);
  EXPECT_EQ(ask(target, {"set", "colour.knee", 1}).error, "") << "the node has no such parameter";
  EXPECT_EQ(std::get<Batch>(target.posted().back()).colour->knee, 1);
  FakeTarget other("levels");
  EXPECT_EQ(ask(other, {"set", "colour.saturation", 1}).error, "");
  EXPECT_EQ(std::get<Batch>(other.posted().back()).colour->saturation, 1);
}

TEST(Commands, SettingsChangeWithTheGraphAsOneBatch) {
  FakeTarget target("canny@edges");
  const Json set = {"set", "precision", 16, "colour.knee", 1, "edges.low", 60, "colour.saturation", 0.5};
  EXPECT_EQ(ask(target, set).error, "");
  ASSERT_EQ(target.posted().size(), 1u);
  const Batch batch = std::get<Batch>(target.posted()[0]);
  EXPECT_EQ(batch.changes.size(), 1u);
  EXPECT_EQ(batch.precision, Precision::sixteen);
  ASSERT_TRUE(batch.colour);
  EXPECT_EQ(batch.colour->knee, 1);
  EXPECT_EQ(batch.colour->saturation, 0.5);
}

TEST(Commands, GraphSetRefusesIdsThatChainsCannotExpress) {
  FakeTarget target("invert");
  for (const char* id : {"a,b", "a:b", "a=b", "a@b", "a b", "a.b", "\"a\""}) {
    const Response response = ask(target, {"graph-set", {{"nodes", {{{"filter", "median"}, {"id", id}}}}}});
    EXPECT_EQ(response.status, Status::refused) << id;
    EXPECT_NE(response.error.find("a name cannot contain spaces, tabs or any of , : = @ . \" '"),
              std::string::npos)
        << response.error;
  }
}

}  // namespace
}  // namespace lensd

// The properties that belong to no node: what each one reads, and which values each one accepts.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/control/property_table.hpp"
#include "tests/unit/core/control/fake_target.hpp"

namespace lensd {
namespace {

/// A state in which all values are different.
RunState filled_state() {
  RunState s;
  s.paused = true, s.ended = true, s.bypass = true, s.loop_file = true, s.muted = true;
  s.speed = 1.5, s.volume = 70, s.sound = SoundState::no_track;
  s.position_ns = 2'500'000'000, s.duration_ns = 61'000'000'000, s.frame_index = 75, s.frame_estimated = true,
  s.rate = 29.987;
  s.precision = Precision::sixteen, s.bits = 16, s.device_bytes = 123456789;
  s.colour.peak = 400;
  s.source_url = "rtsp://camera/1", s.source_name = "door", s.source_state = "stalled";
  s.source_reason = "no picture", s.source_detail = "for 2 s";
  s.live_source = true, s.seekable = true, s.source_fps = 24, s.picture = {641, 239};
  s.live.nominal_rate = 25, s.live.rate = 24.98765, s.live.stream = "641×239 h264", s.live.reconnects = 11;
  s.live.camera_broken = 12, s.live.camera_missed = 13;
  s.fields = FieldOrder::top_first, s.video_track = 2, s.video_tracks = {"one", "two"};
  s.decoded = 101, s.processed = 102, s.late = 103, s.dropped = 104;
  s.reloads = 105, s.errors = 106, s.reloads_refused = 107;
  s.record = {.active = true,
              .path = "/clips/a.mkv",
              .frames = 201,
              .bytes = 202,
              .files = 203,
              .dropped = 204,
              .missed = 205,
              .wanted = true,
              .failures = 206,
              .problem = "the disk is slow"};
  s.stream = {.kind = SinkKind::stream,
              .path = "srt://there",
              .frames = 301,
              .bytes = 302,
              .dropped = 303,
              .state = "sending",
              .problem = "none"};
  s.virtual_camera = {.kind = SinkKind::virtual_camera,
                      .path = "lensd",
                      .frames = 401,
                      .dropped = 402,
                      .state = "waiting",
                      .wanted = true,
                      .problem = "nobody looks"};
  s.backend = "cuda", s.sizes = {{"source", {641, 239}}, {"small", {320, 119}}};
  return s;
}

TEST(PropertyTable, ReadsEachValueFromItsPlace) {
  FakeTarget target("invert@negative");
  target.set_state(filled_state());
  const std::pair<const char*, Json> expected[] = {
      {"pause", true},
      {"speed", 1.5},
      {"volume", 70},
      {"mute", true},
      {"sound", "No sound: the source has no audio"},
      {"time-pos", 2.5},
      {"duration", 61},
      {"frame", 75},
      {"frame-estimated", true},
      {"rate", 29.99},
      {"loop-file", true},
      {"bypass", true},
      {"precision", "16"},
      {"bits", 16},
      {"ended", true},
      {"source",
       {{"url", "rtsp://camera/1"},
        {"name", "door"},
        {"state", "stalled"},
        {"reason", "no picture"},
        {"detail", "for 2 s"},
        {"live", true},
        {"seekable", true},
        {"width", 641},
        {"height", 239},
        {"fps", 25},
        {"measured_fps", 24.988},
        {"stream", "641×239 h264"},
        {"reconnects", 11},
        {"fields", name(FieldOrder::top_first)},
        {"video_track", 2},
        {"video_tracks", {"one", "two"}}}},
      {"controls", Json::object()},
      {"counters",
       {{"decoded", 101},
        {"processed", 102},
        {"late", 103},
        {"dropped", 104},
        {"camera_broken", 12},
        {"camera_missed", 13},
        {"dropped_recorder", 204},
        {"dropped_stream", 303},
        {"dropped_virtual_camera", 402},
        {"record_failures", 206},
        {"reconnects", 11},
        {"reloads", 105},
        {"errors", 106},
        {"reloads_refused", 107}}},
      {"backend", "cuda"},
      {"device-memory", 123456789},
      {"recording", "/clips/a.mkv"},
      {"record",
       {{"on", true},
        {"active", true},
        {"path", "/clips/a.mkv"},
        {"frames", 201},
        {"bytes", 202},
        {"files", 203},
        {"dropped", 204},
        {"missed", 205},
        {"failures", 206},
        {"problem", "the disk is slow"}}},
      {"stream",
       {{"url", "srt://there"},
        {"state", "sending"},
        {"reason", "none"},
        {"frames", 301},
        {"bytes", 302},
        {"dropped", 303}}},
      {"virtual-camera",
       {{"on", true},
        {"name", "lensd"},
        {"state", "waiting"},
        {"reason", "nobody looks"},
        {"frames", 401},
        {"dropped", 402}}},
      {"sizes", {{"source", {641, 239}}, {"small", {320, 119}}}},
  };
  std::set<std::string> read;
  for (const auto& [property, value] : expected) {
    EXPECT_EQ(ask(target, {"get", property}).data, value) << property;
    read.insert(property);
  }
  const Json colour = ask(target, {"get", "colour"}).data;
  EXPECT_EQ(colour["peak"], 400);
  EXPECT_EQ(ask(target, {"get", "graph"}).data["nodes"][0]["id"], "negative");
  read.insert({"colour", "graph"});
  for (const Property& property : property_table()) EXPECT_TRUE(read.count(property.name)) << property.name;
}

TEST(PropertyTable, ReadsWhatIsOff) {
  FakeTarget target("invert");
  RunState s;
  s.source_fps = 24;
  s.record.path = "/clips/old.mkv", s.virtual_camera.state = "off";
  target.set_state(s);
  EXPECT_EQ(ask(target, {"get", "recording"}).data, "") << "the last file is complete";
  EXPECT_EQ(ask(target, {"get", "source"}).data["fps"], 24) << "no rate is announced";
  EXPECT_EQ(ask(target, {"get", "virtual-camera"}).data["state"], "off");
  EXPECT_EQ(ask(target, {"get", "sound"}).data, "No sound: it is switched off");
}

TEST(PropertyTable, SetsValuesByCommands) {
  FakeTarget target("invert");
  target.set_state(filled_state());
  const auto set = [&](const char* property, const Json& value) -> Command {
    EXPECT_EQ(ask(target, {"set", property, value}).error, "") << property;
    return target.posted().back();
  };
  EXPECT_FALSE(std::get<Pause>(set("pause", false)).paused);
  EXPECT_EQ(std::get<SetSpeed>(set("speed", 0.25)).speed, 0.25);
  EXPECT_EQ(std::get<SetVolume>(set("volume", 130)).percent, 130);
  EXPECT_FALSE(std::get<SetMute>(set("mute", false)).on);
  EXPECT_FALSE(std::get<SetFileLoop>(set("loop-file", false)).on);
  EXPECT_EQ(std::get<Batch>(set("bypass", false)).bypass, false);
  EXPECT_EQ(std::get<Batch>(set("precision", "8")).precision, Precision::eight);
  EXPECT_EQ(std::get<Batch>(set("precision", 16)).precision, Precision::sixteen);
  EXPECT_EQ(std::get<Batch>(set("precision", "auto")).precision, Precision::automatic);
  const Seek seek = std::get<Seek>(set("time-pos", 3.25));
  EXPECT_EQ(seek.position_ns, 3'250'000'000);
  EXPECT_FALSE(seek.relative);
}

TEST(PropertyTable, BooleansAreWrittenAsInMpv) {
  FakeTarget target("invert");
  const auto loops = [&](const Json& value) {
    EXPECT_EQ(ask(target, {"set", "loop-file", value}).error, "") << value;
    return std::get<SetFileLoop>(target.posted().back()).on;
  };
  for (const Json& yes : {Json(true), Json("inf"), Json("yes"), Json("true")}) EXPECT_TRUE(loops(yes)) << yes;
  for (const Json& no : {Json(false), Json("no"), Json("false")}) EXPECT_FALSE(loops(no)) << no;
  EXPECT_EQ(ask(target, {"set", "loop-file", 3}).error,
            "loop-file: expected inf or no, or true or false; files play once or without end");
  EXPECT_EQ(ask(target, {"set", "loop-file", "often"}).error,
            "loop-file: expected inf or no, or true or false");
  EXPECT_EQ(ask(target, {"set", "pause", "yes"}).error, "");
  EXPECT_TRUE(std::get<Pause>(target.posted().back()).paused);
  EXPECT_EQ(ask(target, {"set", "pause", "inf"}).error, "pause: expected true or false");
  EXPECT_EQ(ask(target, {"set", "invert.enabled", "no"}).error, "");
}

TEST(PropertyTable, RefusesImpossibleValues) {
  FakeTarget target("invert");
  target.set_state(filled_state());
  const struct {
    const char* property;
    Json value;
    const char* text;
  } cases[] = {
      {"pause", 1, "true or false"},
      {"mute", "loud", "true or false"},
      {"loop-file", nullptr, "true or false"},
      {"speed", 0.009, "0.01 to 100"},
      {"speed", 100.1, "0.01 to 100"},
      {"speed", "fast", "0.01 to 100"},
      {"volume", -1, "0 to 130"},
      {"volume", 130.5, "0 to 130"},
      {"volume", true, "0 to 130"},
      {"time-pos", -0.5, "from 0"},
      {"time-pos", 1e10, "from 0"},
      {"time-pos", "start", "from 0"},
      {"precision", 10, "auto, 8 or 16"},
      {"precision", "x", "auto, 8 or 16"},
      {"duration", 5, "cannot be set"},
  };
  for (const auto& c : cases) {
    const Response response = ask(target, {"set", c.property, c.value});
    EXPECT_EQ(response.status, Status::refused) << c.property << " " << c.value.dump();
    EXPECT_NE(response.error.find(c.text), std::string::npos) << c.property << ": " << response.error;
  }
  RunState silent = filled_state();
  silent.sound = SoundState::off, silent.seekable = false;
  target.set_state(silent);
  for (const auto& [property, value] :
       {std::pair<const char*, Json>{"volume", 50}, {"mute", true}, {"time-pos", 1}})
    EXPECT_EQ(ask(target, {"set", property, value}).status, Status::refused) << property;
  EXPECT_TRUE(target.posted().empty());
}

}  // namespace
}  // namespace lensd

// Traces in the Trace Event Format that Perfetto reads, the flight recorder, and the display's counts.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "app/pipeline/flight_recorder.hpp"
#include "app/pipeline/pipeline.hpp"
#include "app/viewer/display/display_watch.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/graph/trace/clock_bounds.hpp"
#include "kernels/registry.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/common/synthetic_source.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

using nlohmann::json;

constexpr int64_t kTraceMillisecond = 1'000'000;

struct Slice {
  double begin, end;
};
using TrackId = std::pair<int, int>;

bool number_from_zero(const json& event, const char* key) {
  return event.contains(key) && event[key].is_number() && event[key].get<double>() >= 0;
}

/// Adds a problem if two slices of a thread overlap and neither contains the other.
void check_nesting(const std::map<TrackId, std::vector<Slice>>& tracks, std::vector<std::string>& problems) {
  for (const auto& [track, slices] : tracks) {
    std::vector<Slice> sorted = slices;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Slice& a, const Slice& b) { return a.begin < b.begin; });
    std::vector<double> open;
    for (const Slice& s : sorted) {
      while (!open.empty() && open.back() <= s.begin + 1e-6) open.pop_back();
      if (!open.empty() && s.end > open.back() + 1e-3) problems.push_back("slices overlap");
      open.push_back(s.end);
    }
  }
}

/// Returns the problems of a trace: events that a viewer would reject, drop or misplace.
std::vector<std::string> trace_problems(const json& trace) {
  std::vector<std::string> problems;
  if (!trace.is_object() || !trace.contains("traceEvents") || !trace["traceEvents"].is_array())
    return {"no array traceEvents"};
  std::map<TrackId, std::vector<Slice>> slices;
  std::set<TrackId> named;
  struct FlowEvent {
    std::string phase;
    double ts;
    TrackId track;
  };
  std::map<std::pair<std::string, std::string>, std::vector<FlowEvent>> flows;
  for (const json& e : trace["traceEvents"]) {
    const auto complain = [&](const std::string& what) { problems.push_back(what + ": " + e.dump()); };
    if (!e.is_object() || !e.contains("ph") || !e["ph"].is_string()) {
      complain("no phase");
      continue;
    }
    const std::string phase = e["ph"];
    if (!e.contains("name") || !e["name"].is_string() || e["name"].get<std::string>().empty())
      complain("no name");
    if (!e.contains("pid") || !e["pid"].is_number_integer()) complain("no pid");
    if (!e.contains("tid") || !e["tid"].is_number_integer()) {
      complain("no tid");
      continue;
    }
    const TrackId track{e.value("pid", 0), e["tid"].get<int>()};
    if (phase == "M") {
      const std::string name = e.value("name", "");
      const std::map<std::string, std::string> argument{
          {"process_name", "name"}, {"thread_name", "name"}, {"thread_sort_index", "sort_index"}};
      if (!argument.count(name) || !e.contains("args") || !e["args"].contains(argument.at(name)))
        complain("metadata of no known kind");
      if (name == "thread_name") named.insert(track);
      continue;
    }
    if (!number_from_zero(e, "ts")) {
      complain("no time");
      continue;
    }
    const double ts = e["ts"];
    if (phase == "X") {
      if (!number_from_zero(e, "dur")) complain("no duration");
      slices[track].push_back({ts, ts + e.value("dur", 0.0)});
    } else if (phase == "C") {
      if (!e.contains("args") || e["args"].empty()) complain("a counter without a value");
      for (const auto& [key, value] : e["args"].items())
        if (!value.is_number()) complain("a counter that is no number");
    } else if (phase == "s" || phase == "t" || phase == "f") {
      if (!e.contains("id")) complain("a flow without id");
      if (!e.contains("cat")) complain("a flow without category");
      flows[{e.value("cat", ""), e["id"].dump()}].push_back({phase, ts, track});
    } else {
      complain("unexpected phase");
    }
  }
  for (const auto& [track, all] : slices)
    if (!named.count(track)) problems.push_back("a track without a name");
  check_nesting(slices, problems);
  for (auto& flow : flows) {
    const std::string& id = flow.first.second;
    std::vector<FlowEvent>& events = flow.second;
    std::stable_sort(events.begin(), events.end(),
                     [](const FlowEvent& a, const FlowEvent& b) { return a.ts < b.ts; });
    const auto count = [&](const char* phase) {
      return std::count_if(events.begin(), events.end(),
                           [&](const FlowEvent& e) { return e.phase == phase; });
    };
    if (count("s") != 1 || count("f") != 1) problems.push_back("flow " + id + " is not balanced");
    if (events.front().phase != "s" || events.back().phase != "f")
      problems.push_back("flow " + id + " has no beginning or end");
    for (const FlowEvent& e : events)
      if (std::none_of(slices[e.track].begin(), slices[e.track].end(),
                       [&](const Slice& s) { return s.begin <= e.ts && e.ts <= s.end; }))
        problems.push_back("flow " + id + " is bound to no slice");
  }
  return problems;
}

size_t count_phase(const json& trace, const std::string& phase) {
  const json& events = trace["traceEvents"];
  return static_cast<size_t>(
      std::count_if(events.begin(), events.end(), [&](const json& e) { return e["ph"] == phase; }));
}

std::string text_of(const std::vector<std::string>& problems) {
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(problems.size(), 8); ++i) text += problems[i] + "\n";
  return text;
}

std::vector<std::string> files_below(const TemporaryFolder& folder) {
  std::vector<std::string> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path()))
    if (entry.is_regular_file()) all.push_back(entry.path());
  return all;
}

/// Waits for notices. Returns the first one, or nullopt if there is none within 30 s.
std::optional<Notice> await_notice(FlightRecorder& recorder) {
  std::vector<Notice> notices;
  eventually([&] { return !(notices = recorder.take_notices()).empty(); });
  return notices.empty() ? std::nullopt : std::optional(notices.front());
}

TEST(ChromeTrace, ValidatorFindsProblems) {
  // trace_problems() must detect each of these errors.
  const json good = json::parse(R"([
    {"name":"thread_name","ph":"M","pid":1,"tid":1,"args":{"name":"t"}},
    {"name":"a","ph":"X","pid":1,"tid":1,"ts":0,"dur":5},
    {"name":"b","ph":"X","pid":1,"tid":1,"ts":6,"dur":5},
    {"name":"f","cat":"f","ph":"s","id":1,"pid":1,"tid":1,"ts":0},
    {"name":"f","cat":"f","ph":"f","id":1,"pid":1,"tid":1,"ts":6},
    {"name":"c","ph":"C","pid":1,"tid":0,"ts":1,"args":{"value":3}}])");
  const auto bad = [&](size_t event, const char* key, const json& value) {
    json events = good;
    if (value.is_null())
      events[event].erase(key);
    else
      events[event][key] = value;
    return !trace_problems({{"traceEvents", events}}).empty();
  };
  EXPECT_TRUE(trace_problems({{"traceEvents", good}}).empty());
  EXPECT_FALSE(trace_problems(json::object()).empty());
  EXPECT_TRUE(bad(0, "args", nullptr));
  EXPECT_TRUE(bad(0, "tid", 7)) << "a track without a name";
  EXPECT_TRUE(bad(1, "ts", -1));
  EXPECT_TRUE(bad(1, "dur", nullptr));
  EXPECT_TRUE(bad(1, "dur", 7)) << "overlaps the next one";
  EXPECT_TRUE(bad(1, "name", nullptr));
  EXPECT_TRUE(bad(3, "ph", "t")) << "a flow without beginning";
  EXPECT_TRUE(bad(4, "id", 2)) << "a flow without end";
  EXPECT_TRUE(bad(4, "ts", 50)) << "outside of every slice";
  EXPECT_TRUE(bad(5, "args", json{{"value", "three"}}));
}

TEST(ChromeTrace, UnusualNamesAndInconsistentClocks) {
  Timeline timeline;
  const int a = timeline.track("a \"quoted\" thread"), b = timeline.track("stream\n\xff");
  const int work = timeline.label("node\\pass"), inner = timeline.label("inner");
  const int depth = timeline.label("queue \"depth\"");
  const int64_t base = 1'000'000 * kTraceMillisecond;
  for (int64_t frame = 0; frame < 5; ++frame) {
    const int64_t at = base + frame * 10 * kTraceMillisecond;
    timeline.record(a, inner, frame, at + kTraceMillisecond,
                    at + 4 * kTraceMillisecond + 7);  // ends after the enclosing slice
    timeline.record(a, work, frame, at, at + 4 * kTraceMillisecond);
    timeline.record(b, work, frame, at + 5 * kTraceMillisecond,
                    at + 5 * kTraceMillisecond - 10);  // ends before it begins
    timeline.record(b, work, -1, at + 6 * kTraceMillisecond, at + 7 * kTraceMillisecond);
    timeline.sample(depth, frame, at);
  }
  timeline.record(a, work, 0, base + 100 * kTraceMillisecond,
                  base + 101 * kTraceMillisecond);  // frame 0 again, after a seek
  timeline.record(b, work, 0, base + 102 * kTraceMillisecond, base + 103 * kTraceMillisecond);
  const json trace = json::parse(timeline.chrome_trace());
  EXPECT_TRUE(trace_problems(trace).empty()) << text_of(trace_problems(trace));
  EXPECT_EQ(count_phase(trace, "X"), 22u);
  EXPECT_EQ(count_phase(trace, "C"), 5u);
  EXPECT_EQ(count_phase(trace, "s"), 6u) << "five frames, one of them twice";
  EXPECT_EQ(count_phase(trace, "f"), 6u);
}

TEST(ClockBounds, LimitTheDriftOfAClock) {
  for (const double drift : {50e-6, -50e-6, 0.0}) {
    int64_t offset = 0, worst = 0;
    for (int64_t frame = 0; frame < 60 * 3600; ++frame) {  // one hour at 60 fps
      const int64_t asked = frame * 16'666'667, began = asked + 6'000, ended = began + 300'000;
      const auto device = [&](int64_t host) {
        return host + static_cast<int64_t>(drift * static_cast<double>(host)) + offset;
      };
      offset += clock_correction({asked, ended + 20'000, device(began), device(ended)});
      worst = std::max(worst, std::abs(device(began) - began));
    }
    EXPECT_LE(worst, 22'000) << "drift " << drift;
    if (drift == 0) {
      EXPECT_EQ(offset, 0);
    }
  }
}

TEST(ChromeTrace, EmptyAndCutTracesAreValid) {
  Timeline timeline;
  EXPECT_TRUE(trace_problems(json::parse(timeline.chrome_trace())).empty());
  const int track = timeline.track("t"), label = timeline.label("l");
  for (int64_t i = 0; i < 100; ++i)
    timeline.record(track, label, i / 3, i * kTraceMillisecond, i * kTraceMillisecond + 10);
  const json cut = json::parse(timeline.chrome_trace(90 * kTraceMillisecond));
  EXPECT_EQ(count_phase(cut, "X"), 10u);
  EXPECT_TRUE(trace_problems(cut).empty()) << text_of(trace_problems(cut));
}

TEST(ChromeTrace, OfARunningPipeline) {
  PipelineOptions options;
  options.executor = {.threads = 2, .frames = 6};
  options.graph = parse_chain("median=radius=1,gaussian=sigma=1.6,grayscale", registry());
  options.paced = true;
  Pipeline pipeline(std::make_unique<SyntheticSource>(Extent{160, 120}, 40), options, registry());
  DisplayWatch watch(pipeline.profiler(), pipeline.timeline());
  pipeline.start();
  const int64_t limit = now_ns() + 60'000 * kTraceMillisecond;
  while (!pipeline.status().ended && now_ns() < limit) {
    if (Frame frame = pipeline.take_newest()) {
      const int64_t begin = now_ns();
      watch.uploaded(frame.info, begin, now_ns());
      watch.drawn();
      watch.presented(1, false);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  pipeline.stop();
  pipeline.check();
  const json trace = json::parse(pipeline.timeline().chrome_trace());
  EXPECT_TRUE(trace_problems(trace).empty()) << text_of(trace_problems(trace));
  std::set<std::string> tracks, counters, slices;
  for (const json& e : trace["traceEvents"]) {
    if (e["name"] == "thread_name") tracks.insert(e["args"]["name"].get<std::string>());
    if (e["ph"] == "C") counters.insert(e["name"].get<std::string>());
    if (e["ph"] == "X") slices.insert(e["name"].get<std::string>());
  }
  EXPECT_EQ(tracks, (std::set<std::string>{"decode thread", "process thread", "ui thread"}));
  EXPECT_TRUE(counters.count("decoded pictures waiting"));
  EXPECT_TRUE(counters.count("finished frames waiting"));
  for (const char* stage : {"decode", "graph", "wait until due"}) EXPECT_TRUE(slices.count(stage)) << stage;
  EXPECT_GE(count_phase(trace, "s"), 39u) << "a frame has one flow";
  int stages = 0;
  for (const PassStats& row : pipeline.profiler().snapshot()) {
    if (row.node != kLatencyRow) continue;
    ++stages;
    EXPECT_GT(row.count, 0u) << row.pass;
    EXPECT_GE(row.p50_ns, 0) << row.pass;
    EXPECT_LT(row.p50_ns, now_ns() - (limit - 60'000 * kTraceMillisecond)) << row.pass << " exceeds the run";
  }
  EXPECT_EQ(stages, 7);
}

TEST(FlightRecorder, WritesOnRequestAndReportsThePath) {
  TemporaryFolder folder;
  Timeline timeline;
  const int track = timeline.track("t"), label = timeline.label("l");
  const int64_t now = now_ns();
  timeline.record(track, label, 0, now - 20'000 * kTraceMillisecond,
                  now - 19'000 * kTraceMillisecond);  // too old
  timeline.record(track, label, 1, now - kTraceMillisecond, now);
  FlightRecorder recorder(timeline, {.trigger = {}, .folder = folder / "new/traces", .source = "clip \"x\""});
  recorder.request();
  const auto notice = await_notice(recorder);
  ASSERT_TRUE(notice);
  EXPECT_FALSE(notice->problem) << notice->text;
  const auto files = files_below(folder);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_NE(notice->text.find(files[0]), std::string::npos) << notice->text;
  std::ifstream file(files[0]);
  const json trace = json::parse(file);
  EXPECT_TRUE(trace_problems(trace).empty());
  EXPECT_EQ(count_phase(trace, "X"), 1u) << "intervals before the last 10 s are omitted";
  EXPECT_EQ(trace["otherData"]["source"], "clip \"x\"");
}

TEST(FlightRecorder, OneFileForManyDropsAndNoneOtherwise) {
  TemporaryFolder folder;
  Timeline timeline;
  std::atomic<uint64_t> late{0};
  FlightRecorder recorder(timeline, {.trigger = {.on_drop = true, .over_ns = 0},
                                     .folder = folder.path(),
                                     .source = "",
                                     .losses = [&] { return FrameLosses{.late = late.load()}; }});
  recorder.frame_took(1'000 * kTraceMillisecond);  // no limit is set
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_TRUE(files_below(folder).empty()) << "nothing was lost yet";
  late = 1;
  const auto notice = await_notice(recorder);
  ASSERT_TRUE(notice);
  EXPECT_NE(notice->text.find("late"), std::string::npos) << notice->text;
  for (int i = 0; i < 10; ++i) {
    ++late;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(files_below(folder).size(), 1u) << "at most one within 10 s";
}

TEST(FlightRecorder, ThresholdAndUnwritableFolder) {
  TemporaryFolder folder;
  std::ofstream(folder / "file") << "no folder";
  Timeline timeline;
  FlightRecorder recorder(
      timeline, {.trigger = parse_trace_trigger("20"), .folder = folder / "file/traces", .source = ""});
  recorder.frame_took(15 * kTraceMillisecond);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_TRUE(recorder.take_notices().empty());
  recorder.frame_took(25 * kTraceMillisecond);
  const auto notice = await_notice(recorder);
  ASSERT_TRUE(notice);
  EXPECT_TRUE(notice->problem);
  EXPECT_NE(notice->text.find("/file/traces"), std::string::npos) << notice->text;
}

TEST(FlightRecorder, TriggersAsText) {
  EXPECT_FALSE(parse_trace_trigger("").any());
  EXPECT_FALSE(parse_trace_trigger("no").any());
  EXPECT_TRUE(parse_trace_trigger("drop").on_drop);
  EXPECT_EQ(parse_trace_trigger("16.5").over_ns, 16'500'000);
  for (const char* wrong : {"0", "-3", "nan", "inf", "12ms", "drops", " "})
    EXPECT_THROW(parse_trace_trigger(wrong), Error) << wrong;
}

FrameInfo timed_frame(int64_t index, int64_t now) {
  FrameInfo info;
  info.index = index, info.duration_ns = 30 * kTraceMillisecond, info.pts_ns = index * info.duration_ns;
  info.capture_ns = now - 5 * kTraceMillisecond, info.taken_ns = now - 4 * kTraceMillisecond,
  info.processed_ns = now - 3 * kTraceMillisecond;
  info.published_ns = now - kTraceMillisecond;
  return info;
}

TEST(DisplayWatch, CountsFrameTimesWithoutANewFrame) {
  Profiler profiler;
  Timeline timeline;
  DisplayWatch watch(profiler, timeline);
  const auto show = [&](const FrameInfo& info) {
    watch.uploaded(info, now_ns(), now_ns());
    watch.drawn();
    return watch.presented(1, false);
  };
  const int64_t begin = now_ns();
  EXPECT_GT(show(timed_frame(0, now_ns())), 2 * kTraceMillisecond) << "the time without waits";
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  show(timed_frame(1, now_ns()));
  EXPECT_GE(watch.repeated(), 2u) << "100 ms for a frame of 30 ms";
  EXPECT_LE(watch.repeated(), static_cast<uint64_t>((now_ns() - begin) / (30 * kTraceMillisecond)));
  const uint64_t before = watch.repeated();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  FrameInfo other = timed_frame(9, now_ns());
  other.serial = 1;
  show(other);
  EXPECT_EQ(watch.repeated(), before) << "a seek happened in between";
  FrameInfo paused = timed_frame(10, now_ns());
  paused.published_ns = 0;
  EXPECT_EQ(show(paused), 0) << "its latency was not measured";
}

}  // namespace
}  // namespace lensd

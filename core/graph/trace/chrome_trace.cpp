// Writes a timeline in the Trace Event Format.
//
// Intervals become complete events ("X"), nested on one track per thread or CUDA stream. Flow events ("s",
// "t", "f") connect the intervals of a frame. Samples become counters ("C"). Times are microseconds since the
// oldest event.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "core/graph/json.hpp"
#include "core/graph/trace/timeline.hpp"

namespace lensd {
namespace {

double micros(int64_t ns) {
  return static_cast<double>(ns) * 1e-3;
}

/// The flow event of an interval: begin 's', step 't' or end 'f'.
struct FlowEvent {
  char phase = 0;  ///< 0: none
  int64_t id = 0;
};

/// Returns one flow event per interval; a flow connects the intervals of a frame. If a flow's first track and
/// label occur again, the frame was decoded again after a seek or loop, and a new flow starts. Omits flows
/// with a single interval.
std::vector<FlowEvent> flow_events(const std::vector<Timeline::Interval>& intervals) {
  struct Flow {
    int64_t id = 0;
    std::vector<size_t> at;
  };
  std::vector<FlowEvent> events(intervals.size());
  std::map<int64_t, Flow> open;
  int64_t count = 0;
  const auto finish = [&](const Flow& flow) {
    if (flow.at.size() < 2) return;
    for (const size_t i : flow.at) events[i] = {'t', flow.id};
    events[flow.at.front()].phase = 's', events[flow.at.back()].phase = 'f';
  };
  for (size_t i = 0; i < intervals.size(); ++i) {
    const Timeline::Interval& interval = intervals[i];
    if (interval.frame < 0) continue;
    Flow& flow = open[interval.frame];
    if (!flow.at.empty()) {
      const Timeline::Interval& first = intervals[flow.at.front()];
      if (first.track == interval.track && first.label == interval.label) finish(flow), flow = {};
    }
    if (flow.at.empty()) flow.id = ++count;
    flow.at.push_back(i);
  }
  for (const auto& [frame, flow] : open) finish(flow);
  return events;
}

}  // namespace

std::string Timeline::chrome_trace(int64_t since_ns, const Notes& notes) const {
  const std::vector<Interval> intervals = this->intervals(since_ns);
  const std::vector<Sample> samples = this->samples(since_ns);
  int64_t origin = INT64_MAX;
  for (const Interval& i : intervals) origin = std::min(origin, i.begin_ns);
  for (const Sample& s : samples) origin = std::min(origin, s.time_ns);

  // origin_ns is the monotonic time of ts 0. It relates the trace to the timestamps of other programs.
  std::string json = fmt::format("{{\"displayTimeUnit\":\"ms\",\"otherData\":{{\"origin_ns\":\"{}\"",
                                 origin == INT64_MAX ? 0 : origin);
  for (const auto& [name, value] : notes) json += fmt::format(",{}:{}", json_line(name), json_line(value));
  json += "},\"traceEvents\":[\n";
  auto out = std::back_inserter(json);
  json += "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"tid\":0,\"args\":{\"name\":\"lensd\"}}";

  std::map<std::string, int> ids;
  for (const Interval& i : intervals) {
    const auto [it, inserted] = ids.try_emplace(i.track, static_cast<int>(ids.size()) + 1);
    if (!inserted) continue;
    fmt::format_to(
        out,
        ",\n{{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":{0},\"args\":{{\"name\":{1}}}}}"
        ",\n{{\"name\":\"thread_sort_index\",\"ph\":\"M\",\"pid\":1,\"tid\":{0},\"args\":{{"
        "\"sort_index\":{0}}}}}",
        it->second, json_line(i.track));
  }

  const std::vector<FlowEvent> flows = flow_events(intervals);
  std::map<int, std::vector<int64_t>> enclosing;  // end times of the open intervals of a track
  for (size_t n = 0; n < intervals.size(); ++n) {
    const Interval& i = intervals[n];
    const int tid = ids.at(i.track);
    // Clip ends, because clocks differ slightly and viewers drop intervals that end after the enclosing one.
    std::vector<int64_t>& ends = enclosing[tid];
    while (!ends.empty() && ends.back() <= i.begin_ns) ends.pop_back();
    int64_t end = std::max(i.begin_ns, i.end_ns);
    if (!ends.empty()) end = std::min(end, ends.back());
    ends.push_back(end);
    fmt::format_to(out,
                   ",\n{{\"name\":{},\"cat\":\"stage\",\"ph\":\"X\",\"pid\":1,\"tid\":{},\"ts\":{:.3f},"
                   "\"dur\":{:.3f}",
                   json_line(i.label), tid, micros(i.begin_ns - origin), micros(end - i.begin_ns));
    if (i.frame >= 0) fmt::format_to(out, ",\"args\":{{\"frame\":{}}}", i.frame);
    json += '}';
    if (flows[n].phase != 0)
      fmt::format_to(
          out,
          ",\n{{\"name\":\"frame\",\"cat\":\"frame\",\"ph\":\"{}\",{}\"id\":{},\"pid\":1,\"tid\":{},"
          "\"ts\":{:.3f}}}",
          flows[n].phase, flows[n].phase == 's' ? "" : "\"bp\":\"e\",", flows[n].id, tid,
          micros(i.begin_ns - origin));
  }
  for (const Sample& s : samples)
    fmt::format_to(
        out, ",\n{{\"name\":{},\"ph\":\"C\",\"pid\":1,\"tid\":0,\"ts\":{:.3f},\"args\":{{\"value\":{}}}}}",
        json_line(s.counter), micros(s.time_ns - origin), s.value);
  return json + "\n]}\n";
}

}  // namespace lensd

#include "core/control/metrics.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <limits>
#include <sstream>

#include "core/base/clock.hpp"
#include "core/control/process_usage.hpp"

namespace lensd {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

class Families {
 public:
  void counter(const char* name, const char* help, uint64_t value, Labels labels = {}) {
    seconds_counter(name, help, static_cast<double>(value), std::move(labels));
  }
  void seconds_counter(const char* name, const char* help, double value, Labels labels = {}) {
    add(name, help, MetricType::Counter, std::move(labels)).counter.value = value;
  }
  void gauge(const char* name, const char* help, double value, Labels labels = {}) {
    add(name, help, MetricType::Gauge, std::move(labels)).gauge.value = value;
  }
  void histogram(const char* name, const char* help, const Profiler::Histogram& h) {
    ClientMetric& metric = add(name, help, MetricType::Histogram,
                               {{"node", h.node}, {"pass", h.pass}, {"on", h.gpu ? "gpu" : "cpu"}});
    uint64_t sum = 0;
    for (size_t i = 0; i < h.counts.size(); ++i) {
      sum += h.counts[i];
      const bool last = i == Profiler::kBuckets.size();
      metric.histogram.bucket.push_back(
          {sum, last ? std::numeric_limits<double>::infinity() : to_s(Profiler::kBuckets[i])});
    }
    metric.histogram.sample_count = sum, metric.histogram.sample_sum = to_s(h.sum_ns);
  }
  std::string text() const {
    std::ostringstream out;
    prometheus::TextSerializer().Serialize(out, families_);
    return out.str();
  }

 private:
  /// Metrics of one name are added one after another.
  ClientMetric& add(const char* name, const char* help, MetricType type, Labels labels) {
    if (families_.empty() || families_.back().name != name) families_.push_back({name, help, type, {}});
    ClientMetric& metric = families_.back().metric.emplace_back();
    metric.label = std::move(labels);
    return metric;
  }

  std::vector<MetricFamily> families_;
};

void add_frames(Families& f, const RunState& s) {
  f.counter("lensd_frames_decoded_total", "Frames that the decoder delivered.", s.decoded);
  f.counter("lensd_frames_processed_total", "Frames that went through the graph.", s.processed);
  constexpr const char* dropped = "Frames that were given up, by reason.";
  f.counter("lensd_frames_dropped_total", dropped, s.dropped, {{"reason", "source"}});
  f.counter("lensd_frames_dropped_total", dropped, s.record.dropped, {{"reason", "recorder"}});
  f.counter("lensd_frames_dropped_total", dropped, s.stream.dropped, {{"reason", "stream"}});
  f.counter("lensd_frames_late_total", "Frames that were finished after their time.", s.late);
  f.gauge("lensd_frames_per_second", "Frames a second made lately.", s.rate);
  f.gauge("lensd_frame_index", "Index of the newest frame.", static_cast<double>(s.frame));
}

void add_source(Families& f, const RunState& s) {
  for (const char* state : {"connecting", "playing", "stalled", "reconnecting", "paused", "ended", "failed"})
    f.gauge("lensd_source_state", "1 for the state that the source is in.", s.source_state == state ? 1 : 0,
            {{"state", state}});
  f.counter("lensd_source_reconnects_total", "Times that the source came back after it was lost.",
            s.reconnects);
  f.gauge("lensd_source_width_pixels", "Width of the source's picture.", s.picture.width);
  f.gauge("lensd_source_height_pixels", "Height of the source's picture.", s.picture.height);
  f.gauge("lensd_alive", "1 while the pipeline's threads take turns.", s.alive ? 1 : 0);
}

void add_outputs(Families& f, const RunState& s) {
  f.gauge("lensd_recording", "1 while a recording is under way, waiting for the source or not.",
          s.record.active ? 1 : 0);
  f.gauge("lensd_recording_wanted", "1 from the start of a recording until it is ended on purpose.",
          s.record.wanted ? 1 : 0);
  f.gauge("lensd_recording_frames", "Frames of the recording at hand, or of the last one.",
          static_cast<double>(s.record.frames));
  f.gauge("lensd_recording_bytes", "Its size.", static_cast<double>(s.record.bytes));
  f.counter("lensd_recording_failures_total", "Times that a recording broke off.", s.record.failures);
  if (s.stream.url.empty()) return;
  for (const char* state : {"idle", "connecting", "sending", "waiting"})
    f.gauge("lensd_stream_state", "1 for the state that the connection to the receiver is in.",
            s.stream.state == state ? 1 : 0, {{"state", state}});
  f.counter("lensd_stream_frames_total", "Frames that were sent.", static_cast<uint64_t>(s.stream.sent));
  f.counter("lensd_stream_bytes_total", "Bytes of video that were sent.",
            static_cast<uint64_t>(s.stream.bytes));
}

void add_control(Families& f, const RunState& s, const ServerCounts& servers) {
  constexpr const char* reloads = "Reloads of the configuration, by result.";
  f.counter("lensd_config_reloads_total", reloads, s.reloads, {{"result", "applied"}});
  f.counter("lensd_config_reloads_total", reloads, s.reloads_refused, {{"result", "refused"}});
  f.counter("lensd_graph_changes_total", "Graphs that were planned and taken into use.", s.graph_changes);
  f.counter("lensd_errors_total", "Commands that were tried and went wrong.", s.errors);
  f.gauge("lensd_control_clients", "Connections to the control socket.",
          static_cast<double>(servers.socket_clients));
  f.counter("lensd_control_clients_cut_off_total", "Clients that were cut off because they did not read.",
            servers.cut_off);
  f.counter("lensd_control_events_dropped_total", "Events that clients were too slow for.",
            servers.events_dropped);
  f.gauge("lensd_http_connections", "HTTP connections.", servers.http_connections);
  f.counter("lensd_http_connections_refused_total", "HTTP connections beyond the allowed number.",
            servers.turned_away);
}

void add_process(Families& f, const RunState& s) {
  const ProcessUsage usage = process_usage();
  f.gauge("lensd_uptime_seconds", "Time since the start.", to_s(now_ns() - s.started_ns));
  f.gauge("lensd_resident_memory_bytes", "Memory that the process holds.",
          static_cast<double>(usage.resident_bytes));
  f.gauge("lensd_threads", "Threads of the process.", usage.threads);
  f.gauge("lensd_open_descriptors", "Open file descriptors.", usage.descriptors);
  f.seconds_counter("lensd_cpu_seconds_total", "Processor time used.", usage.cpu_seconds);
  f.gauge("lensd_build_info", "1; the labels say what runs.", 1,
          {{"version", LENSD_VERSION}, {"backend", s.backend}});
}

}  // namespace

std::string metrics_text(const ControlTarget& target, const ServerCounts& servers) {
  const RunState state = target.state();
  Families families;
  add_frames(families, state);
  add_source(families, state);
  add_outputs(families, state);
  add_control(families, state, servers);
  add_process(families, state);
  for (const Profiler::Histogram& h : target.histograms())
    if (h.active)
      families.histogram("lensd_pass_seconds",
                         "Time of each pass of each node, and of the stages around them.", h);
  return families.text();
}

}  // namespace lensd

#include "core/control/metrics.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <initializer_list>
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
  template <class T>
  void counter(const char* name, const char* help, T value, Labels labels = {}) {
    add(name, help, MetricType::Counter, std::move(labels)).counter.value = static_cast<double>(value);
  }
  template <class T>
  void gauge(const char* name, const char* help, T value, Labels labels = {}) {
    add(name, help, MetricType::Gauge, std::move(labels)).gauge.value = static_cast<double>(value);
  }
  /// Adds one gauge per state: 1 for the current state, 0 for the others.
  void states(const char* name, const char* help, std::initializer_list<const char*> all,
              const std::string& current) {
    for (const char* state : all) gauge(name, help, current == state, {{"state", state}});
  }
  void histogram(const char* name, const char* help, const PassStats& pass) {
    auto& histogram = add(name, help, MetricType::Histogram,
                          {{"node", pass.node}, {"pass", pass.pass}, {"on", pass.gpu ? "gpu" : "cpu"}})
                          .histogram;
    uint64_t sum = 0;
    for (size_t i = 0; i < pass.buckets.size(); ++i) {
      sum += pass.buckets[i];
      const bool last = i == kDurationBuckets.size();
      histogram.bucket.push_back(
          {sum, last ? std::numeric_limits<double>::infinity() : to_s(kDurationBuckets[i])});
    }
    histogram.sample_count = sum, histogram.sample_sum = to_s(pass.sum_ns);
  }
  std::string text() const {
    std::ostringstream out;
    prometheus::TextSerializer().Serialize(out, families_);
    return out.str();
  }

 private:
  /// Adds a metric. Metrics with the same name must be added consecutively.
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
  f.counter("lensd_frames_processed_total", "Frames that the graph processed.", s.processed);
  constexpr const char* dropped = "Frames that were dropped, by reason.";
  f.counter("lensd_frames_dropped_total", dropped, s.dropped, {{"reason", "source"}});
  f.counter("lensd_frames_dropped_total", dropped, s.record.dropped, {{"reason", "recorder"}});
  f.counter("lensd_frames_dropped_total", dropped, s.stream.dropped, {{"reason", "stream"}});
  f.counter("lensd_frames_dropped_total", dropped, s.virtual_camera.dropped, {{"reason", "virtual_camera"}});
  f.counter("lensd_frames_late_total", "Frames that were finished after they were due.", s.late);
  f.gauge("lensd_frames_per_second", "Frames per second over the last second.", s.rate);
  f.gauge("lensd_frame_index", "Index of the newest frame.", s.frame_index);
}

void add_source(Families& f, const RunState& s) {
  f.states("lensd_source_state", "1 for the current state of the source.",
           {"connecting", "playing", "stalled", "reconnecting", "paused", "ended", "failed"}, s.source_state);
  f.counter("lensd_source_reconnects_total", "Reconnections to a lost source.", s.live.reconnects);
  constexpr const char* lost = "Pictures that the camera or PipeWire node did not deliver intact, by reason.";
  f.counter("lensd_camera_frames_lost_total", lost, s.live.camera_broken, {{"reason", "broken"}});
  f.counter("lensd_camera_frames_lost_total", lost, s.live.camera_missed, {{"reason", "missed"}});
  f.gauge("lensd_source_frames_per_second", "Frames per second that a live source delivers, by capture time.",
          s.live.rate);
  f.gauge("lensd_source_width_pixels", "Width of the source's picture.", s.picture.width);
  f.gauge("lensd_source_height_pixels", "Height of the source's picture.", s.picture.height);
  f.gauge("lensd_alive", "1 while the pipeline's threads make progress.", s.alive);
}

void add_outputs(Families& f, const RunState& s) {
  f.gauge("lensd_recording", "1 while a recording is active, even if it waits for the source.",
          s.record.active);
  f.gauge("lensd_recording_wanted", "1 from the start of a recording until it is stopped.", s.record.wanted);
  f.gauge("lensd_recording_frames", "Frames of the current or last recording.", s.record.frames);
  f.gauge("lensd_recording_bytes", "Size of the current or last recording.", s.record.bytes);
  f.counter("lensd_recording_failures_total", "Times that a recording failed.", s.record.failures);
  if (s.stream.path.empty()) return;
  f.states("lensd_stream_state", "1 for the current state of the connection to the receiver.",
           {"idle", "connecting", "sending", "waiting"}, s.stream.state);
  f.counter("lensd_stream_frames_total", "Frames that were sent.", s.stream.frames);
  f.counter("lensd_stream_bytes_total", "Bytes of video that were sent.", s.stream.bytes);
}

void add_control(Families& f, const RunState& s, const ServerCounts& servers) {
  constexpr const char* reloads = "Reloads of the configuration, by result.";
  f.counter("lensd_config_reloads_total", reloads, s.reloads, {{"result", "applied"}});
  f.counter("lensd_config_reloads_total", reloads, s.reloads_refused, {{"result", "refused"}});
  f.counter("lensd_graph_changes_total", "Graphs that were planned and swapped in.", s.graph_changes);
  f.counter("lensd_errors_total", "Commands that failed, excluding refused ones.", s.errors);
  f.gauge("lensd_control_clients", "Connections to the control socket.", servers.socket_clients);
  f.counter("lensd_control_clients_cut_off_total",
            "Clients that were disconnected because they did not read.", servers.socket_disconnected);
  f.counter("lensd_control_events_dropped_total",
            "Events that were dropped because a client read too slowly.", servers.events_dropped);
  f.gauge("lensd_http_connections", "HTTP connections.", servers.http_connections);
  f.counter("lensd_http_connections_refused_total", "HTTP connections that were refused at the limit.",
            servers.http_refused);
}

void add_process(Families& f, const RunState& s) {
  const ProcessUsage usage = process_usage();
  f.gauge("lensd_uptime_seconds", "Time since the start.", to_s(now_ns() - s.started_ns));
  f.gauge("lensd_resident_memory_bytes", "Resident memory of the process.", usage.resident_bytes);
  f.gauge("lensd_threads", "Threads of the process.", usage.threads);
  f.gauge("lensd_open_descriptors", "Open file descriptors.", usage.descriptors);
  f.counter("lensd_cpu_seconds_total", "Processor time used.", usage.cpu_seconds);
  f.gauge("lensd_build_info", "Always 1; the labels name version and backend.", 1,
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
  const Measurements measurements = target.measurements();
  for (const PassStats& pass : measurements.timings)
    if (pass.active)
      families.histogram("lensd_pass_seconds",
                         "Duration of each pass of each node, and of the stages around them.", pass);
  return families.text();
}

}  // namespace lensd

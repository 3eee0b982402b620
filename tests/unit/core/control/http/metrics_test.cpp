// Metrics: checks the value of every metric with every set of labels.

#include <fcntl.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <sstream>
#include <thread>
#include <vector>

#include "core/base/unique_fd.hpp"
#include "core/control/metrics.hpp"
#include "core/control/process_usage.hpp"
#include "tests/unit/core/control/fake_target.hpp"

namespace lensd {
namespace {

/// Returns the values in the text of the metrics. The key is the metric's name with its labels.
std::map<std::string, double> values_of(const std::string& text) {
  std::map<std::string, double> values;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    const size_t space = line.rfind(' ');
    EXPECT_TRUE(values.emplace(line.substr(0, space), std::stod(line.substr(space + 1))).second) << line;
  }
  return values;
}

TEST(Metrics, EveryLabelHasItsOwnValue) {
  RunState state;
  state.decoded = 101, state.processed = 102, state.dropped = 103, state.late = 104;
  state.rate = 24.5, state.frame_index = 105;
  state.record.dropped = 106, state.record.frames = 107, state.record.bytes = 108;
  state.record.failures = 109, state.record.active = false, state.record.wanted = true;
  state.stream.dropped = 110, state.stream.frames = 111, state.stream.bytes = 112;
  state.virtual_camera.dropped = 123;
  state.stream.path = "udp://host:1", state.stream.state = "waiting";
  state.source_state = "stalled", state.live.reconnects = 113;
  state.live.camera_broken = 124, state.live.camera_missed = 125;
  state.live.rate = 29.5;
  state.picture = {640, 480}, state.alive = false;
  state.reloads = 114, state.reloads_refused = 115, state.graph_changes = 116, state.errors = 117;
  state.backend = "cpu";
  FakeTarget target("invert");
  target.set_state(state);
  const auto values = values_of(metrics_text(target, {.socket_clients = 118,
                                                      .http_connections = 119,
                                                      .socket_disconnected = 120,
                                                      .http_refused = 121,
                                                      .events_dropped = 122}));
  const std::map<std::string, double> expected = {
      {"lensd_frames_decoded_total", 101},
      {"lensd_frames_processed_total", 102},
      {R"(lensd_frames_dropped_total{reason="source"})", 103},
      {R"(lensd_frames_dropped_total{reason="recorder"})", 106},
      {R"(lensd_frames_dropped_total{reason="stream"})", 110},
      {R"(lensd_frames_dropped_total{reason="virtual_camera"})", 123},
      {"lensd_frames_late_total", 104},
      {"lensd_frames_per_second", 24.5},
      {"lensd_frame_index", 105},
      {R"(lensd_source_state{state="connecting"})", 0},
      {R"(lensd_source_state{state="playing"})", 0},
      {R"(lensd_source_state{state="stalled"})", 1},
      {R"(lensd_source_state{state="reconnecting"})", 0},
      {R"(lensd_source_state{state="paused"})", 0},
      {R"(lensd_source_state{state="ended"})", 0},
      {R"(lensd_source_state{state="failed"})", 0},
      {"lensd_source_reconnects_total", 113},
      {R"(lensd_camera_frames_lost_total{reason="broken"})", 124},
      {R"(lensd_camera_frames_lost_total{reason="missed"})", 125},
      {"lensd_source_frames_per_second", 29.5},
      {"lensd_source_width_pixels", 640},
      {"lensd_source_height_pixels", 480},
      {"lensd_alive", 0},
      {"lensd_recording", 0},
      {"lensd_recording_wanted", 1},
      {"lensd_recording_frames", 107},
      {"lensd_recording_bytes", 108},
      {"lensd_recording_failures_total", 109},
      {R"(lensd_stream_state{state="idle"})", 0},
      {R"(lensd_stream_state{state="connecting"})", 0},
      {R"(lensd_stream_state{state="sending"})", 0},
      {R"(lensd_stream_state{state="waiting"})", 1},
      {"lensd_stream_frames_total", 111},
      {"lensd_stream_bytes_total", 112},
      {R"(lensd_config_reloads_total{result="applied"})", 114},
      {R"(lensd_config_reloads_total{result="refused"})", 115},
      {"lensd_graph_changes_total", 116},
      {"lensd_errors_total", 117},
      {"lensd_control_clients", 118},
      {"lensd_control_clients_cut_off_total", 120},
      {"lensd_control_events_dropped_total", 122},
      {"lensd_http_connections", 119},
      {"lensd_http_connections_refused_total", 121},
      {R"(lensd_build_info{version=")" LENSD_VERSION R"(",backend="cpu"})", 1},
  };
  for (const auto& [name, value] : expected) {
    const auto found = values.find(name);
    ASSERT_NE(found, values.end()) << name;
    EXPECT_EQ(found->second, value) << name;
  }
  // The following metrics measure the test process, so only check that they are positive.
  size_t measured = 0;
  for (const char* name : {"lensd_uptime_seconds", "lensd_resident_memory_bytes", "lensd_threads",
                           "lensd_open_descriptors", "lensd_cpu_seconds_total"}) {
    const auto found = values.find(name);
    ASSERT_NE(found, values.end()) << name;
    EXPECT_GT(found->second, 0) << name;
    ++measured;
  }
  EXPECT_EQ(values.size(), expected.size() + measured);
  state.stream.path.clear();
  target.set_state(state);
  EXPECT_EQ(metrics_text(target, {}).find("lensd_stream_"), std::string::npos) << "there is no stream";
}

TEST(Metrics, AHistogramCountsUpToEachBucketsLimit) {
  FakeTarget target("invert");
  const auto pass = target.profiler.scope("edges", "gradient");
  for (const int64_t ns : {40'000, 150'000, 150'000, 3'000'000}) target.profiler.record(pass, ns);
  const auto values = values_of(metrics_text(target, {}));
  const std::string labels = R"({node="edges",pass="gradient",on="cpu")";
  EXPECT_EQ(values.at("lensd_pass_seconds_count" + labels + "}"), 4);
  EXPECT_NEAR(values.at("lensd_pass_seconds_sum" + labels + "}"), 0.00334, 1e-12);
  EXPECT_EQ(values.at("lensd_pass_seconds_bucket" + labels + R"(,le="+Inf"})"), 4);
  double last = 0, limits = 0;
  const std::string bucket = "lensd_pass_seconds_bucket" + labels + ",le=\"";
  std::map<double, double> counts;
  for (const auto& [name, value] : values)
    if (name.starts_with(bucket) && name.find("Inf") == std::string::npos)
      counts[std::stod(name.substr(bucket.size()))] = value;
  for (const auto& [limit, count] : counts) {
    double below = 0;
    for (const double s : {40e-6, 150e-6, 150e-6, 3e-3}) below += s <= limit ? 1 : 0;
    EXPECT_EQ(count, below) << "up to " << limit << " s";
    EXPECT_GE(count, last);
    last = count, ++limits;
  }
  EXPECT_GT(limits, 3);
}

TEST(ProcessUsage, CountsDescriptorsAndThreads) {
  constexpr int kMore = 40, kOthers = 10;  // threads of other tests may end meanwhile
  const ProcessUsage before = process_usage();
  EXPECT_GT(before.resident_bytes, 1 << 20);
  std::vector<UniqueFd> files;
  for (int i = 0; i < kMore; ++i) files.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_NEAR(process_usage().descriptors - before.descriptors, kMore, kOthers);
  std::atomic<bool> go{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < kMore; ++i) threads.emplace_back([&go] { go.wait(false); });
  const int counted = process_usage().threads;
  go = true;
  go.notify_all();
  for (std::thread& thread : threads) thread.join();
  EXPECT_NEAR(counted - before.threads, kMore, kOthers);
}

}  // namespace
}  // namespace lensd

#include "app/viewer/viewer_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/clock.hpp"
#include "core/base/log.hpp"

namespace lensd {
namespace {

constexpr int64_t kScopesEvery = 33'000'000;
constexpr int64_t kRatesEvery = 250'000'000, kRatesOver = 2'050'000'000, kTimingsEvery = 250'000'000,
                  kLogEvery = 100'000'000, kNoticeLife = 6'000'000'000;

std::string format_text(const ImageFormat& format) {
  return fmt::format("{}×{} {}", format.extent.width, format.extent.height, name(format.format));
}

std::string detail_text(const SourceInfo& info) {
  const Extent size = info.picture.upright();
  std::string text = fmt::format("{}×{} {}", size.width, size.height, describe(info.picture));
  if (!info.codec.empty()) text += ", " + info.codec;
  if (!info.decoder.empty() && info.decoder != "software") text += ", " + info.decoder;
  return text;
}

}  // namespace

ViewerModelBuilder::ViewerModelBuilder(Pipeline& pipeline, const Registry& registry,
                                       const BackendChoice& backend, const MachineTexts& texts)
    : pipeline_(pipeline), registry_(registry) {
  const SourceInfo& source = pipeline.source();
  model_.source_name = source.name, model_.source_detail = detail_text(source);
  model_.live = source.live, model_.seekable = source.seekable;
  model_.duration_ns = source.duration_ns, model_.source_fps = source.fps;
  model_.frame_duration_ns = source.fps > 0 ? static_cast<int64_t>(1e9 / source.fps) : 0;
  model_.backend = name(backend.backend), model_.backend_reason = backend.reason;
  model_.display_path = texts.display_path, model_.display_reason = texts.display_reason;
  model_.device = texts.renderer;
  static uint64_t pipelines = 0;
  model_.registry = &registry, model_.pipeline = ++pipelines;
}

void ViewerModelBuilder::shown(const FrameInfo& info) {
  ++model_.counts.shown;
  model_.frame_index = info.index, model_.position_ns = info.pts_ns;
}

void ViewerModelBuilder::shown_tracks(const TrackTable* table) {
  model_.tracks.clear();
  model_.tracks_lost = {};
  if (!table || table->capacity == 0) return losses_.clear();
  const auto* bytes = reinterpret_cast<const uint8_t*>(table);
  model_.tracks.assign(bytes, bytes + track_table_bytes(static_cast<int>(table->capacity)));
  const int64_t time_ns = now_ns();
  Losses& newest = losses_.emplace_back(Losses{time_ns, {}});
  std::copy_n(table->counts, kTrackStatuses, newest.counts.begin());
  while (time_ns - losses_.front().time_ns > 1'000'000'000) losses_.pop_front();
  for (const Losses& one : losses_)
    for (size_t i = 0; i < one.counts.size(); ++i) model_.tracks_lost[i] += one.counts[i];
}

void ViewerModelBuilder::sent(const Command& command) {
  if (const auto* loop = std::get_if<SetLoop>(&command))
    model_.loop_file = loop->file, model_.loop_a_ns = loop->a_ns, model_.loop_b_ns = loop->b_ns;
  if (const auto* set = std::get_if<SetScopes>(&command))
    model_.scopes = set->scopes, model_.scope = {}, model_.compared = false;
  if (const auto* set = std::get_if<SetViews>(&command)) model_.views = set->nodes;
}

void ViewerModelBuilder::notice(bool problem, std::string text) {
  problem ? log::warn("{}", text) : log::info("{}", text);
  // The same again, as while a slider is dragged: one message, as new as the last.
  std::erase_if(model_.notices, [&](const ui::Notice& n) { return n.text == text; });
  model_.notices.push_back({now_ns(), problem, std::move(text)});
}

const ui::ViewerModel& ViewerModelBuilder::build(Extent picture) {
  const int64_t time_ns = now_ns();
  const PipelineStatus status = pipeline_.status();
  model_.picture = picture;
  model_.paused = status.paused, model_.ended = status.ended, model_.speed = status.speed;
  refresh_counts(status);
  if (status.live.live) model_.live_status = status.live, model_.source_detail = status.live.stream;
  if (status.frame_duration_ns > 0) model_.frame_duration_ns = status.frame_duration_ns;
  for (PipelineNotice& n : pipeline_.take_notices()) notice(n.problem, std::move(n.text));
  std::erase_if(model_.notices, [&](const ui::Notice& n) { return time_ns - n.time_ns > kNoticeLife; });
  refresh_graph(status);
  if (time_ns - timings_ns_ > kTimingsEvery) {
    timings_ns_ = time_ns;
    refresh_timings();
    tell_of_damage();
    for (const NodeStatistics& stats : pipeline_.statistics())
      for (ui::NodeView& node : model_.nodes)
        if (node.id == stats.node) node.stats = stats.values;
  }
  if (!model_.scopes.empty() && time_ns - scopes_ns_ > kScopesEvery) {
    scopes_ns_ = time_ns;
    refresh_taps();
  }
  refresh_rates(time_ns);
  return model_;
}

/// Once for a source: a file that is played in a loop comes to its stream_errors again and again.
void ViewerModelBuilder::tell_of_damage() {
  if (damage_told_) return;
  const std::string stream_errors = pipeline_.source_errors();
  damage_told_ = !stream_errors.empty();
  if (damage_told_) notice(true, fmt::format("{}: {}", model_.source_name, stream_errors));
}

void ViewerModelBuilder::refresh_log() {
  const int64_t time_ns = now_ns();
  if (time_ns - log_ns_ < kLogEvery) return;
  log_ns_ = time_ns;
  model_.log = log::recent();
}

void ViewerModelBuilder::refresh_counts(const PipelineStatus& status) {
  ui::FrameCounts& c = model_.counts;
  c.received = status.live.frames, c.placeholders = status.placeholders;
  c.replaced_source = status.live.dropped, c.replaced_graph = status.dropped - status.live.dropped;
  c.skipped = status.skipped;
  c.processed = status.processed, c.made_again = status.reruns;
  c.late = status.late, c.not_shown = status.not_shown;
}

/// The rows with their newest durations, and from those what the graph took as a whole.
void ViewerModelBuilder::refresh_timings() {
  constexpr size_t kSparkline = 48, kHistory = 200;
  static uint64_t renewals = 0;  // of all sources: the next one's numbers are not taken for this one's
  model_.timings_version = ++renewals;
  model_.timings = pipeline_.profiler().snapshot();
  model_.timing_histories.clear();
  std::vector<int64_t> total;
  for (const PassStats& row : model_.timings) {
    std::vector<int64_t> values = pipeline_.profiler().history(row.node, row.pass);
    const bool graph = row.active && row.count > 0 &&
                       std::any_of(model_.nodes.begin(), model_.nodes.end(),
                                   [&](const auto& n) { return !n.scope && n.id == row.node; });
    if (graph) {
      // Rings of equal age end at the same frame: they are added from their ends.
      if (total.empty() || values.size() < total.size())
        total.erase(total.begin(),
                    total.end() - static_cast<std::ptrdiff_t>(std::min(total.size(), values.size())));
      if (total.empty()) total.assign(values.size(), 0);
      for (size_t i = 0; i < total.size(); ++i) total[total.size() - 1 - i] += values[values.size() - 1 - i];
    }
    if (values.size() > kSparkline)
      values.erase(values.begin(), values.end() - static_cast<std::ptrdiff_t>(kSparkline));
    model_.timing_histories.push_back(std::move(values));
  }
  if (total.size() > kHistory)
    total.erase(total.begin(), total.end() - static_cast<std::ptrdiff_t>(kHistory));
  model_.graph_history_ns = std::move(total);
}

void ViewerModelBuilder::refresh_taps() {
  for (const ScopeRequest& scope : model_.scopes) {
    if (scope.kind == ScopeKind::compare) {
      model_.compared = pipeline_.read_scope(scope, comparison_);
      if (model_.compared) model_.comparison = comparison_.comparison();
    } else if (pipeline_.read_scope(scope, model_.scope)) {
      ++model_.scope_version;
    }
  }
}

void ViewerModelBuilder::refresh_graph(const PipelineStatus& status) {
  // The status was read before the graph, which is therefore as new or newer.
  model_.graph_mark = status.edit_mark, model_.graph_planning = status.planning;
  const auto view = pipeline_.graph();
  if (!view || view->version == graph_version_) return;
  graph_version_ = view->version;
  timings_ns_ = 0;  // rows of nodes that went, or moved, go with them
  model_.graph = view->graph, model_.graph_version = view->version;
  model_.nodes.clear();
  const auto planned_format = [&](const std::string& id) {
    const auto it = std::find_if(view->planned.begin(), view->planned.end(),
                                 [&](const PlannedNode& n) { return n.id == id; });
    return it == view->planned.end() ? std::string() : format_text(it->output);
  };
  for (const NodeDesc& desc : view->graph.nodes) {
    ui::NodeView& node = model_.nodes.emplace_back();
    node.id = desc.id, node.filter = desc.filter, node.enabled = desc.enabled;
    node.schema = &registry_.find(desc.filter)->schema();
    for (const ParamSpec& spec : node.schema->params) node.values.push_back(value_of(desc, spec));
    node.format = planned_format(desc.id);
  }
  for (const PlannedNode& planned : view->planned)
    if (planned.automatic)
      model_.nodes.push_back({.id = planned.id,
                              .filter = planned.filter,
                              .enabled = true,
                              .automatic = true,
                              .scope = planned.scope,
                              .schema = nullptr,
                              .values = {},
                              .format = format_text(planned.output),
                              .stats = {}});
}

/// Over the last two seconds, so that a slow source's rate does not jump between whole frames.
void ViewerModelBuilder::refresh_rates(int64_t time_ns) {
  if (!rates_.empty() && time_ns - rates_.back().time_ns < kRatesEvery) return;
  rates_.push_back({time_ns, model_.counts.processed, model_.counts.shown});
  while (time_ns - rates_.front().time_ns > kRatesOver) rates_.pop_front();
  const Counted& first = rates_.front();
  if (first.time_ns == time_ns) return;
  const double seconds = to_s(time_ns - first.time_ns);
  model_.decode_fps = static_cast<double>(model_.counts.processed - first.processed) / seconds;
  model_.display_fps = static_cast<double>(model_.counts.shown - first.shown) / seconds;
}

}  // namespace lensd

#include "app/viewer/viewer_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/log.hpp"
#include "ui/keys.hpp"

namespace lensd {
namespace {

constexpr int64_t kScopesEvery = 33'000'000;
constexpr int64_t kRatesEvery = 250'000'000, kRatesOver = 2'050'000'000, kTimingsEvery = 250'000'000,
                  kLogEvery = 100'000'000;

std::string format_text(const ImageFormat& format) {
  return fmt::format("{}×{} {}", format.extent.width, format.extent.height, name(format.format));
}

std::string detail_text(const SourceInfo& info, const PictureInfo& picture) {
  const Extent size = picture.upright();
  std::string text = fmt::format("{}×{} {}", size.width, size.height, describe(picture));
  if (!info.codec.empty()) text += ", " + info.codec;
  if (!info.decoder.empty() && info.decoder != "software") text += ", " + info.decoder;
  return text;
}

/// Returns true if the notice `newer` replaces `older`: both have the same text, for example because a
/// dragged slider repeats it, or both show a value of the same setting.
bool is_replaced(const ui::Notice& older, const std::string& newer) {
  constexpr std::array<std::string_view, 4> kSettings = {ui::kVolumeIs, ui::kSoundIs, ui::kAspectIs,
                                                         ui::kSlotIs};
  const auto both = [&](std::string_view setting) {
    return older.text.starts_with(setting) && newer.starts_with(setting);
  };
  return older.text == newer || std::ranges::any_of(kSettings, both);
}

}  // namespace

ViewerModelBuilder::ViewerModelBuilder(Pipeline& pipeline, const Registry& registry,
                                       const BackendChoice& backend, const MachineTexts& texts,
                                       std::function<void(const Notice&)> on_notice)
    : pipeline_(pipeline), registry_(registry), on_notice_(std::move(on_notice)) {
  const SourceInfo& source = pipeline.source();
  model_.source_name = source.name, model_.source_detail = detail_text(source, source.picture);
  model_.source_address = source.url;
  model_.live = source.live, model_.seekable = source.seekable, model_.image = source.image;
  model_.duration_ns = source.duration_ns, model_.source_fps = source.fps;
  model_.source_size = source.picture.upright(), model_.chapters = source.chapters;
  model_.video_tracks = source.video_tracks, model_.video_track = source.video_track;
  model_.frame_duration_ns = source.fps > 0 ? static_cast<int64_t>(1e9 / source.fps) : 0;
  model_.backend = name(backend.backend), model_.backend_reason = backend.reason;
  model_.display_path = texts.display_path, model_.display_reason = texts.display_reason;
  model_.screen = texts.screen;
  model_.device = texts.renderer;
  static uint64_t pipelines = 0;
  model_.registry = &registry, model_.pipeline = ++pipelines;
}

void ViewerModelBuilder::shown(const FrameInfo& info) {
  ++model_.counts.shown;
  model_.frame_index = info.index, model_.frame_estimated = info.index_estimated;
  model_.position_ns = info.pts_ns;
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

void ViewerModelBuilder::sent(const Command& command, uint64_t ticket) {
  drop_refusals(command);
  if (const auto* loop = std::get_if<SetLoop>(&command))
    model_.loop_file = loop->file, model_.loop_a_ns = loop->a_ns, model_.loop_b_ns = loop->b_ns,
    tickets_.loop = ticket;
  if (const auto* loop = std::get_if<SetFileLoop>(&command))
    model_.loop_file = loop->on, tickets_.loop = ticket;
  if (const auto* set = std::get_if<SetSpeed>(&command)) model_.speed = set->speed, tickets_.speed = ticket;
  if (const auto* set = std::get_if<SetVolume>(&command))
    model_.volume = set->percent, tickets_.volume = ticket;
  if (const auto* set = std::get_if<SetMute>(&command)) model_.muted = set->on, tickets_.mute = ticket;
  if (const auto* set = std::get_if<SetPrecision>(&command))
    model_.precision = set->precision, tickets_.precision = ticket;
  if (const auto* set = std::get_if<SetColour>(&command))
    model_.colour = set->settings, tickets_.colour = ticket;
  if (const auto* set = std::get_if<SetScopes>(&command))
    model_.scopes = set->scopes, model_.scope = {}, model_.compared = false;
  if (const auto* set = std::get_if<SetViews>(&command)) model_.views = set->nodes;
}

void ViewerModelBuilder::drop_refusals(const Command& command) {
  const auto drop = [&](const std::string& node) {
    std::erase_if(model_.notices, [&](const ui::Notice& n) {
      return n.problem && (n.text.starts_with(node + ".") || n.text.starts_with(node + ":"));
    });
  };
  const auto drop_change = [&](const GraphChange& change) {
    std::visit([&](const auto& one) { drop(one.node); }, change);
  };
  if (const auto* set = std::get_if<SetParam>(&command)) drop(set->node);
  if (const auto* set = std::get_if<SetEnabled>(&command)) drop(set->node);
  if (const auto* batch = std::get_if<Batch>(&command)) std::ranges::for_each(batch->changes, drop_change);
}

void ViewerModelBuilder::notice(bool problem, std::string text) {
  problem ? log::warn("{}", text) : log::info("{}", text);
  std::erase_if(model_.notices, [&](const ui::Notice& n) { return is_replaced(n, text); });
  model_.notices.push_back({0, problem, std::move(text)});
}

/// Removes hints about setting the A-B loop that no longer apply. Another client or a new source may also
/// have changed the loop.
void ViewerModelBuilder::drop_loop_hints() {
  if (model_.loop_a_ns >= 0 && model_.loop_b_ns < 0) return;
  std::erase_if(model_.notices, [](const ui::Notice& n) {
    return !n.problem && (n.text.starts_with(ui::kLoopBegun) || n.text.starts_with(ui::kLoopTooShort));
  });
}

/// Sets the start time of new notices and removes expired ones.
void ViewerModelBuilder::refresh_notices(int64_t time_ns) {
  for (ui::Notice& notice : model_.notices)
    if (notice.time_ns == 0) notice.time_ns = time_ns;
  std::erase_if(model_.notices, [&](const ui::Notice& n) { return time_ns - n.time_ns > n.life_ns(); });
}

const ui::ViewerModel& ViewerModelBuilder::build(Extent picture, bool controls_shown, bool drawn) {
  const int64_t time_ns = now_ns();
  const PipelineStatus status = pipeline_.status();
  model_.picture = picture, model_.pixel_aspect = status.pixel_aspect.ratio();
  model_.source_aspect = status.source_aspect.ratio();
  if (status.frame_index == model_.frame_index)
    model_.position_ns = status.position_ns;  // advances while a long picture is shown
  model_.stalled_since_ns = status.stalled_since_ns;
  model_.paused = status.paused, model_.ended = status.ended;
  refresh_settings(status);
  model_.bits = status.bits, model_.source_colour = status.source_colour;
  model_.probe_matrix = status.scope_matrix;
  model_.sound = status.sound;
  refresh_counts(status);
  if (status.live.live) model_.live_status = status.live, model_.source_detail = status.live.stream;
  const bool fields_changed = status.fields != std::exchange(model_.fields, status.fields);
  if (status.frame_duration_ns > 0) model_.frame_duration_ns = status.frame_duration_ns;
  for (Notice& n : pipeline_.take_notices()) {
    on_notice_(n);
    notice(n.problem, std::move(n.text));
  }
  drop_loop_hints();
  if (drawn) refresh_notices(time_ns);
  if (refresh_graph(status) || fields_changed) describe_source();
  model_.controls = pipeline_.source_controls(controls_shown);
  if (time_ns - timings_ns_ > kTimingsEvery) {
    timings_ns_ = time_ns;
    refresh_timings();
    report_stream_errors();
    for (const NodeStatistics& stats : pipeline_.statistics())
      for (ui::NodeView& node : model_.nodes)
        if (node.id == stats.node) node.stats = stats.values;
  }
  if (!model_.scopes.empty() && time_ns - scopes_ns_ > kScopesEvery) {
    scopes_ns_ = time_ns;
    refresh_scopes();
  }
  refresh_rates(time_ns);
  return model_;
}

/// Takes the settings of the status, except those that were sent and are not applied yet.
void ViewerModelBuilder::refresh_settings(const PipelineStatus& status) {
  const auto applied = [&](uint64_t ticket) { return status.applied >= ticket; };
  if (applied(tickets_.loop))
    model_.loop_file = status.loop_file, model_.loop_a_ns = status.loop_a_ns,
    model_.loop_b_ns = status.loop_b_ns;
  if (applied(tickets_.speed)) model_.speed = status.speed;
  if (applied(tickets_.volume)) model_.volume = status.volume;
  if (applied(tickets_.mute)) model_.muted = status.muted;
  if (applied(tickets_.precision)) model_.precision = status.precision;
  if (applied(tickets_.colour)) model_.colour = status.colour;
}

/// Reports stream errors once per source, because a file that loops repeats its errors.
void ViewerModelBuilder::report_stream_errors() {
  if (errors_reported_) return;
  const std::string errors = pipeline_.source_errors();
  errors_reported_ = !errors.empty();
  if (errors_reported_) notice(true, fmt::format("{}: {}", model_.source_name, errors));
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
  c.camera_broken = status.live.camera_broken, c.camera_missed = status.live.camera_missed;
  c.replaced_source = status.live.dropped, c.replaced_graph = status.dropped - status.live.dropped;
  c.skipped = status.skipped;
  c.processed = status.processed, c.rerun = status.reruns;
  c.late = status.late, c.not_shown = status.not_shown;
}

/// Updates the timing rows, their newest durations, and the graph's total duration per frame.
void ViewerModelBuilder::refresh_timings() {
  constexpr size_t kSparkline = 48, kHistory = 200;
  static uint64_t renewals = 0;  // shared by all sources, so that their versions differ
  model_.timings_version = ++renewals;
  model_.timings = pipeline_.profiler().snapshot();
  model_.timing_histories.clear();
  std::vector<int64_t> total;
  for (const PassStats& row : model_.timings) {
    std::vector<int64_t> values = pipeline_.profiler().history(row.node, row.pass);
    const ui::NodeView* node = model_.find(row.node);
    if (row.active && row.count > 0 && node && !node->scope) {
      // All histories end at the same frame, so add them from the end.
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

void ViewerModelBuilder::refresh_scopes() {
  for (const ScopeRequest& scope : model_.scopes) {
    if (scope.kind == ScopeKind::compare) {
      model_.compared = pipeline_.read_scope(scope, comparison_);
      if (model_.compared) model_.comparison = comparison_.comparison();
    } else if (pipeline_.read_scope(scope, model_.scope)) {
      ++model_.scope_version;
    }
  }
}

void ViewerModelBuilder::describe_source() {
  if (model_.live_status.live) return;  // a live source's status describes the stream
  model_.source_detail = detail_text(pipeline_.source(), picture_);
  if (model_.fields != FieldOrder::progressive)
    model_.source_detail += fmt::format(", {}", name(model_.fields));
}

/// Updates the graph and the size of the source's pictures. Returns false if nothing has changed.
bool ViewerModelBuilder::refresh_graph(const PipelineStatus& status) {
  // The status was read first, so the graph is at least as new as the status.
  model_.graph_mark = status.edit_mark, model_.graph_planning = status.planning;
  const auto view = pipeline_.graph();
  if (!view || view->version == graph_version_) return false;
  graph_version_ = view->version;
  picture_ = view->picture, model_.source_size = picture_.upright();
  timings_ns_ = 0;  // update the timing rows too
  model_.graph = view->graph, model_.graph_version = view->version;
  model_.graph_memory = view->device_bytes;
  model_.nodes.clear();
  const auto set_format = [&](ui::NodeView& node) {
    const auto it = std::ranges::find(view->planned, node.id, &PlannedNode::id);
    if (it != view->planned.end()) node.format = format_text(it->output), node.size = it->output.extent;
  };
  for (const NodeDesc& desc : view->graph.nodes) {
    model_.nodes.push_back(ui::node_view(desc, registry_.find(desc.filter)->schema()));
    set_format(model_.nodes.back());
  }
  for (const PlannedNode& planned : view->planned) {
    if (!planned.automatic) continue;
    ui::NodeView& node = model_.nodes.emplace_back();
    node.id = planned.id, node.filter = planned.filter, node.format = format_text(planned.output);
    node.automatic = true, node.scope = planned.scope;
  }
  return true;
}

/// Updates the frame rates. Averages over 2 s, so that a slow source's rate does not jump by whole frames.
void ViewerModelBuilder::refresh_rates(int64_t time_ns) {
  if (!rates_.empty() && time_ns - rates_.back().time_ns < kRatesEvery) return;
  rates_.push_back({time_ns, model_.counts.processed, model_.counts.shown});
  while (time_ns - rates_.front().time_ns > kRatesOver) rates_.pop_front();
  const RateSample& first = rates_.front();
  if (first.time_ns == time_ns) return;
  const double seconds = to_s(time_ns - first.time_ns);
  model_.graph_fps = static_cast<double>(model_.counts.processed - first.processed) / seconds;
  model_.display_fps = static_cast<double>(model_.counts.shown - first.shown) / seconds;
}

}  // namespace lensd

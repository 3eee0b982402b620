#include "core/control/property_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/clock.hpp"
#include "core/graph/json.hpp"

namespace lensd {
namespace {

template <auto member>
Json get(const ControlView& view) {
  return view.state.*member;
}

template <auto member>
Json get_seconds(const ControlView& view) {
  return to_s(view.state.*member);
}

/// Sets a boolean property. `make` converts the value to a command.
template <auto make>
std::string set_boolean(const ControlView&, const Json& value, std::vector<Command>& out) {
  const std::optional<bool> on = boolean_from_json(value);
  if (!on) return kExpectedBoolean;
  out.push_back(make(*on));
  return {};
}

std::string set_loop_file(const ControlView&, const Json& value, std::vector<Command>& out) {
  const std::optional<bool> on = value == "inf" ? std::optional(true) : boolean_from_json(value);
  if (!on)
    return fmt::format("expected inf or no, or true or false{}",
                       value.is_number() ? "; files play once or without end" : "");
  out.push_back(SetFileLoop{*on});
  return {};
}

std::string set_speed(const ControlView&, const Json& value, std::vector<Command>& out) {
  if (!value.is_number() || value.get<double>() < kMinSpeed || value.get<double>() > kMaxSpeed)
    return fmt::format("expected a number {} to {}", kMinSpeed, kMaxSpeed);
  out.push_back(SetSpeed{value.get<double>()});
  return {};
}

std::string set_volume(const ControlView& view, const Json& value, std::vector<Command>& out) {
  if (view.state.sound == SoundState::off) return "this run plays no sound";
  if (!value.is_number() || value.get<double>() < 0 || value.get<double>() > kMaxVolume)
    return fmt::format("expected a number 0 to {}", kMaxVolume);
  out.push_back(SetVolume{value.get<double>()});
  return {};
}

std::string set_mute(const ControlView& view, const Json& value, std::vector<Command>& out) {
  if (view.state.sound == SoundState::off) return "this run plays no sound";
  const std::optional<bool> on = boolean_from_json(value);
  if (!on) return kExpectedBoolean;
  out.push_back(SetMute{*on});
  return {};
}

std::string set_precision(const ControlView&, const Json& value, std::vector<Command>& out) {
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  const auto* const found = std::find(std::begin(kPrecisionNames), std::end(kPrecisionNames), text);
  if (found == std::end(kPrecisionNames)) return "expected auto, 8 or 16";
  out.push_back(SetPrecision{static_cast<Precision>(found - std::begin(kPrecisionNames))});
  return {};
}

Json get_precision(const ControlView& view) {
  return kPrecisionNames[static_cast<size_t>(view.state.precision)];
}

Json get_colour(const ControlView& view) {
  Json values = Json::object();
  for (const ParamSpec& setting : colour_schema().params)
    values[setting.name] = to_json(setting.get(&view.state.colour));
  return values;
}

Json get_sound(const ControlView& view) {
  return sound_reason(view.state.sound);
}

std::string set_position(const ControlView& view, const Json& value, std::vector<Command>& out) {
  if (!value.is_number() || value.get<double>() < 0 || value.get<double>() > 1e9)
    return "expected a time in seconds from 0";
  if (!view.state.seekable) return "this source cannot seek";
  out.push_back(Seek{static_cast<int64_t>(value.get<double>() * 1e9), false});
  return {};
}

double rounded(double value, double parts) {
  return std::round(value * parts) / parts;
}

Json get_source(const ControlView& v) {
  const RunState& s = v.state;
  return {{"url", s.source_url},
          {"name", s.source_name},
          {"state", s.source_state},
          {"reason", s.source_reason},
          {"detail", s.source_detail},
          {"live", s.live_source},
          {"seekable", s.seekable},
          {"width", s.picture.width},
          {"height", s.picture.height},
          {"fps", s.live.nominal_rate > 0 ? s.live.nominal_rate : s.source_fps},
          {"measured_fps", rounded(s.live.rate, 1000)},
          {"stream", s.live.stream},
          {"reconnects", s.live.reconnects},
          {"fields", name(s.fields)},
          {"video_track", s.video_track},
          {"video_tracks", s.video_tracks}};
}

Json get_sizes(const ControlView& v) {
  Json sizes = Json::object();
  for (const auto& [node, size] : v.state.sizes) sizes[node] = {size.width, size.height};
  return sizes;
}

Json get_counters(const ControlView& v) {
  const RunState& s = v.state;
  return {{"decoded", s.decoded},
          {"processed", s.processed},
          {"late", s.late},
          {"dropped", s.dropped},
          {"camera_broken", s.live.camera_broken},
          {"camera_missed", s.live.camera_missed},
          {"dropped_recorder", s.record.dropped},
          {"dropped_stream", s.stream.dropped},
          {"dropped_virtual_camera", s.virtual_camera.dropped},
          {"record_failures", s.record.failures},
          {"reconnects", s.live.reconnects},
          {"reloads", s.reloads},
          {"errors", s.errors},
          {"reloads_refused", s.reloads_refused}};
}

Json get_recording(const ControlView& v) {
  return v.state.record.active ? v.state.record.path : "";
}

Json get_record(const ControlView& v) {
  const SinkStatus& r = v.state.record;
  return {{"on", r.wanted},         {"active", r.active},  {"path", get_recording(v)}, {"frames", r.frames},
          {"bytes", r.bytes},       {"files", r.files},    {"dropped", r.dropped},     {"missed", r.missed},
          {"failures", r.failures}, {"problem", r.problem}};
}

Json get_stream(const ControlView& v) {
  const SinkStatus& s = v.state.stream;
  return {{"url", s.path},      {"state", s.state}, {"reason", s.problem},
          {"frames", s.frames}, {"bytes", s.bytes}, {"dropped", s.dropped}};
}

Json get_virtual_camera(const ControlView& v) {
  const SinkStatus& s = v.state.virtual_camera;
  return {{"on", s.wanted},      {"name", s.path},     {"state", s.wanted ? s.state : "off"},
          {"reason", s.problem}, {"frames", s.frames}, {"dropped", s.dropped}};
}

Json get_controls(const ControlView& v) {
  Json values = Json::object();
  if (const SourceControls* controls = v.controls())
    for (const SourceControl& control : controls->list)
      if (control.kind != ControlKind::button) values[control.name] = control_json(control);
  return values;
}

Json get_rate(const ControlView& v) {
  return rounded(v.state.rate, 100);
}

Json get_graph(const ControlView& v) {
  return graph_json(v.graph.graph, *v.registry);
}

constexpr Property kProperties[] = {
    {"pause", "true while playback is paused", get<&RunState::paused>,
     set_boolean<[](bool on) { return Pause{on}; }>},
    {"speed", "playback speed", get<&RunState::speed>, set_speed},
    {"volume", "volume of the viewer's sound in percent, 0 to 130", get<&RunState::volume>, set_volume},
    {"mute", "true while the sound is muted", get<&RunState::muted>, set_mute},
    {"sound", "why no sound is played; empty while sound is played", get_sound, nullptr},
    {"time-pos", "position in seconds; setting it seeks", get_seconds<&RunState::position_ns>, set_position},
    {"duration", "length in seconds, 0 if unknown", get_seconds<&RunState::duration_ns>, nullptr},
    {"frame", "index of the newest frame", get<&RunState::frame_index>, nullptr},
    {"frame-estimated", "true if `frame` is an estimate, after a seek in a file whose frame rate varies",
     get<&RunState::frame_estimated>, nullptr},
    {"rate", "frames per second over the last second", get_rate, nullptr},
    {"loop-file", "start over at the end: inf or no", get<&RunState::loop_file>, set_loop_file},
    {"bypass", "show the decoded picture instead of the graph's output", get<&RunState::bypass>,
     set_boolean<[](bool on) { return Bypass{on}; }>},
    {"precision", "bits per sample between the nodes: auto, 8 or 16", get_precision, set_precision},
    {"bits", "bits per sample between the nodes of the running graph", get<&RunState::bits>, nullptr},
    {"colour", "the conversion of HDR and wide-gamut sources; colour.NAME sets a value", get_colour, nullptr},
    {"ended", "true after the end of the source", get<&RunState::ended>, nullptr},
    {"source", "the source and its state", get_source, nullptr},
    {"controls", "the camera's controls; source.NAME sets one", get_controls, nullptr},
    {"counters", "frames and events since the start", get_counters, nullptr},
    {"backend", "the backend that runs the graph", get<&RunState::backend>, nullptr},
    {"device-memory", "bytes of GPU memory of the graph's pictures and buffers; 0 on the CPU",
     get<&RunState::device_bytes>, nullptr},
    {"recording", "the file that is being recorded; empty: none", get_recording, nullptr},
    {"record", "the state of the recording", get_record, nullptr},
    {"stream", "the receiver of the output and its state", get_stream, nullptr},
    {"virtual-camera", "the output as a camera for other programs, and its state", get_virtual_camera,
     nullptr},
    {"graph", "the filter graph, as in graph-get", get_graph, nullptr},
    {"sizes", "width and height of the source and of the outputs of the nodes that run", get_sizes, nullptr},
};

bool needs_text(const SourceControl& control) {
  constexpr int64_t kMaxExact = 9007199254740991;  // 2^53 - 1
  return control.kind == ControlKind::integer && (control.min < -kMaxExact || control.max > kMaxExact);
}

}  // namespace

std::span<const Property> property_table() {
  return kProperties;
}

const Property* find_property(const std::string& name) {
  for (const Property& property : kProperties)
    if (name == property.name) return &property;
  return nullptr;
}

std::optional<bool> boolean_from_json(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value == "yes" || value == "true") return true;
  if (value == "no" || value == "false") return false;
  return std::nullopt;
}

Json control_json(const SourceControl& control) {
  return control.write_only ? Json() : control_json(control, control.value);
}

Json control_json(const SourceControl& control, const ParamValue& value) {
  return needs_text(control) ? Json(to_string(value)) : to_json(value);
}

}  // namespace lensd

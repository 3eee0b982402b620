#include "core/config/keys.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/base/contains.hpp"
#include "core/base/log_levels.hpp"
#include "core/config/config.hpp"
#include "core/pipeline/playback_sound.hpp"

namespace lensd {
namespace {

constexpr double kYear = 366 * 24 * 3600.0;  // seconds
constexpr int kMaxBitrate = 1'000'000;

ConfigTable source_table() {
  return Schema<Config>("source", "the source if the command line names none")
      .text("url", &Config::source_url, "file, image, test:NAME, camera or network address")
      .choice("hwdec", &Config::hwdec, {"no", "auto", "cuda"}, "hardware decoding")
      .choice("profile", &Config::source_profile, {"default", "low-latency"},
              "low-latency: live sources with the least delay")
      .text("format", &Config::source_format,
            "cameras: mjpeg, yuyv422, … or a V4L2 code such as YUYV; network: the demuxer; empty: automatic")
      .text("size", &Config::source_size,
            "cameras and the screen: 1280x720; empty: the camera's largest with 30 frames per second, or the "
            "screen's")
      .real("rate", &Config::source_rate, 0, 1000,
            "cameras and the screen: frames per second; 0: 30 if the camera has it", {.unit = "1/s"})
      .integer("video_track", &Config::source_video_track, 0, 99,
               "number of the video track; 0: the best one")
      .choice("rtsp_transport", &Config::rtsp_transport, {"tcp", "udp", "udp_multicast", "http"},
              "transport of RTSP")
      .choice("tls", &Config::source_tls, {"auto", "verify", "any"},
              "certificates of https and rtmps: auto verifies public names, any accepts all")
      .real("open_timeout", &Config::source_open_timeout, 0, 3600,
            "live: time from connecting to the first picture; 0: the default", {.unit = "s"})
      .real("timeout", &Config::source_timeout, 0, 3600,
            "live: reconnect after this time without data; 0 or not set: 3 s, for UDP and SRT 1 s, for "
            "Motion JPEG "
            "over HTTP more",
            {.unit = "s"})
      .real("stall", &Config::source_stall, 0, 3600,
            "live: stalled after this time without a picture; 0: the default", {.unit = "s"})
      .text("options", &Config::source_options,
            "live: further FFmpeg options as NAME=VALUE, separated by spaces")
      .build();
}

ConfigTable colour_table() {
  ConfigTable table =
      Schema<Config>("colour", colour_schema().doc)
          .choice("hdr", &Config::colour_hdr, {"tonemap", "keep"},
                  "tonemap: convert to SDR and BT.709; keep: filter and write the coded values, "
                  "convert only what is shown")
          .build();
  for (ParamSpec key : colour_schema().params) {
    key.get = [get = key.get](const void* config) {
      return get(&static_cast<const Config*>(config)->colour);
    };
    key.put = [put = key.put](void* config, const ParamValue& value) {
      put(&static_cast<Config*>(config)->colour, value);
    };
    table.params.push_back(std::move(key));
  }
  return table;
}

/// [graph] also has the graph's output, which config.cpp reads.
ConfigTable graph_table() {
  return Schema<Config>("graph", "the filter graph")
      .choice("precision", &Config::precision, {"auto", "8", "16"},
              "bits per sample between the nodes; auto: 16 for sources with more than 8 bits or HDR, else 8")
      .build();
}

ConfigTable window_table() {
  return Schema<Config>("window", "the viewer's window")
      .integer("width", &Config::window_width, 64, 16384, "width", {.unit = "px"})
      .integer("height", &Config::window_height, 64, 16384, "height", {.unit = "px"})
      .boolean("fullscreen", &Config::fullscreen, "start in fullscreen")
      .boolean("vsync", &Config::vsync, "present frames in step with the monitor")
      .boolean("keep_screen_on", &Config::keep_screen_on,
               "keep the desktop from blanking or locking the screen while a video plays; on by default")
      .build();
}

ConfigTable audio_table() {
  return Schema<Config>("audio", "the sound of files and network streams")
      .boolean("on", &Config::audio_on, "play the sound and copy it to outputs")
      .real("volume", &Config::audio_volume, 0, kMaxVolume,
            "volume, 100: as recorded; not set: as in the last run", {.unit = "%"})
      .boolean("mute", &Config::audio_mute, "start muted")
      .integer("track", &Config::audio_track, 0, 99, "number of the audio track; 0: the best one")
      .build();
}

ConfigTable performance_table() {
  return Schema<Config>("performance", "backend and processors of the filters")
      .choice("backend", &Config::backend, {"auto", "cuda", "cpu"}, "backend; auto: CUDA if there is a GPU")
      .integer("threads", &Config::threads, 0, 1024, "CPU worker threads; 0: one per core")
      .integer("device", &Config::device, 0, 255, "CUDA device number")
      .text("trace_on", &Config::trace_on,
            "write a trace of the last 10 s when a frame is lost (drop) or takes longer than this many ms")
      .build();
}

ConfigTable log_table() {
  return Schema<Config>("log", "messages")
      .choice("level", &Config::log_level,
              std::vector<std::string>(std::begin(log::kLevelNames), std::end(log::kLevelNames)),
              "lowest level of the messages on stderr")
      .text("file", &Config::log_file,
            "also write the whole log to this file; rotates at 16 MiB to NAME.1.log … NAME.3.log")
      .build();
}

ConfigTable control_table() {
  return Schema<Config>("control", "the control socket")
      .text(
          "socket", &Config::control_socket,
          "path of the control socket; empty: lensd serve uses the default path, the window none; off: none")
      .text("folder", &Config::control_folder,
            "folder of snapshots, traces and recordings that control requests; empty: lensd's state folder")
      .integer("max_clients", &Config::control_clients, 1, kMaxClients, "limit of connections")
      .build();
}

ConfigTable http_table() {
  return Schema<Config>("http", "HTTP control, stream and panel page; off unless a port is given")
      .integer("port", &Config::http_port, 0, 65535, "TCP port; 0: no HTTP")
      .text("address", &Config::http_address, "address to listen on")
      .text("hosts", &Config::http_hosts,
            "further host names that browsers may use for the daemon, separated by commas")
      .boolean("auth", &Config::http_auth, "require the token; false only on a loopback address")
      .text("token", &Config::http_token, "the token; empty: from token_file, else a new one at each start")
      .text("token_file", &Config::http_token_file, "file whose first line is the token")
      .integer("max_connections", &Config::http_connections, 4, kMaxConnections, "limit of connections")
      .integer("stream_fps", &Config::http_stream_fps, 1, 60, "highest frame rate of /stream.mjpeg",
               {.unit = "1/s"})
      .build();
}

ConfigTable record_table() {
  return Schema<Config>("record", "recordings while the video runs: --record, key r, control")
      .boolean("on", &Config::record_on, "lensd serve: record from the start, and again after a failure")
      .choice("what", &Config::record_what, {"output", "source"},
              "the graph's output, or the pictures as decoded")
      .text("folder", &Config::record_folder,
            "folder of files without a given name; empty: the current folder, for lensd serve [control] "
            "folder")
      .text("name", &Config::record_name,
            "file name, an strftime template; the extension selects the type: .mkv .mp4 .mov .webm .avi")
      .text("codec", &Config::record_codec,
            "auto (H.264 by libx264), hardware (NVENC if available), ffv1 (lossless, .mkv), or an FFmpeg "
            "encoder")
      .text("preset", &Config::record_preset, "the encoder's preset; empty: lensd's choice")
      .choice("depth", &Config::record_depth, {"auto", "8", "10"},
              "bits per sample; auto: 10 for graphs with 16 bits if the encoder can, but 8 in H.264")
      .boolean("dither", &Config::record_dither,
               "dither graphs with 16 bits for encoders with 8 bits, against banding")
      .integer("crf", &Config::record_crf, 0, 63, "constant quality; smaller is better")
      .integer("bitrate", &Config::record_bitrate, 0, kMaxBitrate, "replaces crf unless 0",
               {.unit = "kbit/s"})
      .real("split_seconds", &Config::record_split_seconds, 0, kYear,
            "start a new file after this time; 0: never", {.unit = "s"})
      .real("split_megabytes", &Config::record_split_megabytes, 0, 1e9,
            "start a new file at about this size; 0: never", {.unit = "MB"})
      .real("keep_minutes", &Config::record_keep_minutes, 0, kYear / 60,
            "delete recorded files with this much newer footage; 0: keep all", {.unit = "min"})
      .real("keep_gigabytes", &Config::record_keep_gigabytes, 0, 1e6,
            "delete the oldest recorded files beyond this total size; 0: no limit", {.unit = "GB"})
      .real("preroll_seconds", &Config::record_preroll_seconds, 0, 3600,
            "a recording starts this long before the request; the encoder then always runs", {.unit = "s"})
      .real("preroll_megabytes", &Config::record_preroll_megabytes, 0, 65536, "memory limit of the pre-roll",
            {.unit = "MB"})
      .build();
}

ConfigTable output_table() {
  return Schema<Config>("output", "receivers of the result while the video runs")
      .text("url", &Config::output_url,
            "rtsp:// rtmp:// srt:// udp:// rtp:// address, .m3u8 playlist or v4l2:/dev/videoN; empty: none")
      .text("codec", &Config::output_codec,
            "as in [record]; this table's encoder also writes -o FILE if url is empty")
      .text("preset", &Config::output_preset, "as in [record]")
      .choice("depth", &Config::output_depth, {"auto", "8", "10"}, "as in [record]")
      .boolean("dither", &Config::output_dither, "as in [record]; also for the virtual camera and -o FILE")
      .integer("crf", &Config::output_crf, 0, 63, "constant quality; smaller is better")
      .integer("bitrate", &Config::output_bitrate, 0, kMaxBitrate, "replaces crf unless 0",
               {.unit = "kbit/s"})
      .choice("tls", &Config::output_tls, {"auto", "verify", "any"},
              "certificate of rtmps: auto verifies public names, any accepts all; verify refuses rtsps")
      .text("virtual_camera", &Config::output_virtual_camera,
            "name of a camera that shows the result to other programs through PipeWire; empty: none")
      .build();
}

}  // namespace

const std::vector<ConfigTable>& config_tables() {
  static const std::vector<ConfigTable> tables = [] {
    std::vector<ConfigTable> all{source_table(), colour_table(),      graph_table(), window_table(),
                                 audio_table(),  performance_table(), log_table(),   control_table(),
                                 http_table(),   record_table(),      output_table()};
    for (ConfigTable& table : all)
      for (ParamSpec& key : table.params) {
        key.put = [name = key_name(table, key), put = key.put](void* config, const ParamValue& value) {
          put(config, value);
          static_cast<Config*>(config)->given.insert(name);
        };
      }
    return all;
  }();
  return tables;
}

const ConfigTable* find_config_table(std::string_view name) {
  for (const ConfigTable& table : config_tables())
    if (table.name == name) return &table;
  return nullptr;
}

std::string key_name(const ConfigTable& table, const ParamSpec& key) {
  return table.name + "." + key.name;
}

bool is_secret(std::string_view key_name) {
  constexpr std::string_view kSecret[] = {"source.url", "source.options", "output.url", "http.token"};
  return contains(kSecret, key_name);
}

const ParamSpec& config_key(std::string_view name) {
  for (const ConfigTable& table : config_tables())
    for (const ParamSpec& key : table.params)
      if (key_name(table, key) == name) return key;
  throw std::logic_error("unknown configuration key " + std::string(name));
}

}  // namespace lensd

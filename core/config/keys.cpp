#include "core/config/keys.hpp"

#include "core/config/config.hpp"

namespace lensd {
namespace {

/// Builds a table whose keys are optional members of Config.
class Table {
 public:
  Table(std::string name, std::string doc) { table_.name = std::move(name), table_.doc = std::move(doc); }

  Table& text(std::string name, std::optional<std::string> Config::*member, std::string fallback,
              std::string doc) {
    return add(std::move(name), member, ParamType::text, ParamValue(std::move(fallback)), std::move(doc));
  }
  Table& choice(std::string name, std::optional<std::string> Config::*member,
                std::vector<std::string> choices, std::string doc) {
    add(std::move(name), member, ParamType::choice, ParamValue(choices.front()), std::move(doc));
    table_.keys.back().spec.choices = std::move(choices);
    return *this;
  }
  Table& boolean(std::string name, std::optional<bool> Config::*member, bool fallback, std::string doc) {
    return add(std::move(name), member, ParamType::boolean, ParamValue(fallback), std::move(doc));
  }
  Table& integer(std::string name, std::optional<int> Config::*member, int fallback, int min, int max,
                 std::string doc, std::string unit = {}) {
    add(std::move(name), member, ParamType::integer, ParamValue(int64_t{fallback}), std::move(doc));
    ParamSpec& spec = table_.keys.back().spec;
    spec.min = min, spec.max = max, spec.unit = std::move(unit);
    return *this;
  }

  Table& real(std::string name, std::optional<double> Config::*member, double fallback, double max,
              std::string doc, std::string unit) {
    add(std::move(name), member, ParamType::real, ParamValue(fallback), std::move(doc));
    ParamSpec& spec = table_.keys.back().spec;
    spec.min = 0, spec.max = max, spec.unit = std::move(unit);
    return *this;
  }

  operator ConfigTable() const { return table_; }

 private:
  template <class T>
  Table& add(std::string name, std::optional<T> Config::*member, ParamType type, ParamValue fallback,
             std::string doc) {
    ParamSpec spec;
    spec.name = std::move(name), spec.doc = std::move(doc), spec.type = type;
    spec.default_value = fallback;
    spec.get = [member, fallback](const void* config) {
      const std::optional<T>& value = static_cast<const Config*>(config)->*member;
      if (!value) return fallback;
      if constexpr (std::is_same_v<T, int>)
        return ParamValue(int64_t{*value});
      else
        return ParamValue(*value);
    };
    spec.put = [member](void* config, const ParamValue& value) {
      if constexpr (std::is_same_v<T, int>)
        static_cast<Config*>(config)->*member = static_cast<int>(std::get<int64_t>(value));
      else
        static_cast<Config*>(config)->*member = std::get<T>(value);
    };
    table_.keys.push_back({std::move(spec), [member](Config& to, const Config& from) {
                             if (from.*member) to.*member = from.*member;
                           }});
    return *this;
  }

  ConfigTable table_;
};

Table source_table() {
  return Table("source", "what is played when the command line names nothing")
      .text("url", &Config::source_url, "", "file, image, test:NAME, camera or network address")
      .choice("hwdec", &Config::hwdec, {"no", "auto", "cuda"}, "hardware decoding")
      .choice("profile", &Config::source_profile, {"default", "low-latency"},
              "low-latency: live sources with the least delay")
      .text("format", &Config::source_format, "",
            "cameras: mjpeg, h264, yuyv422, …; network: the demuxer; empty: chosen by itself")
      .text("size", &Config::source_size, "", "cameras and the screen: 1280x720; empty: the device's own")
      .real("rate", &Config::source_rate, 0, 1000,
            "cameras and the screen: frames a second; 0: the device's own, the screen's 30", "1/s")
      .choice("rtsp_transport", &Config::rtsp_transport, {"tcp", "udp", "udp_multicast", "http"},
              "how RTSP sends pictures")
      .real("open_timeout", &Config::source_open_timeout, 10, 3600,
            "live: from connecting to the first picture; 0: the default", "s")
      .real("timeout", &Config::source_timeout, 3, 3600,
            "live: without data for so long, it is opened anew; 0: the default", "s")
      .real("stall", &Config::source_stall, 0.7, 3600,
            "live: without a picture for so long, it is called stalled; 0: the default", "s")
      .text("options", &Config::source_options, "",
            "live: further options of FFmpeg as NAME=VALUE, parted by spaces");
}

Table record_table() {
  constexpr double kYear = 366 * 24 * 3600.0;
  return Table("record", "recordings while the video runs: --record, key r, control")
      .boolean("on", &Config::record_on, false,
               "lensd serve: record from the start on, and again after a failure")
      .choice("what", &Config::record_what, {"output", "source"},
              "the graph's output, or the pictures as they were decoded")
      .text(
          "folder", &Config::record_folder, "",
          "where files without a given name go; empty: the current folder, for lensd serve [control] folder")
      .text("name", &Config::record_name, "rec-%Y%m%d-%H%M%S.mkv",
            "their name; % as in strftime, the ending is the file type: .mkv .mp4 .mov .webm .avi")
      .text("codec", &Config::record_codec, "auto",
            "auto (H.264 by libx264), hardware (NVENC where there is one), ffv1 (exact, .mkv), or an encoder "
            "of "
            "FFmpeg's")
      .text("preset", &Config::record_preset, "", "the encoder's preset; empty: lensd's choice")
      .integer("crf", &Config::record_crf, 18, 0, 63, "constant quality, smaller is better")
      .integer("bitrate", &Config::record_bitrate, 0, 0, 1'000'000, "instead of crf, where it is not 0",
               "kbit/s")
      .real("split_seconds", &Config::record_split_seconds, 0, kYear, "a new file after this time; 0: never",
            "s")
      .real("split_megabytes", &Config::record_split_megabytes, 0, 1e9,
            "a new file about this size; 0: never", "MB")
      .real("keep_minutes", &Config::record_keep_minutes, 0, kYear / 60,
            "a ring: recorded files with so much newer footage are deleted; 0: all are kept", "min")
      .real("keep_gigabytes", &Config::record_keep_gigabytes, 0, 1e6,
            "a ring: the oldest files are deleted while all are larger; 0: any size", "GB")
      .real("preroll_seconds", &Config::record_preroll_seconds, 0, 3600,
            "a recording begins this long before it was asked for; the encoder always runs then", "s")
      .real("preroll_megabytes", &Config::record_preroll_megabytes, 64, 65536, "memory for that at most",
            "MB");
}

Table output_table() {
  return Table("output", "where the result is sent while the video runs")
      .text(
          "url", &Config::output_url, "",
          "rtsp:// rtmp:// srt:// udp:// rtp:// address, .m3u8 playlist or v4l2:/dev/videoN; empty: nowhere")
      .text("codec", &Config::output_codec, "auto", "as in [record]")
      .text("preset", &Config::output_preset, "", "as in [record]")
      .integer("crf", &Config::output_crf, 23, 0, 63, "constant quality, smaller is better")
      .integer("bitrate", &Config::output_bitrate, 0, 0, 1'000'000, "instead of crf, where it is not 0",
               "kbit/s");
}

}  // namespace

const ConfigKey* ConfigTable::find(std::string_view key) const noexcept {
  for (const ConfigKey& k : keys)
    if (k.spec.name == key) return &k;
  return nullptr;
}

const std::vector<ConfigTable>& config_tables() {
  static const std::vector<ConfigTable> tables{
      source_table(),
      Table("window", "the viewer's window")
          .integer("width", &Config::window_width, 1280, 64, 16384, "width", "px")
          .integer("height", &Config::window_height, 720, 64, 16384, "height", "px")
          .boolean("fullscreen", &Config::fullscreen, false, "start in fullscreen")
          .boolean("vsync", &Config::vsync, true, "show frames in step with the monitor"),
      Table("performance", "where and with what the filters run")
          .choice("backend", &Config::backend, {"auto", "cuda", "cpu"},
                  "the backend; auto takes a GPU if any")
          .integer("threads", &Config::threads, 0, 0, 1024, "CPU worker threads, 0 for one per core")
          .integer("device", &Config::device, 0, 0, 255, "CUDA device number")
          .text("trace_on", &Config::trace_on, "",
                "when the viewer writes a trace by itself: drop (a frame was lost), or a frame's time in "
                "milliseconds"),
      Table("log", "messages")
          .choice("level", &Config::log_level, {"warn", "trace", "debug", "info", "error", "off"},
                  "the least important messages that are written")
          .text("file", &Config::log_file, "",
                "also write the whole log there; of 16 MiB, with three older ones, NAME.1.log to NAME.3.log"),
      Table("control", "the control socket and what it may write")
          .text("socket", &Config::control_socket, "",
                "path of the control socket; empty: the place where lensd ctl looks; off: none")
          .text("folder", &Config::control_folder, "",
                "snapshots, traces and recordings asked for by control land below it; empty: lensd's state "
                "folder")
          .integer("max_clients", &Config::control_clients, 128, 1, 1024, "connections at a time"),
      Table("http", "HTTP control, stream and panel page; off unless a port is given")
          .integer("port", &Config::http_port, 0, 0, 65535, "TCP port; 0: no HTTP")
          .text("address", &Config::http_address, "127.0.0.1", "address to listen on")
          .text("hosts", &Config::http_hosts, "",
                "further names, parted by commas, by which browsers may address the daemon")
          .boolean("auth", &Config::http_auth, true, "ask for the token; false only on a loopback address")
          .text("token", &Config::http_token, "",
                "the token; empty: from token_file, else a new one each start")
          .text("token_file", &Config::http_token_file, "", "file whose first line is the token")
          .integer("max_connections", &Config::http_connections, 48, 4, 512, "connections at a time")
          .integer("stream_fps", &Config::http_stream_fps, 15, 1, 60,
                   "pictures a second of /stream.mjpeg at most", "1/s"),
      record_table(),
      output_table(),
  };
  return tables;
}

const ConfigTable* find_config_table(std::string_view name) {
  for (const ConfigTable& table : config_tables())
    if (table.name == name) return &table;
  return nullptr;
}

}  // namespace lensd

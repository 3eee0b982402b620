// app/cli: the command line as the last layer of the configuration, and the text of --help.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "app/cli.hpp"
#include "app/config_checks.hpp"
#include "app/output_files.hpp"
#include "core/base/error.hpp"
#include "kernels/registry.hpp"
#include "tests/unit/app/serve/command_lines.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

class Cli : public ::testing::Test {
 protected:
  void SetUp() override { set_config_check(config_problems); }
  void TearDown() override { set_config_check(nullptr); }

  /// Returns the settings of a run with the options `words` and a configuration file that contains `text`.
  CommandLine settings(const std::string& text, std::vector<std::string> words = {}) {
    std::ofstream(folder_ / "a.toml") << text;
    words.insert(words.end(), {"-c", folder_ / "a.toml"});
    CommandLine line = line_of(words);
    configure(line, registry());
    return line;
  }
  Config configured(const std::string& text, const std::vector<std::string>& words) {
    return settings(text, words).config;
  }
  static std::string help(const std::vector<std::string>& words) {
    try {
      line_of(words);
      return "";
    } catch (const EarlyExit& e) {
      return e.text;
    }
  }

  TemporaryFolder folder_;
};

constexpr const char* kFile = R"([source]
url = "file.mp4"
hwdec = "auto"
rtsp_transport = "udp"
timeout = 9
[performance]
backend = "cpu"
threads = 2
device = 3
trace_on = "drop"
[log]
level = "debug"
[window]
fullscreen = true
[control]
socket = "/tmp/file.sock"
)";

TEST_F(Cli, AnOptionOverridesAFileEvenWithItsDefault) {
  const Config file = configured(kFile, {});
  EXPECT_EQ(file.device, 3);
  EXPECT_EQ(file.backend, BackendRequest::cpu);
  EXPECT_EQ(file.hwdec, "auto");
  EXPECT_EQ(file.log_level, "debug");
  EXPECT_EQ(file.source_url, "file.mp4");

  EXPECT_EQ(configured(kFile, {"--device", "0"}).device, 0);
  EXPECT_EQ(configured(kFile, {"--backend=auto"}).backend, BackendRequest::automatic);
  EXPECT_EQ(configured(kFile, {"--hwdec=no"}).hwdec, "no");
  EXPECT_EQ(configured(kFile, {"--threads", "0"}).threads, 0);
  EXPECT_EQ(configured(kFile, {"--msg-level=warn"}).log_level, "warn");
  EXPECT_EQ(configured(kFile, {"--rtsp-transport=tcp"}).rtsp_transport, "tcp");
  EXPECT_EQ(configured(kFile, {"--network-timeout=3"}).source_timeout, 3);
  EXPECT_EQ(configured(kFile, {"--trace-on=no"}).trace_on, "no");
  EXPECT_EQ(configured(kFile, {"--fullscreen=false"}).fullscreen, false);
  EXPECT_EQ(configured(kFile, {"--socket", "/tmp/a.sock"}).control_socket, "/tmp/a.sock");
  EXPECT_EQ(configured(kFile, {"clip.mp4"}).source_url, "clip.mp4");
  EXPECT_EQ(configured(kFile, {"-v"}).log_level, "info");
  EXPECT_EQ(configured(kFile, {"-vv"}).log_level, "debug");
  EXPECT_EQ(configured(kFile, {"-q"}).log_level, "error");
}

TEST_F(Cli, AReloadKeepsTheCommandLine) {
  std::ofstream(folder_ / "a.toml") << kFile;
  CommandLine line = line_of({"clip.mp4", "--device=0", "-c", folder_ / "a.toml"});
  configure(line, registry());
  std::ofstream(folder_ / "a.toml")
      << "[source]\nurl = \"other.mp4\"\n[performance]\ndevice = 7\nthreads = 5\n";
  const Config next = load_layers(line.layers, registry()).config;
  EXPECT_EQ(next.source_url, "clip.mp4");
  EXPECT_EQ(next.device, 0);
  EXPECT_EQ(next.threads, 5);
}

TEST_F(Cli, KeysOfTheSourceReachItsOptions) {
  const LiveOptions live = settings(R"([source]
format = "mjpeg"
size = "640x480"
rate = 25
rtsp_transport = "udp"
open_timeout = 4
timeout = 2
stall = 0.5
options = "a=1 b=2"
profile = "low-latency"
[source.controls]
brightness = 7
)")
                               .live;
  EXPECT_EQ(live.format, "mjpeg");
  EXPECT_EQ(live.size, (Extent{640, 480}));
  EXPECT_EQ(live.rate, 25);
  EXPECT_EQ(live.rtsp_transport, "udp");
  EXPECT_EQ(live.open_ns, 4'000'000'000);
  EXPECT_EQ(live.silence_ns, 2'000'000'000);
  EXPECT_TRUE(live.silence_given);
  EXPECT_EQ(live.stall_ns, 500'000'000);
  EXPECT_EQ(live.extra, (std::vector<std::pair<std::string, std::string>>{{"a", "1"}, {"b", "2"}}));
  EXPECT_TRUE(live.low_latency);
  EXPECT_EQ(live.controls.size(), 1u);

  const LiveOptions unset = settings("").live, defaults;
  EXPECT_EQ(unset.open_ns, defaults.open_ns);
  EXPECT_EQ(unset.silence_ns, defaults.silence_ns);
  EXPECT_FALSE(unset.silence_given);
  EXPECT_FALSE(settings("[source]\ntimeout = 0\n").live.silence_given) << "0: the default";
  EXPECT_EQ(unset.stall_ns, defaults.stall_ns);
  EXPECT_FALSE(unset.low_latency);
}

TEST_F(Cli, KeysOfRecordingsReachTheirSettings) {
  setenv("STATE_DIRECTORY", folder_.path().c_str(), 1);  // for the key of the ring's owner
  const RecordSettings r = settings(R"([record]
folder = "/tmp/films"
name = "%H.mp4"
codec = "libx265"
preset = "slow"
depth = "10"
dither = true
crf = 30
bitrate = 900
split_seconds = 11
split_megabytes = 12
keep_minutes = 13
keep_gigabytes = 14
preroll_seconds = 15
preroll_megabytes = 16
)")
                               .recording;
  EXPECT_EQ(r.folder, "/tmp/films");
  EXPECT_EQ(r.name, "%H.mp4");
  EXPECT_EQ(r.encoder.codec, "libx265");
  EXPECT_EQ(r.encoder.preset, "slow");
  EXPECT_EQ(r.encoder.depth, 10);
  EXPECT_TRUE(r.encoder.dither);
  EXPECT_EQ(r.encoder.crf, 30);
  EXPECT_EQ(r.encoder.bitrate_kbit, 900);
  EXPECT_EQ(r.split_seconds, 11);
  EXPECT_EQ(r.split_megabytes, 12);
  EXPECT_EQ(r.keep_minutes, 13);
  EXPECT_EQ(r.keep_gigabytes, 14);
  EXPECT_EQ(r.preroll_seconds, 15);
  EXPECT_EQ(r.preroll_megabytes, 16);
  EXPECT_FALSE(r.owner.empty()) << "a ring has an owner";

  const RecordSettings unset = settings("").recording;
  EXPECT_FALSE(unset.encoder.crf) << "each encoder has its own scale";
  EXPECT_EQ(unset.encoder.depth, 0);
  EXPECT_TRUE(unset.owner.empty());
  unsetenv("STATE_DIRECTORY");
}

TEST_F(Cli, KeysOfOutputsReachTheEncoder) {
  const EncoderOptions stream = settings(R"([output]
codec = "libx265"
preset = "slow"
depth = "8"
dither = true
crf = 40
bitrate = 700
)")
                                    .stream;
  EXPECT_EQ(stream.codec, "libx265");
  EXPECT_EQ(stream.preset, "slow");
  EXPECT_EQ(stream.depth, 8);
  EXPECT_TRUE(stream.dither);
  EXPECT_EQ(stream.crf, 40);
  EXPECT_EQ(stream.bitrate_kbit, 700);
}

TEST_F(Cli, HttpAndOutputSetKeys) {
  const Config http = configured("", {"serve", "--http", "[::1]:0"});
  EXPECT_EQ(http.http_address, "::1");
  EXPECT_EQ(http.http_port, 0);
  EXPECT_TRUE(http.has("http.port")) << "0 is any free port";
  EXPECT_EQ(configured("", {"--http", "8080"}).http_address, "127.0.0.1");
  const CommandLine file = line_of({"-o", "a.mkv"}), stream = line_of({"-o", "udp://127.0.0.1:9"});
  EXPECT_EQ(file.output, "a.mkv");
  EXPECT_EQ(file.mode, RunMode::batch);
  EXPECT_EQ(stream.output, "");
  EXPECT_EQ(stream.config.output_url, "udp://127.0.0.1:9");
  EXPECT_EQ(stream.mode, RunMode::batch);
}

TEST_F(Cli, VirtualCameraTakesANameOrNone) {
  EXPECT_EQ(line_of({"--virtual-camera"}).config.output_virtual_camera, "lensd");
  const CommandLine named = line_of({"clip.mp4", "--virtual-camera", "My desk"});
  EXPECT_EQ(named.config.output_virtual_camera, "My desk");
  EXPECT_EQ(named.mode, RunMode::viewer) << "the window and the camera show the result";
  EXPECT_EQ(configured("[output]\nvirtual_camera = \"Desk\"", {}).output_virtual_camera, "Desk");
  EXPECT_THROW(line_of({"--virtual-camera", "rtsp://host/x"}), Error) << "that is a source";
}

TEST_F(Cli, AWrongValueIsRefusedWithItsOption) {
  const struct {
    const char *option, *says;
  } cases[] = {
      {"--threads=9999", "--threads: threads = '9999' is not allowed, expected a whole number 0 to 1024"},
      {"--backend=gpu", "--backend: backend = 'gpu' is not allowed, expected one of auto, cuda, cpu"},
      {"--hwdec=yes", "--hwdec: hwdec = 'yes' is not allowed, expected one of no, auto, cuda"},
      {"--msg-level=loud", "--msg-level: level = 'loud' is not allowed"},
      {"--speed=0", "--speed: speed = '0' is not allowed, expected a number 0.01 to 100"},
      {"--start=-1", "--start: '-1' is not a time, expected one such as 90, 1:30, 1:02:03.5 or 50%"},
      {"--start=nan", "--start: 'nan' is not a time"},
      {"--frames=0", "--frames: frames = '0' is not allowed, expected a whole number 1 or more"},
      {"--trace-on=soon", "--trace-on: 'soon'"},
      {"--http=70000", "--http: '70000' is not of the form [ADDRESS:]PORT"},
      {"--http=:8080", "--http: ':8080' has an empty address"},
      {"--http=[]:8080", "--http: '[]:8080' has an empty address"},
      {"--loop-file=clip.mp4", "--loop-file: 'clip.mp4' is not one of inf, no"},
      {"--tracks=a.txt", "--tracks: 'a.txt'"},
      {"--timings=t.txt", "--timings: 't.txt' ends neither in .csv nor in .json"},
      {"--nonsense", "command line: "},
      {"help", "help: there is no such command or file (use lensd --help or lensd COMMAND --help)"},
  };
  for (const auto& c : cases) {
    const std::string problem = problem_of({c.option});
    EXPECT_TRUE(problem.starts_with(c.says)) << c.option << ": " << problem;
  }
  EXPECT_NE(problem_of({"serve", "-o", "a.mkv"}), "");
}

TEST_F(Cli, TheCommandOfCtlMayFollowASeparator) {
  const std::vector<std::string> words{"seek", "-1"};
  EXPECT_EQ(line_of({"ctl", "seek", "-1"}).ctl_args, words);
  EXPECT_EQ(line_of({"ctl", "--", "seek", "-1"}).ctl_args, words);
  const CommandLine line = line_of({"ctl", "--socket", "--", "--json", "--", "seek", "-1"});
  EXPECT_EQ(line.ctl_args, words);
  EXPECT_EQ(line.ctl_socket, "--");
  EXPECT_EQ(line_of({"ctl", "log", "--", "x"}).ctl_args, (std::vector<std::string>{"log", "--", "x"}));
}

TEST_F(Cli, ValuesThatConflictWithAFileAreAUsageError) {
  try {
    configured("[http]\nauth = false\n", {"serve", "--http", "0.0.0.0:0"});
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::usage);
    EXPECT_NE(std::string(e.what()).find("loopback"), std::string::npos) << e.what();
  }
}

TEST_F(Cli, OutputsAreFilesOrStreams) {
  EXPECT_EQ(line_of({"a.mp4", "-o", "file:///b%20c.mkv"}).output, "/b c.mkv");
  EXPECT_EQ(line_of({"a.mp4", "-o", "file:/b.mkv"}).output, "/b.mkv");
  EXPECT_EQ(line_of({"a.mp4", "--record", "file:///b.mkv"}).record, "/b.mkv");
  EXPECT_EQ(line_of({"serve", "a.mp4", "-o", "file:///b.m3u8"}).config.output_url, "/b.m3u8");
  for (const char* address : {"http://host/a.mp4", "tcp://host:5000", "file://other/a.mp4"})
    EXPECT_EQ(problem_of({"a.mp4", "-o", address}),
              fmt::format("--output: {}: this is not a stream target (use rtsp:// rtmp:// srt:// udp:// "
                          "rtp://, a .m3u8 playlist or v4l2:/dev/videoN)",
                          address));
  EXPECT_EQ(problem_of({"a.mp4", "--trace", "t.foo"}), "--trace: 't.foo' does not end in .json");
  for (const char* path : {"t.json", "/dev/stdout", "/dev/null"})
    EXPECT_EQ(problem_of({"a.mp4", "--trace", path}), "") << path;
}

TEST_F(Cli, NoTwoOutputsAreTheSameFile) {
  const TemporaryFolder folder;
  const std::string file = folder / "a.mkv",
                    same = (folder.path() / ".." / folder.path().filename() / "a.mkv").string();
  const auto refusal = [](const CommandLine& line) -> std::string {
    try {
      check_output_files(line, {});
      return "";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::usage);
      return e.what();
    }
  };
  EXPECT_EQ(refusal(line_of({"x.mp4", "--record", same, "-o", file})),
            same + ": --output and --record name the same file (choose another name for one of them)");
  std::ofstream(file) << "there";
  EXPECT_NE(refusal(line_of({"x.mp4", "--record", same, "-o", file})), "");
  EXPECT_NE(refusal(line_of({"x.mp4", "--trace", folder / "a.json", "--timings", folder / "a.json"})), "");
  EXPECT_EQ(refusal(line_of({"x.mp4", "--record", folder / "b.mkv", "-o", file})), "");
  EXPECT_EQ(refusal(line_of({"x.mp4", "-o", "null:", "--trace", "/dev/null", "--timings", "/dev/null"})), "");
}

TEST_F(Cli, LoopFileNeedsNoValue) {
  EXPECT_TRUE(line_of({"a.mp4", "--loop-file"}).loop_file);
  EXPECT_TRUE(line_of({"a.mp4", "--loop-file=inf"}).loop_file);
  EXPECT_TRUE(line_of({"a.mp4", "--loop-file=yes"}).loop_file);
  EXPECT_FALSE(line_of({"a.mp4", "--loop-file=no"}).loop_file);
}

TEST_F(Cli, HelpIsGroupedAndFitsInAHundredColumns) {
  const std::string text = help({"--help"});
  size_t at = 0;
  for (const char* group :
       {"\nInput\n", "\nGraph\n", "\nOutput\n", "\nPerformance\n", "\nControl\n", "\nLogging\n"}) {
    const size_t found = text.find(group);
    ASSERT_NE(found, std::string::npos) << group << text;
    EXPECT_GT(found, at) << group;
    at = found;
  }
  for (const char* part : {"0 to 1024", "0.01 to 100", "auto, cuda, cpu; default: auto", "default: warn"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
  for (const std::string command : {"", "serve", "ctl", "filters", "doctor", "bench", "check"}) {
    const std::string page = help(command.empty() ? std::vector<std::string>{"--help"}
                                                  : std::vector<std::string>{command, "--help"});
    EXPECT_TRUE(page.starts_with("Usage: lensd")) << command;
    EXPECT_TRUE(command != "serve" || page.starts_with("Usage: lensd serve [OPTIONS] [SOURCE]\n")) << page;
    for (const char* noise :
         {"TEXT", "INT", "UINT", "FLOAT", "REQUIRED", "Needs:", "Excludes:", "PATH:", " ..."})
      EXPECT_EQ(page.find(noise), std::string::npos) << noise << " in\n" << page;
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(std::count_if(line.begin(), line.end(),
                              [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }),
                100)
          << line;
  }
}

TEST_F(Cli, MistypedOptionsAndCommandsGetASuggestion) {
  EXPECT_NE(problem_of({"a.mp4", "--hedless"}).find("did you mean --headless?"), std::string::npos);
  EXPECT_NE(problem_of({"a.mp4", "--trheads=2"}).find("did you mean --threads?"), std::string::npos);
  EXPECT_NE(problem_of({"a.mp4", "--completely-different"}).find("see lensd --help"), std::string::npos);
  EXPECT_NE(problem_of({"dcotor"}).find("did you mean doctor?"), std::string::npos);
  EXPECT_EQ(problem_of({"clip"}), "");
  EXPECT_EQ(problem_of({"./dcotor"}), "");
}

TEST_F(Cli, StartIsATimeOrAShare) {
  const std::pair<const char*, double> times[] = {
      {"90", 90}, {"0:30", 30}, {"1:30", 90}, {"100:00", 6000}, {"1:02:03.5", 3723.5}, {"0", 0}, {".5", 0.5}};
  for (const auto& [text, seconds] : times) {
    EXPECT_DOUBLE_EQ(line_of({"--start", text}).start->seconds, seconds) << text;
    EXPECT_EQ(line_of({"--start", text}).start->share, 0) << text;
  }
  EXPECT_DOUBLE_EQ(line_of({"--start", "50%"}).start->share, 0.5);
  EXPECT_DOUBLE_EQ(line_of({"--start=12.5%"}).start->share, 0.125);
  for (const char* text : {"x", "-1", "1:60", "1:2:3:4", "1::2", "101%", "%", "nan", "1e5", "50 %", ":"})
    EXPECT_NE(problem_of({std::string("--start=") + text}).find("not a time"), std::string::npos) << text;
  EXPECT_FALSE(line_of({}).start) << "a viewer may resume where the file was left";
}

}  // namespace
}  // namespace lensd

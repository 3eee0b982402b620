// Invalid values of the right type are reported with their location, together with all other errors.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "app/config_checks.hpp"
#include "core/base/error.hpp"
#include "core/config/layers.hpp"
#include "kernels/registry.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

class ConfigChecks : public ::testing::Test {
 protected:
  void SetUp() override { set_config_check(config_problems); }
  void TearDown() override {
    set_config_check(nullptr);
    set_recorded_file("");
  }

  static std::vector<std::string> problems(const std::string& text) {
    Config config;
    return parse_config(text, "a.toml", registry(), config);
  }
};

TEST_F(ConfigChecks, AWrongNameDoesNotHideAWrongCodec) {
  const auto found = problems("[record]\nname = \"cam.txt\"\ncodec = \"nope\"");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(found[0].starts_with("a.toml:2:8: record.name: cam.txt")) << found[0];
  EXPECT_NE(found[1].find("nope"), std::string::npos) << found[1];
}

TEST_F(ConfigChecks, AWrongCodecNamesNoFileThatIsNotInTheConfiguration) {
  const auto found = problems("[record]\nname = \"x.zzz\"\ncodec = \"nosuch\"");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NE(found[1].find("nosuch"), std::string::npos) << found[1];
  EXPECT_EQ(found[1].find(".mkv"), std::string::npos) << found[1];
  EXPECT_EQ(found[1].find("output"), std::string::npos) << found[1];
}

TEST_F(ConfigChecks, EachIsReportedWithItsLocation) {
  const struct {
    const char* text;
    const char* says;
  } cases[] = {
      {"[record]\nname = \"cam.txt\"", "a.toml:2:8: record.name: cam.txt: unknown video file type"},
      {"[record]\nname = \"cam-%Q.mkv\"", "a.toml:2:8: record.name: cam-%Q.mkv: '%Q'"},
      {"[record]\ncrf = 20\ncodec = \"nope\"", "a.toml:3:9: record.codec"},
      {"[record]\nname = \"a.mp4\"\ncodec = \"ffv1\"",
       "a.toml:3:9: record.codec: a.mp4: this file type does not support ffv1"},
      {"[record]\nname = \"a.mov\"\ncodec = \"rawvideo\"",
       "a.toml:3:9: record.codec: a.mov: this file type does not support rawvideo (use .mkv or .avi)"},
      {"[record]\nname = \"rtsp://host/cam.mkv\"",
       "a.toml:2:8: record.name: rtsp://host/cam.mkv: this is an address, not a file (-o and"},
      {"[record]\nname = \"file:///tmp/cam.mkv\"",
       "a.toml:2:8: record.name: file:///tmp/cam.mkv: the path of a recording has no 'file:'"},
      {"[output]\nurl = \"ftp://host/x\"", "a.toml:2:7: output.url"},
      {"[output]\nurl = \"udp://host\"",
       "a.toml:2:7: output.url: udp://host: the address has no port (add one"},
      {"[output]\ncodec = \"nope\"", "a.toml:2:9: output.codec: there is no video encoder 'nope'"},
      {"[output]\nurl = \"rtmp://host/x\"\ncodec = \"ffv1\"",
       "a.toml:3:9: output.codec: rtmp://host/x: this kind of stream does not support ffv1"},
      {"[output]\nvirtual_camera = \"a/b\"",
       "a.toml:2:18: output.virtual_camera: the name of a virtual camera"},
      {"[source]\nsize = \"big\"", "a.toml:2:8: source.size: 'big'"},
      {"[source]\noptions = \"fifo\"", "a.toml:2:11: source.options: word 1 is not NAME=VALUE"},
      {"[source]\noptions = \"passphrase=my pass\"", "a.toml:2:11: source.options: word 2 is not NAME=VALUE"},
      {"[http]\ntoken = \"abc\"", "a.toml:2:9: http.token"},
      {"[http]\ntoken = \"12345678;a\"", "a.toml:2:9: http.token"},
      {"[http]\ntoken = \"1234 5678\"", "a.toml:2:9: http.token"},
      {"[http]\ntoken = \"12345678\\r\\nSet-Cookie: a\"", "a.toml:2:9: http.token"},
      {"[http]\ntoken = \"1234=5678\"", "a.toml:2:9: http.token"},
      {"[http]\nauth = false\naddress = \"0.0.0.0\"", "a.toml:2:8: http.auth"},
      {"[http]\nport = 8080\naddress = \"\"", "a.toml:3:11: http.address: is empty (use 127.0.0.1"},
      {"[http]\nauth = false\naddress = \"\"", "a.toml:3:11: http.address: is empty"},
      {"[performance]\ntrace_on = \"never\"", "a.toml:2:12: performance.trace_on: 'never'"},
  };
  for (const auto& c : cases) {
    const auto found = problems(c.text);
    ASSERT_EQ(found.size(), 1u) << c.text;
    EXPECT_TRUE(found[0].starts_with(c.says)) << found[0];
  }
}

TEST_F(ConfigChecks, TheCodecIsCheckedAgainstTheFileThatIsRecorded) {
  const std::string codec = "[record]\ncodec = \"qtrle\"";
  EXPECT_EQ(problems(codec),
            std::vector<std::string>{"a.toml:2:9: record.codec: rec-%Y%m%d-%H%M%S.mkv: this file type does "
                                     "not support qtrle (use .mov)"});
  set_recorded_file("clip.mov");
  EXPECT_EQ(problems(codec), std::vector<std::string>{});
  EXPECT_EQ(problems(codec + "\nname = \"a.avi\"").size(), 1u) << "key r and `ctl record` use the name";
  set_recorded_file("clip.avi");
  EXPECT_EQ(problems(codec + "\nname = \"a.avi\""),
            std::vector<std::string>{
                "a.toml:2:9: record.codec: clip.avi: this file type does not support qtrle (use .mov)"});
  EXPECT_THROW(set_recorded_file("clip.txt"), Error);
}

TEST_F(ConfigChecks, TheFileThatIsRecordedIsATemplate) {
  EXPECT_NO_THROW(set_recorded_file("%H 100%%.mkv"));
  for (const char* name : {"%Q.mkv", "100%.mkv", "rtsp://host/cam.mkv", "file:cam.mkv"}) try {
      set_recorded_file(name);
      ADD_FAILURE() << name;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::usage) << e.what();
    }
}

TEST_F(ConfigChecks, APlaylistMayBeAFileAddress) {
  EXPECT_EQ(problems("[output]\nurl = \"file:///tmp/cam.m3u8\""), std::vector<std::string>{});
  EXPECT_EQ(problems("[output]\nurl = \"file:///tmp/cam.m3u8\"\ncodec = \"libx264\""),
            std::vector<std::string>{});
  EXPECT_EQ(problems("[output]\nurl = \"file:///tmp/cam.mkv\"").size(), 1u);
}

TEST_F(ConfigChecks, TheLimitOfASourceIsChecked) {
  const auto with = [](size_t bytes) { return "[source]\nurl = \"" + std::string(bytes, 'x') + "\""; };
  EXPECT_EQ(problems(with(4096)), std::vector<std::string>{});
  EXPECT_EQ(problems(with(4097)),
            std::vector<std::string>{"a.toml:2:7: source.url: has 4097 bytes, the limit is 4096"});
}

TEST_F(ConfigChecks, AllAtOnce) {
  EXPECT_EQ(
      problems("[record]\nname = \"x\"\nkeep_minutes = \"long\"\n[[node]]\nfilter = \"median\"\nradius = 99")
          .size(),
      3u);
}

TEST_F(ConfigChecks, ValidValuesAreAccepted) {
  EXPECT_EQ(problems("[record]\non = true\nwhat = \"source\"\nname = \"%F-%H%M%S.webm\"\ncodec = \"auto\"\n"
                     "[output]\nurl = \"\"\n[source]\nsize = \"\"\n[http]\nauth = false"),
            std::vector<std::string>{});
}

TEST_F(ConfigChecks, VariablesAreCheckedTheSame) {
  Layers layers;
  layers.environment = {{"LENSD_RECORD_NAME", "x.txt"}};
  try {
    load_layers(layers, registry());
    FAIL() << "taken";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("record.name"), std::string::npos) << e.what();
  }
}

TEST_F(ConfigChecks, TheCommandCheckFindsOptionsThatDoNotFitTheSource) {
  const struct {
    const char* text;
    const char* says;
  } cases[] = {
      {"url = \"rtsp://host/a\"\nsize = \"640x480\"",
       "a.toml:3:8: source.size: rtsp://host/a: size and rate cannot"},
      {"url = \"udp://:5000\"\nrate = 30.0",
       "a.toml:3:8: source.rate: udp://:5000: size and rate cannot be set"},
      {"url = \"/dev/video0\"\nformat = \"mjpegg\"",
       "a.toml:3:10: source.format: /dev/video0: no camera format is called 'mjpegg'"},
      {"url = \"udp://:5000\"\nformat = \"tss\"",
       "a.toml:3:10: source.format: udp://:5000: this FFmpeg has no input format 'tss'"},
      {"url = \"udp://:5000\"\noptions = \"fifo=1\"",
       "a.toml:3:11: source.options: udp://:5000: this kind of source has no option 'fifo'"},
      {"url = \"screen:\"\nformat = \"mjpeg\"",
       "a.toml:3:10: source.format: screen:: the screen has only one"},
  };
  for (const auto& c : cases) {
    const std::string text = std::string("[source]\n") + c.text;
    set_config_check(config_problems);
    EXPECT_EQ(problems(text), std::vector<std::string>{}) << "runs may open another source";
    set_config_check(config_and_file_problems);
    const auto found = problems(text);
    ASSERT_EQ(found.size(), 1u) << c.text;
    EXPECT_TRUE(found[0].starts_with(c.says)) << found[0];
  }
  for (const char* text :
       {"url = \"/dev/video9\"\nformat = \"MJPG\"\nsize = \"640x480\"\nrate = 30.0",
        "url = \"udp://:5000\"\noptions = \"fifo_size=50000\"", "url = \"screen:\"\nrate = 5.0",
        "url = \"clip.mp4\"\nformat = \"mjpeg\"", "size = \"640x480\""})
    EXPECT_EQ(problems(std::string("[source]\n") + text), std::vector<std::string>{}) << text;
}

TEST_F(ConfigChecks, OnlyTheCommandCheckReadsTheTokensFile) {
  const TemporaryFolder folder;
  const std::string path = folder / "token", key = "[http]\ntoken_file = \"" + path + "\"";
  EXPECT_EQ(problems(key), std::vector<std::string>{});
  set_config_check(config_and_file_problems);
  const std::string place = "a.toml:2:14: http.token_file: " + path;
  EXPECT_EQ(problems(key), std::vector<std::string>{place + ": cannot be read: no such file"});
  EXPECT_EQ(problems("[http]\ntoken = \"12345678\"\ntoken_file = \"" + path + "\""),
            std::vector<std::string>{});  // the file is not read
  std::ofstream(path) << "short\n";
  EXPECT_EQ(problems(key),
            std::vector<std::string>{place + ": the token in its first line is shorter than 8 characters"});
  std::ofstream(path) << "12345678 \nsecond line\n";
  EXPECT_EQ(problems(key), std::vector<std::string>{});
  EXPECT_EQ(read_token(path), "12345678");
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  const auto unreadable = problems(key);
  ASSERT_EQ(unreadable.size(), 1u);
  EXPECT_TRUE(unreadable[0].starts_with(place + ": ")) << unreadable[0];
  EXPECT_THROW(
      try { read_token(path); } catch (const Error& e) {
        EXPECT_EQ(e.code(), ExitCode::invalid_config);
        throw;
      },
      Error);
}

}  // namespace
}  // namespace lensd

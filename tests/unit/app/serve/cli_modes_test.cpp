// app/cli: options that only some run modes and commands take.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/run.hpp"
#include "tests/unit/app/serve/command_lines.hpp"

namespace lensd {
namespace {

TEST(CliModes, RunsWithoutAWindowRefuseOptionsOfPlayback) {
  for (const char* option : {"--speed=2", "--loop-file", "--pause"}) {
    EXPECT_NE(problem_of({"--headless", "a.mp4", option}).find("cannot be used with --headless (only"),
              std::string::npos)
        << option;
    EXPECT_NE(problem_of({"a.mp4", option, "-o", "a.mkv"}).find("cannot be used with --output (only"),
              std::string::npos)
        << option;
    EXPECT_EQ(line_of({"serve", "a.mp4", option}).mode, RunMode::serve) << option;
  }
  EXPECT_EQ(line_of({"--headless", "a.mp4", "--speed=1", "--loop-file=no"}).mode, RunMode::batch);
}

TEST(CliModes, TheWindowWithoutASourceKeepsControlsForACamera) {
  CommandLine line;
  line.mode = RunMode::viewer;
  line.source_controls = {"gain=3"};
  line.config.source_controls.emplace_back("gain", int64_t{3});
  EXPECT_EQ(controls_obstacle(line, "test:testsrc2"), "") << "a camera may be plugged in";
  line.config.source_url = "clip.mp4";
  EXPECT_TRUE(controls_obstacle(line, "clip.mp4").ends_with("so --source-control has no effect"));
}

TEST(CliModes, OptionsWithoutEffectAreRefused) {
  const std::vector<std::string> window_only[] = {{"--volume=50"},
                                                  {"--mute"},
                                                  {"--fullscreen"},
                                                  {"--keep-screen-on=no"},
                                                  {"--no-resume"},
                                                  {"--trace-on=drop"},
                                                  {"--screenshot-template", "a"},
                                                  {"--screenshot-directory", "a"}};
  const auto with = [](std::vector<std::string> words, const std::vector<std::string>& option) {
    words.insert(words.end(), option.begin(), option.end());
    return words;
  };
  for (const auto& option : window_only) {
    const std::string name = option[0].substr(0, option[0].find('='));
    EXPECT_EQ(line_of(with({"a.mp4"}, option)).mode, RunMode::viewer) << name;
    EXPECT_TRUE(problem_of(with({"a.mp4", "--headless"}, option))
                    .starts_with(name + ": cannot be used with --headless"))
        << name;
    EXPECT_TRUE(problem_of(with({"a.mp4", "-o", "a.mkv"}, option))
                    .starts_with(name + ": cannot be used with --output"))
        << name;
    EXPECT_TRUE(
        problem_of(with({"serve", "a.mp4"}, option)).starts_with(name + ": cannot be used with lensd serve"))
        << name;
  }
  for (const std::vector<std::string>& option :
       {std::vector<std::string>{"--http", "0"}, {"--socket", "/tmp/x"}}) {
    EXPECT_NE(problem_of(with({"a.mp4", "--headless"}, option)).find("the window and lensd serve take it"),
              std::string::npos);
    EXPECT_EQ(line_of(with({"a.mp4"}, option)).mode, RunMode::viewer);
    EXPECT_EQ(line_of(with({"serve", "a.mp4"}, option)).mode, RunMode::serve);
  }
  EXPECT_NE(problem_of({"serve", "--headless"}), "");
}

TEST(CliModes, CommandsRefuseTheOptionsOfRuns) {
  EXPECT_TRUE(problem_of({"--socket", "/tmp/x", "ctl", "pause"})
                  .starts_with("--socket: cannot be used with lensd ctl"));
  EXPECT_TRUE(problem_of({"a.mp4", "ctl", "pause"}).starts_with("SOURCE: cannot be used with lensd ctl"));
  EXPECT_EQ(line_of({"-v", "filters"}).mode, RunMode::filters);
  EXPECT_TRUE(
      problem_of({"bench", "--fullscreen"}).starts_with("--fullscreen: cannot be used with lensd bench"));
  EXPECT_EQ(line_of({"ctl", "--socket", "/tmp/x", "pause"}).ctl_socket, "/tmp/x");
  EXPECT_EQ(line_of({"bench", "--threads", "2"}).mode, RunMode::bench);
  EXPECT_EQ(line_of({"--backend=cpu", "doctor"}).mode, RunMode::doctor);
}

TEST(CliModes, TheLastLogLevelCounts) {
  EXPECT_EQ(line_of({"-v", "--msg-level=error"}).config.log_level, "error");
  EXPECT_EQ(line_of({"--msg-level=error", "-v"}).config.log_level, "info");
  EXPECT_EQ(line_of({"-q", "-vv"}).config.log_level, "debug");
  EXPECT_EQ(line_of({"-vv", "-q"}).config.log_level, "error");
  EXPECT_EQ(line_of({"serve", "-v", "--msg-level", "off"}).config.log_level, "off");
}

TEST(CliModes, AnOptionThatACommandDoesNotTakeIsNotSuggested) {
  const std::string problem = problem_of({"doctor", "--fullscreen"});
  EXPECT_EQ(problem.find("did you mean"), std::string::npos) << problem;
  EXPECT_NE(problem.find("lensd doctor --help"), std::string::npos) << problem;
}

TEST(CliModes, NoAudioTakesAValue) {
  EXPECT_FALSE(line_of({"--no-audio"}).config.audio_on);
  EXPECT_FALSE(line_of({"--no-audio=yes"}).config.audio_on);
  const Config on = line_of({"--no-audio=no"}).config;
  EXPECT_TRUE(on.audio_on);
  EXPECT_TRUE(on.has("audio.on")) << "overrides [audio] on = false of a file";
}

}  // namespace
}  // namespace lensd

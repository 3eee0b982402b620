// app/help: completion in shells, and the content of the manual page.

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "app/help/completion.hpp"
#include "app/help/manual.hpp"
#include "app/help/troff.hpp"
#include "core/base/error.hpp"
#include "core/config/keys.hpp"
#include "core/control/commands.hpp"
#include "kernels/registry.hpp"

namespace lensd {
namespace {

class CompletionTest : public ::testing::Test {
 protected:
  /// Completes the last word of a line, which is empty after a blank.
  Completion of(const std::string& line) const {
    std::vector<std::string> words;
    std::istringstream in(line);
    for (std::string word; std::getline(in, word, ' ');) words.push_back(word);
    if (line.empty() || line.back() == ' ') words.emplace_back();
    return complete(context_, words);
  }
  std::vector<std::string> words(const std::string& line) const {
    std::vector<std::string> all;
    for (const Candidate& candidate : of(line).candidates) all.push_back(candidate.word);
    return all;
  }
  bool offers(const std::string& line, const std::string& word) const {
    const std::vector<std::string> all = words(line);
    return std::find(all.begin(), all.end(), word) != all.end();
  }

  using Words = std::vector<std::string>;
  CompletionContext context_{program_help(), registry(), {"privacy", "negative"}, {"/dev/video3"}};
};

TEST_F(CompletionTest, OffersEveryOptionAndCommand) {
  for (const OptionHelp& option : context_.help.program.options)
    for (const std::string& name : option.names)
      if (!option.positional) {
        EXPECT_TRUE(offers(name, name)) << name;
      }
  for (const CommandHelp& command : context_.help.commands) {
    EXPECT_TRUE(offers("", command.name)) << command.name;
    for (const OptionHelp& option : command.options)
      if (!option.positional) {
        EXPECT_TRUE(offers(command.name + " -", option.names.back())) << command.name;
      }
  }
  EXPECT_TRUE(offers("serve --ht", "--http"));     // serve accepts the program's options
  EXPECT_FALSE(offers("doctor --gr", "--graph"));  // doctor does not
  EXPECT_FALSE(offers("clip.mp4 d", "doctor"));    // a source was given
  EXPECT_FALSE(offers("", "__complete"));
}

TEST_F(CompletionTest, OffersTheValuesOfAnOption) {
  EXPECT_EQ(words("--backend "), (Words{"auto", "cpu", "cuda"}));
  EXPECT_EQ(words("--backend c"), (Words{"cpu", "cuda"}));
  EXPECT_EQ(words("--backend=c"), (Words{"--backend=cpu", "--backend=cuda"}));
  EXPECT_EQ(words("serve --hwdec a"), (Words{"auto"}));
  EXPECT_EQ(words("--loop-file="), (Words{"--loop-file=inf", "--loop-file=no"}));
  EXPECT_TRUE(offers("--loop-file ", "doctor"));  // its value needs "=", so this word is a command
  EXPECT_EQ(words("completion "), (Words{"bash", "fish", "zsh"}));
  EXPECT_EQ(words("-c "), (Words{"negative", "privacy"}));
  EXPECT_TRUE(words("--frames ").empty());
  EXPECT_EQ(of("--screenshot-directory ").paths, PathKind::folders);
  for (const char* line : {"--record ", "-c ", "-o ", "", "serve ", "check ", "ctl load ", "--log-file="})
    EXPECT_EQ(of(line).paths, PathKind::files) << line;
  for (const char* line : {"--backend ", "-", "ctl ", "filters ", "--frames ", "doctor --help"})
    EXPECT_EQ(of(line).paths, PathKind::none) << line;
}

TEST_F(CompletionTest, OffersSourcesAndReceivers) {
  for (const char* line : {"", "serve ", "--pause ", "--start 3 ", "ctl load "})
    for (const char* source : {"test:demo", "rtsp://", "/dev/video3"})
      EXPECT_TRUE(offers(line, source)) << line;
  EXPECT_FALSE(offers("clip.mp4 ", "test:demo"));
  EXPECT_TRUE(offers("-o r", "rtmp://"));
}

TEST_F(CompletionTest, CompletesChains) {
  EXPECT_TRUE(offers("--graph ", "median"));
  EXPECT_EQ(words("--graph median=radius=1,gauss"), (Words{"median=radius=1,gaussian"}));
  EXPECT_EQ(words("--graph median"), (Words{"median", "median="}));
  EXPECT_EQ(words("--graph median@a=r"), (Words{"median@a=radius="}));
  EXPECT_EQ(words("--graph=gaussian,median=radius=2:border=refl"),
            (Words{"--graph=gaussian,median=radius=2:border=reflect",
                   "--graph=gaussian,median=radius=2:border=reflect101"}));
  // A comma within a matrix does not separate filters.
  EXPECT_TRUE(words("--graph convolve=kernel=[[1,gau").empty());
  EXPECT_TRUE(words("--graph no_such_filter=").empty());
}

TEST_F(CompletionTest, CompletesAssignmentsToTheNodesOfTheGraph) {
  EXPECT_EQ(words("--graph median@a,canny --set a."), (Words{"a.border=", "a.radius="}));
  EXPECT_TRUE(offers("--graph=median@a,canny --set ", "canny.low="));
  EXPECT_FALSE(offers("--graph median@a,canny --set ", "median.radius="));
  EXPECT_TRUE(offers("--set ", "median.radius="));
  EXPECT_EQ(words("--set median.border=wr"), (Words{"median.border=wrap"}));
}

TEST_F(CompletionTest, CompletesControlCommands) {
  for (const CommandSpec& command : command_table())
    EXPECT_TRUE(offers("ctl ", command.name)) << command.name;
  EXPECT_TRUE(offers("ctl --socket /run/x ", "pause"));
  EXPECT_EQ(words("ctl set pau"), (Words{"pause"}));
  EXPECT_TRUE(words("ctl set pause ").empty());
  EXPECT_EQ(words("ctl set pause true spe"), (Words{"speed"}));
  EXPECT_FALSE(offers("ctl set ", "duration"));  // read only
  EXPECT_EQ(words("ctl get dur"), (Words{"duration"}));
  EXPECT_EQ(words("ctl log-level d"), (Words{"debug"}));
  EXPECT_EQ(words("ctl graph-set invert,med"), (Words{"invert,median"}));
  EXPECT_TRUE(words("ctl quit ").empty());
  EXPECT_TRUE(words("ctl step -").empty());  // starts a negative number, not an option
}

TEST_F(CompletionTest, OffersFilterNames) {
  EXPECT_EQ(words("filters med"), (Words{"median"}));
  EXPECT_EQ(words("bench invert med"), (Words{"median"}));
}

TEST_F(CompletionTest, TextHasOneCandidatePerLine) {
  const std::string text = completion_text({{{"a", "first\nsecond\tthird"}, {"b", ""}}, PathKind::files});
  EXPECT_EQ(text, "a\tfirst second third\nb\t\n:files\n");
}

TEST_F(CompletionTest, RefusesUnknownShells) {
  for (const char* shell : {"bash", "zsh", "fish"}) EXPECT_FALSE(completion_script(shell).empty());
  EXPECT_THROW(completion_script("csh"), Error);
}

TEST(Manual, DocumentsEverything) {
  const ProgramHelp help = program_help();
  const std::string page = manual_page(help, registry());
  const auto expect_head = [&](const std::string& text) {
    EXPECT_NE(page.find("\n.TP\n" + text), std::string::npos) << text;
  };
  for (const ConfigTable& table : config_tables())
    for (const ParamSpec& key : table.params) expect_head(TroffPage::bold(key.name));
  for (const CommandSpec& command : command_table()) expect_head(TroffPage::bold(command_usage(command)));
  for (const FilterEntry& entry : registry().filters) expect_head(TroffPage::bold(entry.schema().name));
  for (const CommandHelp& command : help.commands) {
    EXPECT_NE(page.find(".SS \"lensd " + command.name + "\""), std::string::npos) << command.name;
    EXPECT_FALSE(command.doc.empty()) << command.name;
  }
  for (const OptionHelp& option : help.program.options)
    EXPECT_FALSE(option.doc.empty()) << option.names.back();
  const auto italic = [](const char* name) { return TroffPage::italic(name); };
  for (const std::string& line : {TroffPage::bold("lensd") + " [" + italic("OPTION") + "]... [" +
                                      italic("SOURCE") + "] [" + italic("FILES") + "]...",
                                  TroffPage::bold("lensd completion") + " " + italic("SHELL")})
    EXPECT_NE(page.find(line + "\n"), std::string::npos) << line;
  for (int code = 0; code <= 5; ++code) expect_head(TroffPage::bold(std::to_string(code)));
}

// Before it, the help of ctl lists the commands; the manual has a separate section for them.
TEST(Manual, TheNoteOfACommandIsItsLastParagraph) {
  const std::vector<CommandHelp> commands = program_help().commands;
  const auto ctl = std::find_if(commands.begin(), commands.end(),
                                [](const CommandHelp& command) { return command.name == "ctl"; });
  ASSERT_NE(ctl, commands.end());
  EXPECT_TRUE(ctl->note.starts_with("A VALUE is JSON or plain text.")) << ctl->note;
}

TEST(Manual, EscapesWhatTroffInterprets) {
  EXPECT_EQ(troff_escaped(".a"), "\\&.a");
  EXPECT_EQ(troff_escaped("a.b\n'c"), "a.b\n\\&\\(aqc");
  EXPECT_EQ(troff_escaped("--x \\n ~^`"), "\\-\\-x \\(rsn \\(ti\\(ha\\(ga");
}

}  // namespace
}  // namespace lensd

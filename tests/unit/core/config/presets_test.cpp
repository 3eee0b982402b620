// Presets: how they are listed, found by name and deleted, their folders, and camera controls in their text.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/base/folders.hpp"
#include "core/base/whole_file.hpp"
#include "core/config/presets.hpp"
#include "core/config/save.hpp"
#include "kernels/registry.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

class Presets : public ::testing::Test {
 protected:
  void put(const char* path, const std::string& text = "[[node]]\nfilter = \"invert\"\n") const {
    write_whole_file(folder / path, text, Flush::none);
  }
  TemporaryFolder folder;
  const PresetFolders folders{folder / "own", {folder / "share"}};
};

TEST_F(Presets, OwnOnesComeFirstEachByName) {
  EXPECT_TRUE(list_presets(folders).empty()) << "missing folders are empty";
  for (const char* path :
       {"own/zebra.toml", "own/a b.toml", "own/.hidden.toml", "own/notes.txt", "own/folder.toml/x.toml",
        "share/graphs/branches.toml", "share/presets/zebra.toml", "share/default.toml"})
    put(path);
  std::string names;
  for (const PresetFile& file : list_presets(folders)) names += file.name + (file.example ? "* " : " ");
  EXPECT_EQ(names, "a b zebra branches* zebra* ");
}

TEST_F(Presets, ExamplesOfTheSourceTreeAreFound) {
  const PresetFolders tree{"", {std::string(LENSD_SOURCE_DIR) + "/config"}};
  const auto files = list_presets(tree);
  EXPECT_GE(files.size(), 6u);
  for (const PresetFile& file : files)
    EXPECT_FALSE(load_preset(file.path, registry()).nodes.empty()) << file.path;
}

TEST_F(Presets, AnExampleIsKnownByItsFolder) {
  put("share/graphs/branches.toml"), put("own/mine.toml");
  EXPECT_TRUE(preset_at(folders, folder / "share/graphs/branches.toml").example);
  EXPECT_FALSE(preset_at(folders, folder / "own/mine.toml").example);
  EXPECT_EQ(preset_at(folders, folder / "own/mine.toml").name, "mine");
  EXPECT_FALSE(preset_at(folders, folder / "share2/x.toml").example);
}

TEST_F(Presets, InvalidFileNamesAreRefused) {
  EXPECT_EQ(own_preset_path(folders, "soft blur"), folder / "own/soft blur.toml");
  for (const char* name : {"", " ", "../up", "a/b", ".hidden", "tab\t", " x", "x "})
    EXPECT_THROW(own_preset_path(folders, name), Error) << name;
  EXPECT_THROW(own_preset_path(folders, std::string(300, 'x')), Error);
  EXPECT_THROW(own_preset_path({}, "x"), Error) << "no home";
}

TEST_F(Presets, FilesWithoutAGraphAreNotPresets) {
  put("own/window.toml", "[window]\nwidth = 800\n");
  EXPECT_THROW(load_preset(folder / "own/window.toml", registry()), Error);
  EXPECT_FALSE(holds_only_graph("[window]\nwidth = 800\n[[node]]\nfilter = \"invert\"\n", registry()));
  EXPECT_TRUE(holds_only_graph("# mine\n[[node]]\nfilter = \"invert\"\n", registry()));
}

TEST_F(Presets, AGraphThatWasSavedLoadsAgain) {
  GraphDesc graph = parse_chain("invert,convolve=compose=unfinished", registry());
  graph.nodes[1].enabled = false;
  save_graph(folder / "saved.toml", {graph, Precision::automatic}, registry());
  EXPECT_TRUE(equivalent(load_preset(folder / "saved.toml", registry()), graph, registry()));
}

TEST_F(Presets, Deleting) {
  put("own/mine.toml");
  delete_preset(folder / "own/mine.toml");
  EXPECT_TRUE(list_presets(folders).empty());
  EXPECT_THROW(delete_preset(folder / "own/mine.toml"), Error);
}

TEST_F(Presets, FoldersFollowXdg) {
  setenv("XDG_CONFIG_HOME", folder.path().c_str(), 1);
  setenv("XDG_STATE_HOME", "relative", 1);
  setenv("HOME", "/home/x", 1);
  EXPECT_EQ(config_folder(), folder / "lensd");
  EXPECT_EQ(preset_folders().own, folder / "lensd/presets");
  EXPECT_EQ(state_folder(), "/home/x/.local/state/lensd") << "relative paths do not count";
  unsetenv("XDG_CONFIG_HOME"), unsetenv("XDG_STATE_HOME"), unsetenv("HOME");
  EXPECT_EQ(config_folder(), "");
}

TEST_F(Presets, AreFoundByName) {
  for (const char* path : {"own/mine.toml", "share/presets/cartoon.toml", "share/graphs/mine.toml"})
    put(path);
  EXPECT_EQ(config_path(folders, "mine"), folder / "own/mine.toml");
  namespace fs = std::filesystem;
  const fs::path before = fs::current_path();
  fs::create_directories(folder / "here/mine"), fs::create_directory(folder / "here/unknown");
  fs::current_path(folder / "here");
  EXPECT_EQ(config_path(folders, "mine"), folder / "own/mine.toml") << "a folder is no configuration";
  EXPECT_EQ(config_path(folders, "unknown"), "unknown");
  fs::current_path(before);
  EXPECT_EQ(config_path(folders, "cartoon"), folder / "share/presets/cartoon.toml");
  EXPECT_EQ(config_path(folders, "cartoon.toml"), folder / "share/presets/cartoon.toml");
  EXPECT_EQ(config_path(folders, "./cartoon"), "./cartoon") << "a path is not looked up";
  try {
    config_path(folders, "cartoom");
    FAIL() << "found";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::invalid_config);
    EXPECT_EQ(e.hint(), "did you mean cartoon?");
  }
}

TEST(PresetControls, AreReplacedInTheText) {
  const std::string graph = "# mine\n[[node]]  # first\nfilter = \"invert\"\n";
  const ControlValues values{{"gain", int64_t{30}}, {"mode", std::string("A \"b\"")}, {"auto", true}};
  const std::string controls = "\n[source.controls]\ngain = 30\nmode = \"A \\\"b\\\"\"\nauto = true\n";
  const std::string saved = controls_text(values, graph, "p", registry());
  EXPECT_EQ(saved, graph + controls);
  EXPECT_TRUE(holds_only_graph(saved, registry()));
  EXPECT_EQ(controls_text(values, saved, "p", registry()), saved);
  EXPECT_EQ(controls_text({}, saved, "p", registry()), graph);
  EXPECT_EQ(controls_text({{"gain", int64_t{1}}}, "", "p", registry()), "[source.controls]\ngain = 1\n");

  // Old controls in front of the graph, with comments. Other keys of [source] are kept.
  const std::string front =
      "[source]\nrate = 5\n\n[source.controls]\nzoom = 2\n# near\nfocus = 1 # too\n\n" + graph;
  EXPECT_EQ(controls_text(values, front, "p", registry()), "[source]\nrate = 5\n\n" + graph + controls);
  const std::string edited = graph_text(parse_chain("invert,median", registry()), saved, "p", registry());
  EXPECT_NE(edited.find(controls), std::string::npos) << edited;
  EXPECT_THROW(controls_text(values, "[source]\ncontrols = {gain = 1}\n", "p", registry()), Error);
  EXPECT_THROW(controls_text(values, "[sauce]\n", "p", registry()), Error);
}

}  // namespace
}  // namespace lensd

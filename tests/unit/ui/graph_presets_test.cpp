// The presets and the last graph in the graph panel.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/whole_file.hpp"
#include "tests/unit/ui/graph_panel_driver.hpp"

namespace lensd::ui {
namespace {

TEST_F(GraphPanel, PresetsAreSavedRevertedLoadedAndDeleted) {
  EXPECT_FALSE(there("presets/unsaved"));
  click("graph/median/radius/plus");
  EXPECT_TRUE(there("presets/unsaved"));
  press({.character = 's', .ctrl = true});
  frame();
  ASSERT_TRUE(there("presets/name"));
  type("mine");
  click("presets/name_save");
  const std::string path = folder / "mine.toml";
  EXPECT_EQ(messages.back(), "Saved " + path);
  const std::string saved = read_whole_file(path, 1 << 20).value_or("");
  EXPECT_NE(saved.find("radius = 2"), std::string::npos) << saved;
  EXPECT_FALSE(there("presets/unsaved"));

  click("graph/median/radius/plus");
  EXPECT_TRUE(there("presets/unsaved"));
  press({.character = 's', .ctrl = true});
  EXPECT_NE(read_whole_file(path, 1 << 20)->find("radius = 3"), std::string::npos)
      << "the same file, without a request";
  click("graph/median/radius/plus");
  click("presets/menu");
  click("presets/revert");
  EXPECT_EQ(value("median", "radius"), ParamValue(int64_t{3}));

  write_whole_file(folder / "other.toml", "[[node]]\nfilter = \"canny\"\n", Flush::none);
  click("presets/menu");
  click("presets/list/other");
  EXPECT_EQ(order(), "canny ");
  EXPECT_FALSE(there("presets/unsaved"));
  ASSERT_TRUE(viewer.state().presets.current(viewer.state().editor));
  EXPECT_EQ(viewer.state().presets.current(viewer.state().editor)->path, folder / "other.toml");
  press({.character = 'z', .ctrl = true});
  EXPECT_EQ(order(), "median edges convolve ");
  press({.character = 's', .ctrl = true});
  EXPECT_EQ(read_whole_file(folder / "other.toml", 1 << 20), "[[node]]\nfilter = \"canny\"\n")
      << "undo brought back the preset as well: the other one is not written over";

  click("presets/menu");
  click("presets/delete/other");
  EXPECT_TRUE(std::filesystem::exists(folder / "other.toml")) << "asked first";
  click("presets/delete_yes");
  EXPECT_FALSE(std::filesystem::exists(folder / "other.toml"));
}

TEST_F(GraphPanel, TheGraphOfADeletedPresetIsUnsaved) {
  PresetShelf& shelf = viewer.state().presets;
  GraphEditor& editor = viewer.state().editor;
  click("graph/median/radius/plus");
  shelf.save_as("mine", editor, Precision::automatic), frames(2);
  EXPECT_FALSE(there("presets/unsaved"));
  click("presets/menu");
  click("presets/delete/mine");
  click("presets/delete_yes");
  EXPECT_TRUE(there("presets/unsaved"));
  EXPECT_FALSE(shelf.current(editor));
  EXPECT_FALSE(shelf.save(editor, Precision::automatic)) << "asks for a name";
  shelf.save_as("mine", editor, Precision::automatic), frames(2);
  EXPECT_TRUE(shelf.current(editor));
  EXPECT_FALSE(there("presets/unsaved"));
}

TEST_F(GraphPanel, ThePresetsStayInALowWindow) {
  for (int i = 0; i < 30; ++i)
    write_whole_file(folder / fmt::format("preset{}.toml", i), "[[node]]\nfilter = \"canny\"\n", Flush::none);
  ImGui::GetIO().DisplaySize = {1280, 300};
  frames(4);
  click("presets/menu"), frames(4);
  const Rect menu = popup();
  EXPECT_GE(menu.y, 0);
  EXPECT_LE(menu.y + menu.h, 300);
}

TEST_F(GraphPanel, APresetSetsTheControlsThatTheCameraAllows) {
  write_whole_file(folder / "evening.toml", "[[node]]\nfilter = \"canny\"\n[source.controls]\ngain = 30\n",
                   Flush::none);
  ASSERT_FALSE(model.controls) << "the camera is not connected yet";
  click("presets/menu");
  click("presets/list/evening");
  ASSERT_TRUE(source_controls);
  EXPECT_EQ(source_controls->values, (ControlValues{{"gain", int64_t{30}}}));
  EXPECT_TRUE(source_controls->skip_refused) << "the preset may be for another camera";
}

TEST_F(GraphPanel, APresetKeepsThePrecision) {
  const std::string path = folder / "deep.toml";
  write_whole_file(path, "[graph]\nprecision = 16\n[[node]]\nfilter = \"canny\"\n", Flush::none);
  click("presets/menu");
  click("presets/list/deep");
  EXPECT_EQ(model.precision, Precision::sixteen);
  model.precision = Precision::automatic;
  press({.character = 's', .ctrl = true});
  EXPECT_EQ(load_config(path, test::sample_registry()).precision, Precision::automatic);
  write_whole_file(folder / "plain.toml", "[[node]]\nfilter = \"canny\"\n", Flush::none);
  model.precision = Precision::eight;
  click("presets/menu");
  click("presets/list/plain");
  EXPECT_EQ(model.precision, Precision::eight) << "not set in the preset";
}

TEST_F(GraphPanel, TheLastGraphIsRestoredOnRequest) {
  const std::string path = folder / "mine.toml";
  write_whole_file(path, "[[node]]\nfilter = \"median\"\n", Flush::none);
  GraphDesc last;
  last.nodes.push_back({.id = "median", .filter = "median"});
  last.nodes.push_back({.id = "edges", .filter = "canny"});
  viewer.state().preset_menu.last_graph = resolved(last, test::sample_registry());
  viewer.state().preset_menu.last_graph_preset = path;
  frames(2);
  EXPECT_FALSE(there("graph/resume")) << "there is a graph already";
  model.nodes.clear(), model.graph = {}, model.pipeline = 2, ++model.graph_version;
  viewer.state().editor = {};
  frames(2);
  ASSERT_TRUE(there("graph/resume"));
  click("graph/resume");
  EXPECT_EQ(order(), "median edges ");
  ASSERT_TRUE(viewer.state().presets.current(viewer.state().editor));
  EXPECT_EQ(viewer.state().presets.current(viewer.state().editor)->path, path);
  EXPECT_TRUE(there("presets/unsaved")) << "edges is not in the preset";
  EXPECT_FALSE(there("graph/resume"));
  press({.character = 'z', .ctrl = true});
  EXPECT_EQ(order(), "");
}

TEST_F(GraphPanel, TheLastGraphOutlivesItsPreset) {
  GraphDesc last;
  last.nodes.push_back({.id = "median", .filter = "median"});
  viewer.state().preset_menu.last_graph = resolved(last, test::sample_registry());
  viewer.state().preset_menu.last_graph_preset = folder / "gone.toml";
  model.nodes.clear(), model.graph = {}, model.pipeline = 2, ++model.graph_version;
  viewer.state().editor = {};
  frames(2);
  click("graph/resume");
  EXPECT_EQ(order(), "median ");
  EXPECT_EQ(viewer.state().presets.current(viewer.state().editor), nullptr);
}

}  // namespace
}  // namespace lensd::ui

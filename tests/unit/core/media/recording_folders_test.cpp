// Recordings in folders whose names contain the date or time.

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "core/base/log.hpp"
#include "core/media/output/files/file_names.hpp"
#include "tests/unit/core/media/recording_fixture.hpp"

namespace lensd::test {
namespace {

namespace fs = std::filesystem;

class RecordingFoldersTest : public RecordingTest {
 protected:
  /// Returns the paths of all recorded files, relative to the test's folder.
  std::vector<std::string> files_below() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path()))
      if (entry.path().extension() == ".mkv") out.push_back(entry.path().lexically_relative(folder_.path()));
    std::sort(out.begin(), out.end());
    return out;
  }
};

TEST_F(RecordingFoldersTest, FoldersWithADateAreCreated) {
  EXPECT_EQ(problem(target("%Y-%m-%d/%H/r-%M%S.mkv")), "");
  ASSERT_EQ(files_below().size(), 1u);
  EXPECT_EQ(frames_in(file(files_below().front())), 30u);
}

TEST_F(RecordingFoldersTest, TheFolderAboveThemMustExist) {
  EXPECT_NE(problem(target("missing/%Y-%m-%d/r.mkv")), "");
  EXPECT_NE(problem(target("missing/r-%Y.mkv")), "");
  EXPECT_NE(problem(target("missing/r.mkv")), "");
  EXPECT_FALSE(fs::exists(file("missing")));
}

TEST_F(RecordingFoldersTest, NamesStayBelowTheFolderForRequests) {
  fs::create_directories(file("captures"));
  fs::create_directories(file("outside"));
  fs::create_directory_symlink(file("outside"), file("captures/link"));
  const auto below = [&](const std::string& name) {
    return RecordTarget{name, {.beneath = file("captures")}};
  };
  EXPECT_EQ(problem(below("%Y-%m-%d/r.mkv")), "");
  EXPECT_NE(problem(below("link/%Y/r.mkv")), "");
  EXPECT_NE(problem(below("../%Y/r.mkv")), "");
  EXPECT_NE(problem(below("%Y/../../r.mkv")), "");
  EXPECT_TRUE(fs::is_empty(file("outside")));
  EXPECT_EQ(files_below().size(), 1u);
}

TEST_F(RecordingFoldersTest, ARingContinuesAfterRestartsAndRemovesItsEmptyFolders) {
  const std::string name = "%Y-%m-%d-%H%M%S/r.mkv";
  recorded(ring_of(2), name, 50);
  const std::string first = files_below().front();
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // the next folder has another name
  recorded(ring_of(2), name, 75);
  EXPECT_FALSE(fs::exists(file(first))) << "a file of the first run is left";
  EXPECT_FALSE(fs::exists(fs::path(file(first)).parent_path())) << "an empty folder is left";
  EXPECT_EQ(files_below().size(), 2u);
}

TEST_F(RecordingFoldersTest, ARingWarnsOnceAboutALinkedFolder) {
  fs::create_directories(file("outside"));
  fs::create_directory_symlink(file("outside"), file("%"));
  const auto warnings = [&] {
    const auto names_it = [&](const std::string& line) {
      return line.find(file("%") + ": this folder is a symbolic link") != std::string::npos;
    };
    return std::ranges::count_if(log::recent(), names_it);
  };
  log::init("error", "");
  recorded(ring_of(2), "%%/r.mkv", 100);
  EXPECT_EQ(warnings(), 1);
}

TEST(FixedFolder, EndsBeforeTheFirstConversion) {
  EXPECT_EQ(fixed_folder("/srv/video/%Y/%m/cam.mkv"), "/srv/video");
  EXPECT_EQ(fixed_folder("/srv/video/cam-%Y.mkv"), "/srv/video");
  EXPECT_EQ(fixed_folder("%Y/cam.mkv"), ".");
  EXPECT_EQ(fixed_folder("cam.mkv"), ".");
  EXPECT_EQ(recording_folder("/srv/video/%Y/%m/cam.mkv"), "/srv/video");
  EXPECT_THROW(check_name_template("%Y/../../cam.mkv"), Error);
  EXPECT_NO_THROW(check_name_template("%Y-%m-%d/cam-%H%M%S.mkv"));
}

}  // namespace
}  // namespace lensd::test

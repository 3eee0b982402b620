// Names of recorded files: numbers continue after those in the folder.

#include "core/media/output/files/file_names.hpp"

#include <fmt/format.h>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "tests/unit/core/media/recording_fixture.hpp"

namespace lensd::test {
namespace {

class FileNamesTest : public RecordingTest {
 protected:
  /// Returns the first name for which no file exists.
  static std::string free_name(FileNames& names) {
    names.begin(0);
    for (;;)
      if (const std::string name = names.next(); !std::filesystem::exists(name)) return name;
  }
  std::string next(const std::string& name, bool numbered = true) const {
    FileNames names(file(name), numbered);
    return free_name(names);
  }
};

TEST_F(FileNamesTest, NumbersContinueAfterManyFiles) {
  for (int i = 1; i <= 10'050; ++i) put(fmt::format("cam-{:03}.mkv", i), "");
  const int64_t begin = now_ns();
  EXPECT_EQ(next("cam.mkv"), file("cam-10051.mkv"));
  EXPECT_LT(now_ns() - begin, 1'000'000'000);
}

TEST_F(FileNamesTest, ARecordingContinuesAfterManyFiles) {
  for (int i = 1; i <= 10'001; ++i) put(fmt::format("cam-{:03}.mkv", i), "");
  RecordSettings settings;
  settings.split_seconds = 1;
  recorded(settings, "cam.mkv", 30);
  EXPECT_EQ(frames_in(file("cam-10002.mkv")), 25u);
  EXPECT_EQ(frames_in(file("cam-10003.mkv")), 5u);
}

TEST_F(FileNamesTest, OtherNamesHaveNoNumbers) {
  for (const char* name :
       {"cam-001.mkv", "cam-20261126.mkv", "cam-7.mp4", "cam-x.mkv", "cam-.mkv", "camera-50.mkv"})
    put(name, "");
  EXPECT_EQ(next("cam.mkv"), file("cam-002.mkv"));
}

TEST_F(FileNamesTest, NamesWithoutNumbersGetOneIfTheyAreTaken) {
  EXPECT_EQ(next("a.mkv", false), file("a.mkv"));
  put("a.mkv", "");
  EXPECT_EQ(next("a.mkv", false), file("a-2.mkv"));
  put("a-2.mkv", "");
  EXPECT_EQ(next("a.mkv", false), file("a-3.mkv"));
  for (int i = 2; i <= 10'001; ++i) put(fmt::format("1970-{}.mkv", i), "");
  put("1970.mkv", "");
  EXPECT_EQ(next("%Y.mkv"), file("1970-10002.mkv"));
}

TEST_F(FileNamesTest, OtherPercentSignsArePartOfTheName) {
  for (const char* name : {"100%.mkv", "a.b%20c.mkv", "x%03d.mkv", "%Dn.mkv", "a%"})
    EXPECT_EQ(next(name, false), file(name));
  EXPECT_EQ(next("100%-%Y.mkv"), file("100%-1970.mkv"));
  EXPECT_EQ(next("50%%.mkv"), file("50%.mkv"));
  EXPECT_EQ(fixed_folder("/a%20b/%Y/c.mkv"), "/a%20b");
  EXPECT_THROW(check_name_template("a%20b.mkv"), Error) << "[record] name is a template";
}

TEST_F(FileNamesTest, ARingStaysInTheOrderOfTimeAfterARestart) {
  recorded(ring_of(2), "r.mkv", 100);
  ASSERT_EQ(files(), (std::vector{file("r-003.mkv"), file("r-004.mkv")}));
  recorded(ring_of(2), "r.mkv", 50);
  EXPECT_EQ(files(), (std::vector{file("r-005.mkv"), file("r-006.mkv")}));
}

}  // namespace
}  // namespace lensd::test

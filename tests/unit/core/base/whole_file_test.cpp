// core/base/whole_file: files of other programs are kept, and nobody reads what is private.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

#include "core/base/whole_file.hpp"
#include "tests/unit/common/simple_file_system.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;
using test::simple_file_system;

class NewFileTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override { simple_file_system = GetParam(); }
  void TearDown() override { simple_file_system = false; }

  static void write_new(const std::string& path, std::string_view text) {
    write_whole_file(path, text, Flush::none, MissingFolders::refuse, PipeReader::may_be_slow,
                     Existing::keep);
  }
  static std::string content(const std::string& path) { return read_whole_file(path, 1000).value_or("none"); }
  size_t entries() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }

  TemporaryFolder folder_;
};

TEST_P(NewFileTest, KeepsWhatHasTheName) {
  write_new(folder_ / "a", "first");
  EXPECT_THROW(write_new(folder_ / "a", "second"), Error);
  EXPECT_EQ(content(folder_ / "a"), "first");
  fs::create_symlink(folder_ / "nowhere", folder_ / "dangling");
  EXPECT_THROW(write_new(folder_ / "dangling", "x"), Error);
  EXPECT_FALSE(fs::exists(folder_ / "nowhere"));
  EXPECT_EQ(entries(), 2u) << "a temporary file is left";
}

TEST_P(NewFileTest, OneOfSeveralWritersSucceeds) {
  for (int round = 0; round < 50; ++round) {
    const std::string path = folder_ / std::to_string(round);
    std::atomic<int> written{0}, winner{-1};
    std::vector<std::thread> writers;
    for (int i = 0; i < 4; ++i)
      writers.emplace_back([&, i] {
        simple_file_system = GetParam();
        try {
          write_new(path, std::to_string(i));
          ++written, winner = i;
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ExitCode::usage) << error.what();
        }
      });
    for (std::thread& writer : writers) writer.join();
    ASSERT_EQ(written, 1);
    ASSERT_EQ(content(path), std::to_string(winner));
  }
}

INSTANTIATE_TEST_SUITE_P(FileSystems, NewFileTest, testing::Bool());

TEST(DeviceFile, NamesTheReasonIfADeviceTakesNothing) {
  try {
    write_whole_file("/dev/full", "text", Flush::none);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::runtime_failure);
    EXPECT_STREQ(error.what(), "/dev/full: cannot be written: No space left on device (free some space)");
  }
  EXPECT_TRUE(is_special_file("/dev/full"));
}

TEST(OpenOutput, CreatesOrReplaces) {
  const TemporaryFolder folder;
  const std::string path = folder / "a";
  std::fputs("x", open_output(path, Existing::keep).get());
  EXPECT_THROW(open_output(path, Existing::keep), Error);
  EXPECT_EQ(read_whole_file(path, 10), "x");
  open_output(path, Existing::replace);
  EXPECT_EQ(read_whole_file(path, 10), "");
  EXPECT_TRUE(open_output("/dev/null", Existing::keep));
}

TEST(PrivateFile, IsNeverReadableForOthersWhileItIsWritten) {
  const TemporaryFolder folder;
  const std::string path = folder / "token";
  write_whole_file(path, "secret", Flush::none);
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  std::atomic<bool> ended{false};
  std::atomic<int> seen{0}, open{0};
  std::thread watcher([&] {
    while (!ended)
      for (const auto& entry : fs::directory_iterator(folder.path())) {
        struct stat info = {};
        if (lstat(entry.path().c_str(), &info) != 0) continue;
        seen += entry.path() != path;
        open += (info.st_mode & 077) != 0;
      }
  });
  const std::string text(8 << 20, 's');
  for (int i = 0; i < 200 && seen < 20; ++i) write_whole_file(path, text, Flush::none);
  ended = true;
  watcher.join();
  EXPECT_GT(seen, 0);
  EXPECT_EQ(open, 0);
}

}  // namespace
}  // namespace lensd

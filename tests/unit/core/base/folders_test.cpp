// core/base/folders: a private folder in a folder where everybody may create files.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "core/base/folders.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

TEST(PrivateFolder, IsForItsUserOnly) {
  const TemporaryFolder folder;
  const std::string path = folder / "private";
  EXPECT_TRUE(make_private_folder(path));
  struct stat info = {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700u);
  EXPECT_TRUE(make_private_folder(path)) << "exists";
  EXPECT_FALSE(make_private_folder(folder / "missing/private"));
  EXPECT_EQ(errno, ENOENT);
}

TEST(PrivateFolder, AFolderThatOthersCanChangeIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder / "private";
  ASSERT_TRUE(make_private_folder(path));
  for (const mode_t mode : {0770u, 0777u, 0702u}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    EXPECT_FALSE(make_private_folder(path)) << mode;
    EXPECT_EQ(errno, EPERM);
  }
  ASSERT_EQ(chmod(path.c_str(), 0755), 0);
  EXPECT_TRUE(make_private_folder(path)) << "others can only read it";

  std::filesystem::create_directory_symlink("private", folder / "link");
  EXPECT_FALSE(make_private_folder(folder / "link"));
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_FALSE(make_private_folder(folder / "pipe"));
  if (geteuid() != 0) return;
  constexpr uid_t kOther = 65534;
  ASSERT_EQ(chown(path.c_str(), kOther, kOther), 0);
  EXPECT_FALSE(make_private_folder(path)) << "another user's";
}

}  // namespace
}  // namespace lensd

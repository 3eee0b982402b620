// core/base/lock_file: only its owner, and those whom the owner has chosen, can hold a lock.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "core/base/lock_file.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

class LockFileTest : public testing::Test {
 protected:
  /// Returns the mode of a lock file with the mode `before` after it was opened.
  mode_t mode_after(mode_t before) {
    const std::string path = folder_ / "lock";
    const UniqueFd made(open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
    fchmod(made.get(), before);
    EXPECT_TRUE(bool(open_lock_file(path)));
    struct stat info = {};
    fstat(made.get(), &info);
    return info.st_mode & 07777;
  }

  TemporaryFolder folder_;
};

TEST_F(LockFileTest, ANewOneIsForItsUserOnly) {
  const UniqueFd lock = open_lock_file(folder_ / "new");
  struct stat info = {};
  ASSERT_EQ(fstat(lock.get(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  EXPECT_NE(fcntl(lock.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(LockFileTest, AModeForEverybodyIsReducedAndAChosenOneIsKept) {
  EXPECT_EQ(mode_after(0644), 0600u);
  EXPECT_EQ(mode_after(0666), 0660u);
  EXPECT_EQ(mode_after(0604), 0600u);
  EXPECT_EQ(mode_after(0660), 0660u);
  EXPECT_EQ(mode_after(0640), 0640u);
}

TEST_F(LockFileTest, LinksAndPipesAreRefused) {
  std::filesystem::create_symlink(folder_ / "target", folder_ / "link");
  EXPECT_FALSE(bool(open_lock_file(folder_ / "link")));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "target"));
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_FALSE(bool(open_lock_file(folder_ / "pipe")));
  EXPECT_EQ(errno, EPERM);
}

TEST_F(LockFileTest, AnotherUsersIsNotTrustedUnlessItsFolderIsShared) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
  constexpr uid_t kUser = 12345, kOther = 23456;
  const std::string path = folder_ / "lock";
  { const UniqueFd made = open_lock_file(path); }
  const auto opens = [&](uid_t owner, gid_t group, mode_t mode, gid_t folder_group, mode_t folder_mode) {
    const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const std::string folder = folder_.path();
    EXPECT_EQ(fchown(file.get(), owner, group), 0);
    EXPECT_EQ(fchmod(file.get(), mode), 0);
    EXPECT_EQ(chown(folder.c_str(), 0, folder_group), 0);
    EXPECT_EQ(chmod(folder.c_str(), folder_mode), 0);
    EXPECT_EQ(seteuid(kUser), 0);
    const bool trusted = is_trusted_lock(file.get(), path);
    EXPECT_EQ(seteuid(0), 0);
    return trusted;
  };
  EXPECT_TRUE(opens(kUser, 0, 0600, 0, 0755));
  EXPECT_TRUE(opens(0, 0, 0644, 0, 0755)) << "root may delete it anyway";
  EXPECT_FALSE(opens(kOther, 100, 0660, 0, 0777));
  EXPECT_FALSE(opens(kOther, 100, 0660, 100, 0777)) << "everybody may write to the folder";
  EXPECT_FALSE(opens(kOther, 100, 0666, 100, 0770));
  EXPECT_TRUE(opens(kOther, 100, 0660, 100, 0770)) << "the folder is shared by its group";
  EXPECT_EQ(chown(folder_.path().c_str(), 0, 0), 0);
}

}  // namespace
}  // namespace lensd

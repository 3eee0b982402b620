// The program that uses a camera.
#include "core/media/camera/camera_user.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;

/// A folder like /proc.
class CameraUser : public testing::Test {
 protected:
  CameraUser() { put("video0"); }

  void put(const std::string& name, const std::string& text = "") { std::ofstream(folder_ / name) << text; }
  /// Adds a process whose descriptors are these links.
  void add_process(const std::string& number, const std::string& name,
                   const std::vector<std::string>& targets) {
    const fs::path process = fs::path(folder_ / "proc") / number;
    fs::create_directories(process / "fd");
    std::ofstream(process / "comm") << name << '\n';
    for (size_t i = 0; i < targets.size(); ++i)
      fs::create_symlink(targets[i], process / "fd" / std::to_string(i));
  }
  std::string user(const std::string& name) { return find_camera_user(folder_ / name, folder_ / "proc"); }

  TemporaryFolder folder_;
};

TEST_F(CameraUser, IsTheProcessWithALinkToTheDevice) {
  add_process("41", "browser", {"/dead/mount/file", "socket:[1]"});
  add_process("42", "zoom", {"/dev/null", folder_ / "video0"});
  EXPECT_EQ(user("video0"), " (zoom, process 42)");
}

TEST_F(CameraUser, LinksAreReadButNotFollowed) {
  // A link to the device that is not the descriptor's own text: following it would find the device.
  fs::create_symlink(folder_ / "video0", folder_ / "detour");
  add_process("42", "zoom", {folder_ / "detour"});
  EXPECT_EQ(user("video0"), "");
}

TEST_F(CameraUser, ADeviceMayBeNamedByALink) {
  fs::create_symlink(folder_ / "video0", folder_ / "by-id");
  add_process("42", "zoom", {folder_ / "video0"});
  EXPECT_EQ(user("by-id"), " (zoom, process 42)");
}

TEST_F(CameraUser, OtherEntriesAndThisProcessAreIgnored) {
  add_process("self", "self", {folder_ / "video0"});
  add_process(std::to_string(getpid()), "lensd", {folder_ / "video0"});
  EXPECT_EQ(user("video0"), "");
  EXPECT_EQ(user("missing"), "");
}

}  // namespace
}  // namespace lensd

// Ids of the owners of recording rings.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>
#include <vector>

#include "app/cli.hpp"
#include "app/recording_owner.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

CommandLine daemon_with(const std::string& socket) {
  CommandLine line;
  line.mode = RunMode::serve;
  line.config.control_socket = socket, line.config.record_folder = "/recordings";
  return line;
}

TEST(RecordingOwner, EachConfigurationAndMachineHasItsOwn) {
  const TemporaryFolder first, second;
  const std::string id = recording_owner(first / "state", "a");
  EXPECT_GE(id.size(), 32u);
  EXPECT_EQ(recording_owner(first / "state", "a"), id) << "a restart continues the ring";
  EXPECT_NE(recording_owner(first / "state", "b"), id);
  EXPECT_NE(recording_owner(second / "state", "a"), id) << "another machine has another state folder";
}

TEST(RecordingOwner, WithoutAStateFolderEachRunIsAlone) {
  EXPECT_NE(recording_owner("", "a"), recording_owner("", "a"));
  EXPECT_NE(recording_owner("/proc/none", "a"), recording_owner("/proc/none", "a"));
}

TEST(RecordingOwner, ProcessesThatStartTogetherAgree) {
  const TemporaryFolder folder;
  std::vector<std::string> ids(8);
  std::vector<std::thread> threads;
  for (std::string& id : ids) threads.emplace_back([&] { id = recording_owner(folder / "state", "a"); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& id : ids) EXPECT_EQ(id, ids[0]);
}

TEST(RecordingOwner, KeysTellConfigurationsApart) {
  const TemporaryFolder first, second;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(first.path());
  const std::string relative = recording_owner_key(daemon_with("c.sock"));
  EXPECT_EQ(recording_owner_key(daemon_with(first / "c.sock")), relative);
  std::filesystem::current_path(second.path());
  EXPECT_NE(recording_owner_key(daemon_with("c.sock")), relative);
  std::filesystem::current_path(before);

  CommandLine a = daemon_with("off"), b = daemon_with("off");
  EXPECT_EQ(recording_owner_key(a), recording_owner_key(b));
  a.config.source_url = "rtsp://camera/1", b.config.source_url = "rtsp://camera/2";
  EXPECT_NE(recording_owner_key(a), recording_owner_key(b));
  b = a, b.layers.files = {"/b.toml"};
  EXPECT_NE(recording_owner_key(a), recording_owner_key(b));
  b = a, b.mode = RunMode::batch;
  EXPECT_NE(recording_owner_key(a), recording_owner_key(b));
}

}  // namespace
}  // namespace lensd

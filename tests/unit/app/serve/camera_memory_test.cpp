// CameraMemory: what the daemon keeps of cameras between runs.
#include "app/serve/camera_memory.hpp"

#include <gtest/gtest.h>

#include <sys/file.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "core/base/lock_file.hpp"
#include "core/base/owned_thread.hpp"
#include "core/base/whole_file.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

SourceControls controls_of(const std::string& camera, ControlValues wanted, uint64_t version = 1) {
  SourceControls controls;
  controls.device = camera, controls.wanted = std::move(wanted), controls.version = version;
  return controls;
}

const ControlValues kValues = {
    {"gain", int64_t{30}}, {"mirror", true}, {"mode", std::string("Manual \"1\"")}};

TEST(CameraMemory, KeepsValuesOverARestart) {
  const TemporaryFolder folder;
  const std::string path = folder / "cameras.toml";
  {
    CameraMemory memory(path);
    EXPECT_TRUE(memory.kept().empty());
    memory.keep(controls_of("usb-A", kValues));
    EXPECT_EQ(memory.kept().at("usb-A"), kValues) << "also for the next source of this run";
    memory.save();
    EXPECT_FALSE(std::filesystem::exists(path)) << "written a second later, with further changes";
    memory.save(true);
  }
  CameraMemory memory(path);
  EXPECT_EQ(memory.kept(), (KeptControls{{"usb-A", kValues}}));
  memory.keep(controls_of("usb-A", {}, 2));
  memory.save(true);
  EXPECT_TRUE(CameraMemory(path).kept().empty()) << "all controls were reset";
}

TEST(CameraMemory, TheSameValuesAreNotWrittenAgain) {
  const TemporaryFolder folder;
  const std::string path = folder / "cameras.toml";
  CameraMemory memory(path);
  memory.keep(controls_of("usb-A", {}));
  memory.save(true);
  EXPECT_FALSE(std::filesystem::exists(path)) << "nothing was set";
  memory.keep(controls_of("usb-A", kValues, 2));
  memory.save(true);
  std::filesystem::remove(path);
  memory.keep(controls_of("usb-A", kValues, 3));
  memory.save(true);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(CameraMemory, ValuesThatCannotBeWrittenAreWrittenLater) {
  const TemporaryFolder folder;
  const std::string path = folder / "cameras.toml";
  CameraMemory memory(path);
  memory.keep(controls_of("usb-A", kValues));
  std::filesystem::create_directory(path);  // in the way
  memory.save(true);
  std::filesystem::remove(path);
  memory.save(true);
  EXPECT_EQ(CameraMemory(path).kept(), (KeptControls{{"usb-A", kValues}}));
}

TEST(CameraMemory, ValuesThatAreSetDuringAWriteAreWritten) {
  const TemporaryFolder folder;
  const std::string path = folder / "cameras.toml";
  CameraMemory memory(path);
  const UniqueFd lock = open_lock_file(path + ".lock");
  ASSERT_TRUE(lock && flock(lock.get(), LOCK_EX) == 0) << "a write waits for it for 100 ms";
  memory.keep(controls_of("usb-A", kValues));
  std::thread writer([&] { memory.save(true); });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  memory.keep(controls_of("usb-B", kValues));
  memory.save(true);
  writer.join();
  EXPECT_EQ(join_stragglers(std::chrono::seconds(10)), 0u);
  EXPECT_EQ(CameraMemory(path).kept().size(), 2u);
}

TEST(CameraMemory, TwoDaemonsKeepEachOthersCameras) {
  const TemporaryFolder folder;
  const std::string path = folder / "cameras.toml";
  CameraMemory first(path), second(path);
  first.keep(controls_of("usb-A", kValues));
  second.keep(controls_of("usb-B", {{"gain", int64_t{1}}}));
  first.save(true), second.save(true);
  EXPECT_EQ(CameraMemory(path).kept().size(), 2u);
}

TEST(CameraMemory, AnInvalidFileIsReplacedAndNoPathIsNoError) {
  const TemporaryFolder folder;
  const std::string path = folder / "cameras.toml";
  write_whole_file(path, std::string_view("[controls\n"), Flush::none);
  CameraMemory memory(path);
  EXPECT_TRUE(memory.kept().empty());
  memory.keep(controls_of("usb-A", kValues));
  memory.save(true);
  EXPECT_EQ(CameraMemory(path).kept().at("usb-A"), kValues);
  EXPECT_EQ(read_whole_file(path + ".broken", 1000), "[controls\n");

  std::filesystem::resize_file(path, 1 << 20);
  memory.keep(controls_of("usb-B", kValues));
  memory.save(true);
  EXPECT_EQ(CameraMemory(path).kept().at("usb-B"), kValues) << "the file was too large";

  CameraMemory nowhere("");
  nowhere.keep(controls_of("usb-A", kValues));
  nowhere.save(true);
  CameraMemory denied("/proc/none/cameras.toml");
  denied.keep(controls_of("usb-A", kValues));
  denied.save(true);
}

}  // namespace
}  // namespace lensd

// Camera identities stay the same after a reconnection and differ for cameras with equal serial numbers.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/unit/common/temporary_folder.hpp"
#include "tests/unit/core/media/camera/camera_fixture.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;

v4l2_capability camera_at(const char* bus) {
  v4l2_capability capability = {};
  std::strcpy(reinterpret_cast<char*>(capability.card), "Cam");
  std::strcpy(reinterpret_cast<char*>(capability.bus_info), bus);
  return capability;
}

TEST(CameraIdentity, ALinkThatUdevMakesLaterIsNoOtherCamera) {
  CameraFixture f(false, {}, {{"usb-serial-1", {{"gain", int64_t{20}}, {"zones", int64_t{3}}}}});
  f.shared->set({{"gain", int64_t{35}}});
  f.service();
  EXPECT_EQ(f.shared->current(false)->device, "camera A");
  f.shared->set({{"mirror", true}});  // queued while the camera is away
  f.connect({"camera A", "usb-serial-1"});
  f.service();
  EXPECT_EQ(f.shared->current(false)->device, "usb-serial-1");
  EXPECT_EQ(f.device.at(4).value, 35) << "newer than the value of an earlier run";
  EXPECT_EQ(f.device.at(5).value, 1);
  EXPECT_EQ(f.device.at(8).value, 3) << "from an earlier run";
  f.connect({"camera A"});
  EXPECT_EQ(f.shared->current(false)->device, "usb-serial-1") << "the link is late again";
  f.connect({"another port", "usb-serial-1"});
  EXPECT_EQ(f.device.at(4).value, 35);
  f.device.at(4).value = 10;
  f.connect({"another port", "usb-serial-2"});
  EXPECT_EQ(f.device.at(4).value, 10) << "another camera of this model at the same port";
}

TEST(CameraIdentity, TheIdentityHasTheLinkIfThereIsOne) {
  const TemporaryFolder folder;
  v4l2_capability capability = {};
  std::strcpy(reinterpret_cast<char*>(capability.card), "Cam");
  std::strcpy(reinterpret_cast<char*>(capability.bus_info), "usb-1");
  EXPECT_EQ(camera_identity("/dev/null", capability, folder.path(), folder / "no-nodes").name(),
            "Cam (usb-1)");
  std::filesystem::create_symlink("/dev/null", folder / "usb-serial-1");
  EXPECT_EQ(camera_identity("/dev/null", capability, folder.path(), folder / "no-nodes").name(),
            "usb-serial-1");
  EXPECT_EQ(camera_identity("/dev/null", capability, folder.path(), folder / "no-nodes").bus, "Cam (usb-1)");
}

/// The folders of udev and the kernel for the devices /dev/null and /dev/zero as USB cameras.
struct TwoCameras {
  TwoCameras(const std::string& serial_a, const std::string& serial_b, const char* index_b = "0") {
    add("null", "1-1", serial_a, "0");
    add("zero", "1-2", serial_b, index_b);
  }
  /// Both cameras are interfaces of one device.
  TwoCameras() {
    add("null", "1-1", "SN0001", "0");
    add("zero", "1-1", "SN0001", "0", 2);
  }
  void add(const std::string& node, const std::string& port, const std::string& serial, const char* index,
           int interface_number = 0) {
    fs::create_directories(folder / "links");
    const fs::path usb = folder / port;
    const fs::path interface = usb / (port + ":1." + std::to_string(interface_number));
    fs::create_directories(interface / "video4linux" / node);
    fs::create_directories(folder / "nodes");
    fs::create_symlink(interface, interface / "video4linux" / node / "device");
    fs::create_symlink(interface / "video4linux" / node, folder.path() / "nodes" / node);
    std::ofstream(interface / "bInterfaceNumber") << '0' << interface_number << '\n';
    std::ofstream(usb / "idVendor") << "1234\n";
    std::ofstream(usb / "idProduct") << "5678\n";
    if (!serial.empty()) std::ofstream(usb / "serial") << serial << '\n';
    std::ofstream(interface / "video4linux" / node / "index") << index << '\n';
  }
  void link_to(const std::string& device) {
    fs::remove(folder / "links/usb-Cam_SN0001");
    fs::create_symlink(device, folder / "links/usb-Cam_SN0001");
  }
  CameraIdentity identity(const std::string& device, const char* bus) const {
    return camera_identity(device, camera_at(bus), folder / "links", folder / "nodes");
  }

  const TemporaryFolder folder;
};

TEST(CameraIdentity, EqualSerialNumbersShareNoLink) {
  for (const char* serial : {"SN0001", ""}) {
    TwoCameras cameras(serial, serial);
    for (const char* target : {"/dev/null", "/dev/zero"}) {
      cameras.link_to(target);
      EXPECT_EQ(cameras.identity("/dev/null", "usb-1").name(), "Cam (usb-1)");
      EXPECT_EQ(cameras.identity("/dev/zero", "usb-2").name(), "Cam (usb-2)");
      EXPECT_TRUE(cameras.identity("/dev/zero", "usb-2").shared_link);
    }
  }
}

TEST(CameraIdentity, TwoCamerasOfOneDeviceDifferByTheInterface) {
  TwoCameras cameras;
  for (const char* target : {"/dev/null", "/dev/zero"}) {
    cameras.link_to(target);
    const CameraIdentity colour = cameras.identity("/dev/null", "usb-1");
    const CameraIdentity infrared = cameras.identity("/dev/zero", "usb-1");
    EXPECT_EQ(colour.name(), "Cam (usb-1)");
    EXPECT_EQ(infrared.name(), "Cam (usb-1) interface 02");
    EXPECT_FALSE(colour.matches(infrared));
  }
}

TEST(CameraIdentity, OtherSerialsAndOtherNodesOfACameraAreNoTwins) {
  TwoCameras different("SN0001", "SN0002"), nodes("SN0001", "SN0001", "1");
  for (TwoCameras* cameras : {&different, &nodes}) {
    cameras->link_to("/dev/null");
    EXPECT_EQ(cameras->identity("/dev/null", "usb-1").name(), "usb-Cam_SN0001");
    EXPECT_FALSE(cameras->identity("/dev/null", "usb-1").shared_link);
  }
}

TEST(CameraIdentity, ASharedLinkIsNotTakenOverWhenTheOtherCameraIsGone) {
  CameraFixture f(false, {}, {{"usb-Cam_SN0001", {{"gain", int64_t{20}}}}});
  f.connect({.bus = "camera B", .shared_link = true});
  f.connect({.bus = "camera B", .link = "usb-Cam_SN0001"});
  EXPECT_EQ(f.device.at(4).value, 10) << "the values of the other camera";
  EXPECT_EQ(f.shared->current(false)->device, "camera B");
}

}  // namespace
}  // namespace lensd

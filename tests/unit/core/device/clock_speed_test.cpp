// Clock speeds of CPU and GPU: the values, or the reason why they are unknown.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/device/clock_speed.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;

class Clocks : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }
  std::string none() const { return folder_ / "not-there"; }

  TemporaryFolder folder_;
};

TEST_F(Clocks, TheFastestCoreOfTheKernelsScaling) {
  write("sys/cpu0/cpufreq/scaling_cur_freq", "1400000\n");
  write("sys/cpu1/cpufreq/scaling_cur_freq", "3599999\n");
  write("sys/cpufreq/boost", "1\n");
  write("sys/possible", "0-1\n");
  const ClockSpeed clock = cpu_clock(folder_ / "sys", none());
  EXPECT_EQ(clock.mhz, 3600);
  EXPECT_NE(clock.reason.find("Fastest core"), std::string::npos);
}

TEST_F(Clocks, CpuinfoWhereThereIsNoScaling) {
  const std::string info = write("cpuinfo",
                                 "processor\t: 0\ncpu MHz\t\t: 2596.122\n"
                                 "processor\t: 1\ncpu MHz\t\t: 2600.700\n");
  EXPECT_EQ(cpu_clock(none(), info).mhz, 2601);
}

TEST_F(Clocks, AReasonWhereTheKernelTellsNothing) {
  const std::string info = write("cpuinfo", "processor\t: 0\nBogoMIPS\t: 50.00\n");
  const ClockSpeed clock = cpu_clock(none(), info);
  EXPECT_EQ(clock.mhz, 0);
  EXPECT_NE(clock.reason.find("cpufreq"), std::string::npos);
}

TEST_F(Clocks, TheGpuIsFoundByItsAddress) {
  const ClockSpeed clock = GpuClockMonitor("0000:3b:00.0", LENSD_FAKE_NVML).read();
  EXPECT_EQ(clock.mhz, 1755) << clock.reason;
}

TEST_F(Clocks, AReasonForEveryGpuThatCannotBeRead) {
  const auto reason = [](const char* bus, const char* library) {
    const ClockSpeed clock = GpuClockMonitor(bus, library).read();
    EXPECT_EQ(clock.mhz, 0);
    return clock.reason;
  };
  EXPECT_NE(reason("", LENSD_FAKE_NVML).find("not run on a GPU"), std::string::npos);
  EXPECT_NE(reason("0000:3b:00.0", "liblensd-no-such.so").find("liblensd-no-such.so"), std::string::npos);
  EXPECT_NE(reason("0000:3b:00.0", "libm.so.6").find("too old"), std::string::npos);
  const std::string unknown = reason("0000:01:00.0", LENSD_FAKE_NVML);
  EXPECT_NE(unknown.find("0000:01:00.0"), std::string::npos);
  EXPECT_NE(unknown.find("Not Found"), std::string::npos);
}

}  // namespace
}  // namespace lensd

// core/device/gpu_support: which devices can run a build, and the messages if they cannot.

#include "core/device/gpu_support.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/device/backend.hpp"

namespace lensd {
namespace {

/// A driver for CUDA 13.0, and a build with CUDA 13.0 for all architectures.
CudaFacts facts(std::vector<CudaDevice> devices) {
  return {.driver = 13000,
          .runtime = 13000,
          .archs = parse_cuda_archs("75-real 80-real 86-real 89-real 90-real 100-real 120"),
          .devices = std::move(devices),
          .ordinal = 0,
          .error = {}};
}

const CudaDevice kTuring{"RTX 2080", 75}, kAda{"RTX 4090", 89}, kPascal{"GTX 1080", 61};

std::string what(const CudaFacts& given) {
  const auto obstacle = cuda_obstacle(given);
  return obstacle ? obstacle->what : "";
}
std::string hint(const CudaFacts& given) {
  const auto obstacle = cuda_obstacle(given);
  return obstacle ? obstacle->hint : "";
}

TEST(CudaSupport, ParsesTheArchitecturesOfTheBuild) {
  EXPECT_EQ(parse_cuda_archs("75-real 90-virtual 120"),
            (std::vector<CudaArch>{{75, true, false}, {90, false, true}, {120, true, true}}));
  EXPECT_EQ(parse_cuda_archs(""), std::vector<CudaArch>());
  EXPECT_EQ(parse_cuda_archs("native").size(), 0u);
  EXPECT_EQ(describe(parse_cuda_archs("75-real 120")), "machine code for 7.5, 12.0; PTX for 12.0");
  EXPECT_EQ(describe(parse_cuda_archs("75-virtual")), "PTX for 7.5");
  EXPECT_EQ(describe(std::vector<CudaArch>{}), "no GPU code");
}

TEST(CudaSupport, ChoosesTheCodeForADevice) {
  const auto archs = parse_cuda_archs("75-real 80-real 90-virtual");
  EXPECT_EQ(code_for(75, archs, true), "machine code for 7.5");
  EXPECT_EQ(code_for(86, archs, true), "machine code for 8.0");  // machine code runs on later minor versions
  EXPECT_EQ(code_for(90, archs, true), "PTX for 9.0");
  EXPECT_EQ(code_for(120, archs, true), "PTX for 9.0");
  EXPECT_EQ(code_for(120, archs, false), "");
  EXPECT_EQ(code_for(72, archs, true), "");  // machine code does not run on earlier ones
  EXPECT_EQ(code_for(100, parse_cuda_archs("103-real"), true), "");  // 10.0 is earlier than 10.3
  EXPECT_EQ(code_for(89, parse_cuda_archs("120 80-real 86-real 75-real"), true), "machine code for 8.6");
  EXPECT_EQ(code_for(75, parse_cuda_archs("90-virtual 50-virtual 60-virtual 52-virtual"), true),
            "PTX for 6.0");
}

TEST(CudaSupport, EverySupportedDeviceRunsTheFullBuild) {
  for (const int arch : {75, 80, 86, 87, 89, 90, 100, 103, 120, 121})
    EXPECT_EQ(what(facts({{"GPU", arch}})), "") << arch;
}

TEST(CudaSupport, NamesTheMissingDriver) {
  CudaFacts none = facts({});
  none.driver = 0;
  EXPECT_NE(what(none).find("no NVIDIA driver"), std::string::npos);
}

TEST(CudaSupport, ComparesTheMajorVersionsOfDriverAndRuntime) {
  CudaFacts old = facts({kAda});
  old.driver = 12040;
  EXPECT_EQ(what(old), "the NVIDIA driver supports CUDA 12.4, this build needs 13.0 or newer");
  EXPECT_EQ(hint(old), "update the NVIDIA driver to 580 or newer");
  old.driver = 11080, old.runtime = 12000;
  EXPECT_EQ(hint(old), "update the NVIDIA driver to 525 or newer");
  old.driver = 10020, old.runtime = 11020;
  EXPECT_EQ(hint(old), "update the NVIDIA driver to 450 or newer");
  old.driver = 13000, old.runtime = 14000;
  EXPECT_EQ(hint(old), "update the NVIDIA driver to the newest version");
  old.driver = 12040, old.runtime = 12060;  // same major version, so machine code runs
  EXPECT_EQ(what(old), "");
}

TEST(CudaSupport, PtxNeedsADriverAsNewAsTheRuntime) {
  CudaFacts given = facts({{"RTX 5090", 120}});
  given.archs = parse_cuda_archs("75-real 90"), given.driver = 12040, given.runtime = 12060;
  EXPECT_EQ(what(given),
            "RTX 5090 has compute capability 12.0, this build has machine code for 7.5, 9.0; PTX for 9.0");
  EXPECT_EQ(hint(given), "PTX needs a driver for CUDA 12.6, this one supports 12.4: update it");
  given.driver = 12060;
  EXPECT_EQ(what(given), "");
}

TEST(CudaSupport, NamesDeviceAndArchitecturesIfNoneFits) {
  CudaFacts given = facts({kAda});
  given.archs = parse_cuda_archs("75-real");
  EXPECT_EQ(what(given), "RTX 4090 has compute capability 8.9, this build has machine code for 7.5");
  EXPECT_EQ(hint(given),
            "build on this machine with LENSD_CUDA_ARCHS=native, or install the package lensd-cuda");
  EXPECT_EQ(hint(facts({kPascal})), "lensd needs 7.5 (Turing) or newer");
}

TEST(CudaSupport, SuggestsAnotherDeviceThatRunsTheBuild) {
  CudaFacts given = facts({kPascal, kTuring});
  EXPECT_EQ(hint(given), "--device 1 selects RTX 2080, which can run it");
  given.ordinal = 1;
  EXPECT_EQ(what(given), "");
  given.ordinal = 2;
  EXPECT_EQ(what(given), "there is no device 2, the driver lists 2: 0 GTX 1080, 1 RTX 2080");
  given.ordinal = -1;
  EXPECT_NE(what(given), "");
  given = facts({kTuring, kPascal}), given.ordinal = 1;
  EXPECT_EQ(hint(given), "--device 0 selects RTX 2080, which can run it");
}

TEST(CudaSupport, ExplainsErrorsOfTheDriver) {
  CudaFacts given = facts({kAda});
  given.error = "cudaErrorDevicesUnavailable";
  EXPECT_EQ(what(given), "RTX 4090: busy: another process uses the device exclusively");
  EXPECT_NE(hint(given).find("nvidia-smi -c DEFAULT"), std::string::npos);
  CudaFacts lost = facts({{"device 0", 0}, kAda});  // as backend.cpp names a device without properties
  lost.error = "cudaErrorUnknown";
  EXPECT_EQ(what(lost), "device 0: the driver failed, perhaps the device was lost");
  lost.no_uvm = true;
  EXPECT_TRUE(what(lost).starts_with("/dev/nvidia-uvm cannot be opened")) << what(lost);
  EXPECT_NE(hint(lost).find("nvidia-modprobe -u"), std::string::npos);
  lost.error = "cudaErrorNoDevice";  // no device is visible, so CUDA did not open it
  EXPECT_EQ(what(lost), "device 0: the driver lists no device");
  given.devices.clear(), given.error = "cudaErrorNoDevice";
  EXPECT_EQ(what(given), "the driver lists no device");
  given.error.clear();
  EXPECT_EQ(what(given), "the driver lists no device");
  given.error = "cudaErrorOfTheFuture";
  EXPECT_EQ(what(given), "cudaErrorOfTheFuture");
  EXPECT_EQ(hint(given), "see nvidia-smi and dmesg");
  EXPECT_EQ(cuda_error_hint("cudaErrorMemoryAllocation"), "end other programs that use the GPU");
  EXPECT_EQ(cuda_error_hint("cudaErrorOfTheFuture"), "");
}

TEST(CudaSupport, ComparesNeededAndFreeMemory) {
  constexpr size_t kMiB = 1 << 20;
  EXPECT_EQ(memory_obstacle("GPU", 100 * kMiB, 100 * kMiB, 4096 * kMiB), std::nullopt);
  const auto obstacle = memory_obstacle("RTX 2060", 812 * kMiB, 500 * kMiB, 4096 * kMiB);
  ASSERT_TRUE(obstacle);
  EXPECT_EQ(obstacle->what,
            "the graph needs 812 MiB of GPU memory, 500 MiB of 4096 MiB are free on RTX 2060");
}

TEST(GpuExpected, OnlyWithAGpuOrItsKernelDriver) {
  EXPECT_FALSE(gpu_expected({}));
  CudaFacts facts{.driver = 12040, .runtime = 12040, .error = "cudaErrorNoDevice"};
  EXPECT_FALSE(gpu_expected(facts)) << "libcuda of the CUDA Toolkit on a machine without a GPU";
  facts.error.clear();
  EXPECT_FALSE(gpu_expected(facts));
  facts.kernel_driver = true;
  EXPECT_TRUE(gpu_expected(facts)) << "a broken or hidden GPU";
  facts.kernel_driver = false, facts.error = "cudaErrorInsufficientDriver";
  EXPECT_FALSE(gpu_expected(facts)) << "libcuda that is older than this build, on a machine without a GPU";
  facts.error.clear(), facts.devices = {{"RTX 2060", 75}};
  EXPECT_TRUE(gpu_expected(facts));
}

TEST(ChooseBackend, FallsBackOnlyIfNotRequested) {
  CudaStatus status;
  status.built = status.gpu_expected = true;
  status.reason = "too old", status.hint = "update it";
  const BackendChoice choice = choose_backend(BackendRequest::automatic, status);
  EXPECT_EQ(choice.backend, Backend::cpu);
  EXPECT_TRUE(choice.fallback);
  EXPECT_EQ(choice.reason, "too old; update it");
  EXPECT_FALSE(choose_backend(BackendRequest::cpu, status).fallback);
  status.gpu_expected = false;
  EXPECT_FALSE(choose_backend(BackendRequest::automatic, status).fallback);
  try {
    choose_backend(BackendRequest::cuda, status);
    FAIL() << "CUDA was chosen";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::unavailable);
    EXPECT_STREQ(e.what(), "--backend=cuda: too old (update it; --backend=cpu gives the same output)");
  }
}

}  // namespace
}  // namespace lensd

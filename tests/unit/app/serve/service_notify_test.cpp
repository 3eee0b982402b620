// app/serve/service_notify: a source's name cannot add fields to a message for the service manager.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "app/serve/service_notify.hpp"
#include "core/base/unique_fd.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

TEST(ServiceNotify, NamesAddNoFields) {
  const TemporaryFolder folder;
  const std::string path = folder / "notify";
  const UniqueFd manager(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size());
  ASSERT_EQ(bind(manager.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const auto received = [&] {
    char text[1024];
    const ssize_t size = recv(manager.get(), text, sizeof text, MSG_DONTWAIT);
    return size < 0 ? std::string("nothing") : std::string(text, static_cast<size_t>(size));
  };
  setenv("NOTIFY_SOCKET", path.c_str(), 1);
  ServiceNotify notify;
  unsetenv("NOTIFY_SOCKET");
  notify.ready("a\nMAINPID=1\x1b[31m");
  EXPECT_EQ(received(), "READY=1\nSTATUS=a MAINPID=1 [31m");
  notify.status("b\nWATCHDOG=1");
  EXPECT_EQ(received(), "STATUS=b WATCHDOG=1");
  notify.status("b\nWATCHDOG=1");
  EXPECT_EQ(received(), "nothing");
}

TEST(ServiceNotify, AnyTimeOfTheWatchdogIsSafe) {
  setenv("NOTIFY_SOCKET", "/nowhere", 1);
  const auto interval = [](const char* microseconds) {
    setenv("WATCHDOG_USEC", microseconds, 1);
    return ServiceNotify().watchdog_interval_ns();
  };
  EXPECT_EQ(interval("3000000"), 1'500'000'000);
  EXPECT_EQ(interval("9223372036854775807"), 43'200'000'000'000);
  EXPECT_EQ(interval("99999999999999999999"), 43'200'000'000'000);
  EXPECT_EQ(interval("-5"), 0);
  EXPECT_EQ(interval("soon"), 0);
  unsetenv("NOTIFY_SOCKET"), unsetenv("WATCHDOG_USEC");
}

}  // namespace
}  // namespace lensd

// The control socket's file: its path, its mode, its owner, and what happens if it is there already or
// removed.

#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/lock_file.hpp"
#include "core/control/socket/control_socket.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/core/control/socket_fixture.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;

TEST_F(SocketTest, FileHasModeIsExclusiveAndIsRemoved) {
  start(options());
  struct stat info {};
  ASSERT_EQ(stat(options().path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_THROW(SocketServer(target_, hub_, options()), Error) << "another instance listens there";
  server_.reset();
  EXPECT_FALSE(fs::exists(options().path));
  EXPECT_THROW(ControlClient(options().path), Error);
  // The socket file of a killed process is replaced.
  const int dead = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  options().path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(dead, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  close(dead);
  start(options());
  ControlClient client(options().path);
  EXPECT_EQ(ask(client, R"({"command":["version"]})")["error"], "success");
}

TEST_F(SocketTest, ARemovedSocketIsMadeAgain) {
  SocketOptions o = options();
  o.path = folder_ / "run/control.sock";
  start(o);
  ControlClient before(o.path);
  for (const fs::path& removed : {fs::path(o.path), fs::path(o.path).parent_path()}) {
    fs::remove_all(removed);
    ASSERT_TRUE(eventually([&] { return bool(connect_socket(o.path, 0)); })) << removed;
    struct stat info {};
    ASSERT_EQ(stat(o.path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
    ControlClient client(o.path);
    EXPECT_EQ(ask(client, R"({"command":["version"]})")["error"], "success") << removed;
  }
  EXPECT_EQ(ask(before, R"({"command":["version"]})")["error"], "success") << "connections stay";
  server_.reset();
  EXPECT_FALSE(fs::exists(o.path));
}

/// Leaves a socket file on which nobody listens.
void leave_stale_socket(const std::string& path) {
  const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
}

TEST_F(SocketTest, OneOfSeveralStartsReplacesAStaleSocket) {
  for (int round = 0; round < 100; ++round) {
    leave_stale_socket(options().path);
    std::array<std::unique_ptr<ControlSocket>, 4> sockets;
    std::latch begin(sockets.size());
    std::vector<std::thread> starts;
    for (auto& socket : sockets)
      starts.emplace_back([&] {
        begin.arrive_and_wait();
        try {
          socket = std::make_unique<ControlSocket>(options().path);
        } catch (const Error&) {  // another thread was first
        }
      });
    for (std::thread& start : starts) start.join();
    ASSERT_EQ(std::ranges::count_if(sockets, [](const auto& s) { return s != nullptr; }), 1) << round;
    ASSERT_TRUE(connect_socket(options().path, 0)) << round;
  }
}

TEST_F(SocketTest, AStaleSocketIsReplacedUnderTheLockOfItsName) {
  const std::string path = options().path;
  leave_stale_socket(path);
  struct stat before {
  }, locked{};
  ASSERT_EQ(lstat(path.c_str(), &before), 0);
  std::unique_ptr<ControlSocket> socket;
  std::thread start;
  {
    const std::string name =
        fs::path(path).parent_path() / ("." + fs::path(path).filename().string() + ".lock");
    const UniqueFd lock = open_lock_file(name);
    ASSERT_EQ(flock(lock.get(), LOCK_EX), 0);
    start = std::thread([&] { socket = std::make_unique<ControlSocket>(path); });
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    ASSERT_EQ(lstat(path.c_str(), &locked), 0);
    EXPECT_EQ(locked.st_ctim.tv_nsec, before.st_ctim.tv_nsec) << "replaced while another start had the lock";
    EXPECT_FALSE(connect_socket(path, 0));
  }
  start.join();
  EXPECT_TRUE(connect_socket(path, 0));
}

TEST_F(SocketTest, ASocketOfAnotherUserIsNeitherTrustedNorReplaced) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
  fs::permissions(folder_.path(), fs::perms::all);
  const std::string path = folder_ / "foreign.sock";
  std::latch listening(1), done(1);
  std::thread other([&] {
    // Unlike setresuid(), the system call changes only this thread.
    EXPECT_EQ(syscall(SYS_setresuid, -1, 65534, -1), 0);
    {
      const ControlSocket socket(path);
      listening.count_down();
      done.wait();
    }
    EXPECT_EQ(syscall(SYS_setresuid, -1, 0, -1), 0);
  });
  listening.wait();
  EXPECT_NO_THROW(ControlClient{path});
  EXPECT_THROW(ControlClient(path, ControlClient::Owner::trusted), Error);
  done.count_down();
  other.join();

  leave_stale_socket(path);
  std::thread([&] {
    EXPECT_EQ(syscall(SYS_setresuid, -1, 65534, -1), 0);
    EXPECT_THROW(ControlSocket{path}, Error);
    EXPECT_EQ(syscall(SYS_setresuid, -1, 0, -1), 0);
  }).join();
  EXPECT_TRUE(fs::exists(path));
}

/// Unsets the variables of the default path, and restores them at the end.
class SocketPath : public SocketTest {
 protected:
  void SetUp() override {
    for (const char* name : kNames) {
      const char* value = getenv(name);
      before_.push_back(value ? std::optional<std::string>(value) : std::nullopt);
      unsetenv(name);
    }
  }
  void TearDown() override {
    for (size_t i = 0; i < before_.size(); ++i)
      before_[i] ? setenv(kNames[i], before_[i]->c_str(), 1) : unsetenv(kNames[i]);
  }

 private:
  static constexpr const char* kNames[] = {"RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"};
  std::vector<std::optional<std::string>> before_;
};

TEST_F(SocketPath, IgnoresRelativeFolders) {
  const std::string fallback = default_socket_path();
  EXPECT_TRUE(fallback.starts_with("/tmp/lensd-"));
  for (const char* value : {"", ":", "relative", "relative:/run/lensd"}) {
    setenv("RUNTIME_DIRECTORY", value, 1), setenv("XDG_RUNTIME_DIR", value, 1);
    EXPECT_EQ(default_socket_path(), fallback) << value;
  }
  setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
  EXPECT_EQ(default_socket_path(), "/run/user/7/lensd/control.sock");
  setenv("RUNTIME_DIRECTORY", "/run/lensd:/run/other", 1);
  EXPECT_EQ(default_socket_path(), "/run/lensd/control.sock");
}

TEST_F(SocketPath, ClientsUseTheServiceIfNobodyListensAtTheDefaultPath) {
  setenv("XDG_RUNTIME_DIR", folder_.path().c_str(), 1);
  const std::string own = default_socket_path(), service = folder_ / "service.sock";
  EXPECT_EQ(client_socket_path(service), own) << "there is no service";
  const ControlSocket of_service(service);
  EXPECT_EQ(client_socket_path(service), service);
  {
    const ControlSocket of_user(own);
    EXPECT_EQ(client_socket_path(service), own);
  }
  leave_stale_socket(own);  // by a lensd that was killed
  EXPECT_EQ(client_socket_path(service), service);
}

}  // namespace
}  // namespace lensd

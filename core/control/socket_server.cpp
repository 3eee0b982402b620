#include "core/control/socket_server.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <unordered_map>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/control/commands.hpp"

namespace lensd {
namespace {

/// Answers that may be on their way at a time for one client; further requests wait.
constexpr int kMaxPending = 16;
/// Requests of one client that are run before others get their turn.
constexpr int kFairShare = 32;
/// Unread bytes below which events are added.
constexpr size_t kEventRoom = 64 * 1024;
constexpr size_t kReadBytes = 16 * 1024;

Error socket_error(const std::string& path, const std::string& what, const std::string& hint = {}) {
  return Error(ExitCode::runtime_failure, "control socket " + path, what, hint);
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw socket_error(path, fmt::format("the path is longer than {} bytes", sizeof address.sun_path - 1),
                       "choose a shorter one");
  std::memcpy(address.sun_path, path.c_str(), path.size());
  return address;
}

/// A socket file that nobody listens on is left over from a run that was killed.
void clear_stale(const std::string& path, const sockaddr_un& address) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) return;
  if (!S_ISSOCK(info.st_mode)) throw socket_error(path, "there is something else of that name", "remove it");
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const bool alive =
      connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || errno == EAGAIN;
  close(probe);
  if (alive) throw socket_error(path, "another lensd answers there", "end it, or choose another --socket");
  unlink(path.c_str());
}

int listen_on(const std::string& path) {
  const sockaddr_un address = address_of(path);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty() && !std::filesystem::exists(folder)) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    chmod(folder.c_str(), 0700);
  }
  struct stat info {};
  if (!folder.empty() && stat(folder.c_str(), &info) == 0 && info.st_uid != geteuid() && info.st_uid != 0)
    throw socket_error(path, "its folder belongs to another user", "choose another --socket");
  clear_stale(path, address);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) throw socket_error(path, std::strerror(errno));
  fchmod(fd, 0600);  // taken over by bind(), so that the file never has another mode
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || listen(fd, 64) != 0) {
    const std::string reason = std::strerror(errno);
    close(fd);
    throw socket_error(path, reason, "check the folder and its permissions");
  }
  return fd;
}

bool may_connect(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         (peer.uid == geteuid() || peer.uid == 0);
}

}  // namespace

class SocketServer::Loop {
 public:
  Loop(Target& target, EventHub& hub, SocketOptions options, std::function<void()> pump)
      : target_(target), hub_(hub), options_(std::move(options)), pump_(std::move(pump)) {
    if (!options_.path.empty()) {
      listen_ = listen_on(options_.path);
      struct stat info {};
      if (stat(options_.path.c_str(), &info) == 0) inode_ = info.st_ino;
    }
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    mailbox_->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    watch(mailbox_->event, EPOLLIN, kWakeId, EPOLL_CTL_ADD);
    if (listen_ >= 0) watch(listen_, EPOLLIN, kListenId, EPOLL_CTL_ADD);
    spare_ = dup(mailbox_->event);
  }

  ~Loop() {
    clients_.clear();
    {
      const std::lock_guard lock(mailbox_->mutex);
      close(std::exchange(mailbox_->event, -1));
    }
    if (listen_ >= 0) {
      struct stat info {};
      if (stat(options_.path.c_str(), &info) == 0 && info.st_ino == inode_) unlink(options_.path.c_str());
      close(listen_);
    }
    close(epoll_);
    close(spare_);
  }

  void run() {
    std::array<epoll_event, 64> events;
    while (!stopping_) {
      const int count = epoll_wait(epoll_, events.data(), events.size(), timeout_ms());
      for (int i = 0; i < count; ++i) handle(events[static_cast<size_t>(i)]);
      take_mail();
      if (woken_ || now_ns() - ticked_ns_ >= options_.tick_ns) {
        woken_ = false, ticked_ns_ = now_ns();
        pump_();
        hub_.tick(target_);
      }
      serve_clients();
    }
  }

  void stop() {
    stopping_ = true;
    mailbox_->ring();
  }
  void wake() noexcept { mailbox_->ring_for_changes(); }
  size_t clients() const { return client_count_; }
  uint64_t cut_off() const { return cut_off_; }

 private:
  static constexpr uint64_t kWakeId = 0, kListenId = 1;

  /// Answers from other threads; outlives the loop in the replies that hold it.
  struct Mailbox {
    std::mutex mutex;
    int event = -1;
    bool changes = false;
    std::vector<std::pair<uint64_t, std::string>> letters;

    void ring() noexcept {
      const std::lock_guard lock(mutex);
      ring_locked();
    }
    void ring_for_changes() noexcept {
      const std::lock_guard lock(mutex);
      changes = true;
      ring_locked();
    }
    void put(uint64_t client, std::string text) {
      const std::lock_guard lock(mutex);
      letters.emplace_back(client, std::move(text));
      ring_locked();
    }

   private:
    void ring_locked() const noexcept {
      const uint64_t one = 1;
      if (event >= 0) [[maybe_unused]]
        const ssize_t ignored = write(event, &one, sizeof one);
    }
  };

  struct Client {
    int fd = -1;
    uint64_t id = 0;
    std::string in, out;
    size_t sent = 0;  // of `out`
    std::shared_ptr<Subscriber> subscriber;
    int pending = 0;       // answers on their way
    int64_t moved_ns = 0;  // when it last took something
    uint32_t interest = EPOLLIN;
    bool ending = false;  // no more requests; closed once `out` is sent
    bool dead = false;
    std::shared_ptr<std::atomic<bool>> news = std::make_shared<std::atomic<bool>>(false);

    ~Client() {
      if (fd >= 0) close(fd);
    }
    size_t unread() const { return out.size() - sent; }
  };

  void watch(int fd, uint32_t what, uint64_t id, int operation) {
    epoll_event event{};
    event.events = what, event.data.u64 = id;
    epoll_ctl(epoll_, operation, fd, &event);
  }

  int timeout_ms() const {
    if (backlog_ || woken_) return 0;
    // Without anyone who observes there is nothing to compare, only clients to look after.
    if (hub_.any()) return static_cast<int>(options_.tick_ns / 1'000'000);
    return clients_.empty() ? -1 : 1000;
  }

  void handle(const epoll_event& event) {
    if (event.data.u64 == kWakeId) {
      uint64_t count = 0;
      [[maybe_unused]] const ssize_t ignored = read(mailbox_->event, &count, sizeof count);
    } else if (event.data.u64 == kListenId) {
      accept_all();
    } else if (const auto it = clients_.find(event.data.u64); it != clients_.end()) {
      Client& client = *it->second;
      if (event.events & (EPOLLERR | EPOLLHUP)) client.dead = (event.events & EPOLLERR) || client.in.empty();
      if (event.events & EPOLLIN) receive(client);
    }
  }

  void accept_all() {
    for (;;) {
      const int fd = accept4(listen_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
        // Out of descriptors: the spare one takes the connection off the queue, which would else spin here.
        close(spare_);
        const int waiting = accept4(listen_, nullptr, nullptr, SOCK_CLOEXEC);
        if (waiting >= 0) close(waiting);
        spare_ = dup(mailbox_->event);
        // The kernel says so before it looks whether anybody waits.
        if (waiting < 0) return;
        continue;
      }
      if (fd < 0) return;
      const bool full = clients_.size() >= static_cast<size_t>(options_.max_clients);
      if (full || !may_connect(fd)) {
        const std::string text = answer_text(
            {Fault::busy, full ? "too many clients" : "this socket belongs to another user", {}}, nullptr);
        [[maybe_unused]] const ssize_t ignored =
            send(fd, (text + "\n").data(), text.size() + 1, MSG_NOSIGNAL);
        close(fd);
        continue;
      }
      auto client = std::make_unique<Client>();
      client->fd = fd, client->id = next_id_++, client->moved_ns = now_ns();
      client->subscriber = hub_.subscribe([news = client->news] { *news = true; });
      watch(fd, client->interest, client->id, EPOLL_CTL_ADD);
      clients_.emplace(client->id, std::move(client));
      client_count_ = clients_.size();
    }
  }

  void receive(Client& client) {
    std::array<char, kReadBytes> buffer;
    const ssize_t size = recv(client.fd, buffer.data(), buffer.size(), 0);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size < 0) {
      client.dead = true;
    } else if (size == 0) {
      client.ending = true;  // it may still read what it asked for
    } else if (!client.ending) {
      client.in.append(buffer.data(), static_cast<size_t>(size));
    }
  }

  void take_mail() {
    std::vector<std::pair<uint64_t, std::string>> letters;
    {
      const std::lock_guard lock(mailbox_->mutex);
      letters.swap(mailbox_->letters);
      woken_ = woken_ || std::exchange(mailbox_->changes, false);
    }
    for (auto& [id, text] : letters)
      if (const auto it = clients_.find(id); it != clients_.end()) {
        --it->second->pending;
        it->second->out += text;
      }
  }

  /// Requests, events and output of every client, in small portions.
  void serve_clients() {
    backlog_ = false;
    for (auto it = clients_.begin(); it != clients_.end();) {
      Client& client = *it->second;
      run_requests(client);
      add_events(client);
      flush(client);
      const bool done = client.ending && client.unread() == 0 && client.pending == 0 && !has_line(client);
      if (client.dead || done) {
        it = clients_.erase(it);
        client_count_ = clients_.size();
        continue;
      }
      update_interest(client);
      ++it;
    }
  }

  static bool has_line(const Client& client) { return client.in.find('\n') != std::string::npos; }

  void run_requests(Client& client) {
    size_t at = 0;
    for (int i = 0; !client.dead; ++i) {
      const size_t end = client.in.find('\n', at);
      if (end == std::string::npos) break;
      if (client.unread() >= options_.max_unread || client.pending >= kMaxPending) break;
      if (i == kFairShare) {
        backlog_ = true;
        break;
      }
      run_line(client, std::string_view(client.in).substr(at, end - at));
      at = end + 1;
    }
    client.in.erase(0, at);
    if (client.in.size() > options_.max_line && !has_line(client)) {
      client.out +=
          answer_text({Fault::usage, fmt::format("a request is longer than {} bytes", options_.max_line), {}},
                      nullptr) +
          "\n";
      client.in.clear();
      client.ending = true;
    }
  }

  void run_line(Client& client, std::string_view line) {
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
    Json request;
    std::string problem;
    if (line.size() > options_.max_line)
      problem = fmt::format("a request is longer than {} bytes", options_.max_line);
    if (!problem.empty() || !parse_request(line, request, problem)) {
      client.out += answer_text({Fault::usage, problem, {}}, nullptr) + "\n";
      return;
    }
    const auto id = request.find("request_id");
    const Json request_id = id == request.end() ? Json() : *id;
    ++client.pending;
    // An answer of this very moment goes straight out, the others by mail.
    const auto now = std::make_shared<std::string>();
    const auto direct = std::make_shared<std::atomic<bool>>(true);
    const std::thread::id here = std::this_thread::get_id();
    run_command(target_, request, client.subscriber.get(),
                [=, mailbox = mailbox_, client_id = client.id](const Answer& answer) {
                  std::string text = answer_text(answer, request_id) + "\n";
                  if (*direct && std::this_thread::get_id() == here)
                    *now = std::move(text);
                  else
                    mailbox->put(client_id, std::move(text));
                });
    *direct = false;
    woken_ = woken_ || line.find("observe") != std::string_view::npos;  // their first values go out at once
    if (now->empty()) return;
    --client.pending;
    client.out += *now;
  }

  void add_events(Client& client) {
    if (client.unread() >= kEventRoom || !client.news->exchange(false)) return;
    for (const std::string& event : client.subscriber->take(Subscriber::kMaxEvents + 1))
      client.out += event + "\n";
  }

  void flush(Client& client) {
    while (client.unread() > 0 && !client.dead) {
      const ssize_t size =
          send(client.fd, client.out.data() + client.sent, client.unread(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) {
        if (errno != EAGAIN) client.dead = true;
        break;
      }
      client.sent += static_cast<size_t>(size), client.moved_ns = now_ns();
    }
    if (client.unread() == 0) {
      client.out.clear(), client.sent = 0, client.moved_ns = now_ns();
    } else if (client.sent > options_.max_unread) {
      client.out.erase(0, client.sent), client.sent = 0;
    }
    if (client.unread() > 0 && now_ns() - client.moved_ns > options_.stuck_ns) {
      client.dead = true;
      ++cut_off_;
      log::warn("control: a client that read nothing for {:.0f} s was cut off, {} of its events were dropped",
                to_s(options_.stuck_ns), client.subscriber->dropped());
    }
  }

  void update_interest(Client& client) {
    const bool read_on = !client.ending && client.unread() < options_.max_unread &&
                         client.pending < kMaxPending && client.in.size() <= options_.max_line;
    const uint32_t wanted = (read_on ? EPOLLIN : 0u) | (client.unread() > 0 ? EPOLLOUT : 0u);
    if (wanted == client.interest) return;
    client.interest = wanted;
    watch(client.fd, wanted, client.id, EPOLL_CTL_MOD);
  }

  Target& target_;
  EventHub& hub_;
  const SocketOptions options_;
  const std::function<void()> pump_;
  int listen_ = -1, epoll_ = -1, spare_ = -1;
  ino_t inode_ = 0;
  std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>();
  std::map<uint64_t, std::unique_ptr<Client>> clients_;
  uint64_t next_id_ = 2;
  int64_t ticked_ns_ = 0;
  bool backlog_ = false, woken_ = true;
  std::atomic<bool> stopping_{false};
  std::atomic<size_t> client_count_{0};
  std::atomic<uint64_t> cut_off_{0};
};

SocketServer::SocketServer(Target& target, EventHub& hub, SocketOptions options, std::function<void()> pump)
    : loop_(std::make_unique<Loop>(target, hub, std::move(options), std::move(pump))),
      thread_([this] { loop_->run(); }) {}

SocketServer::~SocketServer() {
  loop_->stop();
  thread_.join();
}

void SocketServer::wake() noexcept {
  loop_->wake();
}
size_t SocketServer::clients() const {
  return loop_->clients();
}
uint64_t SocketServer::cut_off() const {
  return loop_->cut_off();
}

std::string default_socket_path() {
  if (const char* folder = std::getenv("RUNTIME_DIRECTORY"); folder && *folder)
    return std::string(folder).substr(0, std::strcspn(folder, ":")) + "/control.sock";
  if (const char* folder = std::getenv("XDG_RUNTIME_DIR"); folder && *folder)
    return fmt::format("{}/lensd/control.sock", folder);
  return fmt::format("/tmp/lensd-{}/control.sock", geteuid());
}

}  // namespace lensd

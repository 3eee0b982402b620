#include "core/control/socket/socket_server.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <optional>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/log.hpp"
#include "core/control/commands.hpp"
#include "core/control/socket/control_socket.hpp"
#include "core/control/socket/mailbox.hpp"
#include "core/control/socket/socket_client.hpp"

namespace lensd {
namespace {

/// Answers that may be on their way at a time for one client; further requests wait.
constexpr int kMaxPending = 16;
/// Requests of one client that are run before others get their turn.
constexpr int kFairShare = 32;
/// Unread bytes below which events are added.
constexpr size_t kEventRoom = 64 * 1024;

}  // namespace

class SocketServer::Loop {
 public:
  Loop(ControlTarget& target, EventHub& hub, SocketOptions options, std::function<void()> pump)
      : target_(target), hub_(hub), options_(std::move(options)), pump_(std::move(pump)) {
    if (!options_.path.empty()) listening_.emplace(options_.path);
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    watch(mailbox_->event(), EPOLLIN, kWakeId, EPOLL_CTL_ADD);
    if (listening_) watch(listening_->fd(), EPOLLIN, kListenId, EPOLL_CTL_ADD);
    spare_ = dup(mailbox_->event());
  }

  ~Loop() {
    clients_.clear();
    mailbox_->close_event();
    listening_.reset();
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
      mailbox_->answer_ring();
    } else if (event.data.u64 == kListenId) {
      accept_all();
    } else if (const auto it = clients_.find(event.data.u64); it != clients_.end()) {
      SocketClient& client = *it->second;
      if (event.events & (EPOLLERR | EPOLLHUP)) client.dead = (event.events & EPOLLERR) || client.in.empty();
      if (event.events & EPOLLIN) client.receive();
    }
  }

  void accept_all() {
    for (;;) {
      const int fd = accept4(listening_->fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
        // Out of descriptors: the spare one takes the connection off the queue, which would else spin here.
        close(spare_);
        const int waiting = accept4(listening_->fd(), nullptr, nullptr, SOCK_CLOEXEC);
        if (waiting >= 0) close(waiting);
        spare_ = dup(mailbox_->event());
        // The kernel says so before it looks whether anybody waits.
        if (waiting < 0) return;
        continue;
      }
      if (fd < 0) return;
      const bool full = clients_.size() >= static_cast<size_t>(options_.max_clients);
      if (full || !may_connect(fd)) {
        const std::string text = answer_text(
            {Status::busy, full ? "too many clients" : "this socket belongs to another user", {}}, nullptr);
        [[maybe_unused]] const ssize_t ignored =
            send(fd, (text + "\n").data(), text.size() + 1, MSG_NOSIGNAL);
        close(fd);
        continue;
      }
      auto client = std::make_unique<SocketClient>(fd, next_id_++);
      client->subscriber = hub_.subscribe([news = client->news] { *news = true; });
      watch(fd, client->interest, client->id, EPOLL_CTL_ADD);
      clients_.emplace(client->id, std::move(client));
      client_count_ = clients_.size();
    }
  }

  void take_mail() {
    Mailbox::Mail mail = mailbox_->take();
    woken_ = woken_ || mail.changes;
    for (const auto& [id, text] : mail.letters)
      if (const auto it = clients_.find(id); it != clients_.end()) {
        --it->second->pending;
        it->second->out += text;
      }
  }

  /// Requests, events and output of every client, in small portions.
  void serve_clients() {
    backlog_ = false;
    for (auto it = clients_.begin(); it != clients_.end();) {
      SocketClient& client = *it->second;
      run_requests(client);
      add_events(client);
      client.flush(options_.max_unread);
      cut_off_stuck(client);
      const bool done = client.ending && client.unread() == 0 && client.pending == 0 && !client.has_line();
      if (client.dead || done) {
        it = clients_.erase(it);
        client_count_ = clients_.size();
        continue;
      }
      update_interest(client);
      ++it;
    }
  }

  void run_requests(SocketClient& client) {
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
    if (client.in.size() > options_.max_line && !client.has_line()) {
      client.out +=
          answer_text(
              {Status::usage, fmt::format("a request is longer than {} bytes", options_.max_line), {}},
              nullptr) +
          "\n";
      client.in.clear();
      client.ending = true;
    }
  }

  void run_line(SocketClient& client, std::string_view line) {
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
    Json request;
    std::string problem;
    if (line.size() > options_.max_line)
      problem = fmt::format("a request is longer than {} bytes", options_.max_line);
    if (!problem.empty() || !parse_request(line, request, problem)) {
      client.out += answer_text({Status::usage, problem, {}}, nullptr) + "\n";
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

  void add_events(SocketClient& client) {
    if (client.unread() >= kEventRoom || !client.news->exchange(false)) return;
    for (const std::string& event : client.subscriber->take(Subscriber::kMaxEvents + 1))
      client.out += event + "\n";
  }

  void cut_off_stuck(SocketClient& client) {
    if (client.unread() == 0 || now_ns() - client.moved_ns <= options_.stuck_ns) return;
    client.dead = true;
    ++cut_off_;
    log::warn("control: a client that read nothing for {:.0f} s was cut off, {} of its events were dropped",
              to_s(options_.stuck_ns), client.subscriber->dropped());
  }

  void update_interest(SocketClient& client) {
    const bool read_on = !client.ending && client.unread() < options_.max_unread &&
                         client.pending < kMaxPending && client.in.size() <= options_.max_line;
    const uint32_t wanted = (read_on ? EPOLLIN : 0u) | (client.unread() > 0 ? EPOLLOUT : 0u);
    if (wanted == client.interest) return;
    client.interest = wanted;
    watch(client.fd, wanted, client.id, EPOLL_CTL_MOD);
  }

  ControlTarget& target_;
  EventHub& hub_;
  const SocketOptions options_;
  const std::function<void()> pump_;
  std::optional<ControlSocket> listening_;  // none without a path
  int epoll_ = -1, spare_ = -1;
  std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>();
  std::map<uint64_t, std::unique_ptr<SocketClient>> clients_;
  uint64_t next_id_ = 2;
  int64_t ticked_ns_ = 0;
  bool backlog_ = false, woken_ = true;
  std::atomic<bool> stopping_{false};
  std::atomic<size_t> client_count_{0};
  std::atomic<uint64_t> cut_off_{0};
};

SocketServer::SocketServer(ControlTarget& target, EventHub& hub, SocketOptions options,
                           std::function<void()> pump)
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

}  // namespace lensd

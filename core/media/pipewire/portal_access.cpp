#include "core/media/pipewire/portal_access.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/media/ffmpeg/interrupt.hpp"

namespace lensd {
namespace {

constexpr const char* kService = "org.freedesktop.portal.Desktop";
constexpr const char* kObject = "/org/freedesktop/portal/desktop";
constexpr const char* kScreenCast = "org.freedesktop.portal.ScreenCast";
constexpr const char* kCamera = "org.freedesktop.portal.Camera";
constexpr const char* kNoPortal =
    "install xdg-desktop-portal and the portal of your desktop, such as xdg-desktop-portal-gtk";

// Values of org.freedesktop.portal.ScreenCast.
constexpr uint32_t kMonitor = 1, kWindow = 2, kCursorEmbedded = 2, kPersistWhileRunning = 1;

constexpr uint64_t kCallUs = 5'000'000, kPollUs = 50'000;

struct Unref {
  void operator()(sd_bus_message* message) const { sd_bus_message_unref(message); }
  void operator()(sd_bus_slot* slot) const { sd_bus_slot_unref(slot); }
  void operator()(sd_bus* bus) const { sd_bus_flush_close_unref(bus); }
};
using Message = std::unique_ptr<sd_bus_message, Unref>;

/// Returns a name that no other request of this process has.
std::string new_token() {
  static std::atomic<unsigned> next{0};
  return fmt::format("lensd{}", next++);
}

/// Adds the entry `key` to a dictionary.
void append(sd_bus_message* message, const char* key, const std::string& text) {
  sd_bus_message_append(message, "{sv}", key, "s", text.c_str());
}
void append(sd_bus_message* message, const char* key, uint32_t number) {
  sd_bus_message_append(message, "{sv}", key, "u", number);
}

/// Calls `entry` with the key of each entry of a dictionary; `entry` returns false if it has not read the
/// value.
int read_dictionary(sd_bus_message* message, const std::function<bool(const std::string& key)>& entry) {
  int error = sd_bus_message_enter_container(message, 'a', "{sv}");
  while (error >= 0 && (error = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
    const char* key = nullptr;
    error = sd_bus_message_read(message, "s", &key);
    if (error >= 0 && !entry(key)) error = sd_bus_message_skip(message, "v");
    if (error >= 0) error = sd_bus_message_exit_container(message);
  }
  return error < 0 ? error : sd_bus_message_exit_container(message);
}

bool read_text(sd_bus_message* message, std::string& out) {
  const char* text = nullptr;
  if (sd_bus_message_read(message, "v", "s", &text) < 0) return false;
  out = text;
  return true;
}

/// Reads the node ID of the first stream in a list of type a(ua{sv}).
bool read_first_stream(sd_bus_message* message, std::optional<uint32_t>& node) {
  uint32_t id = 0;
  if (sd_bus_message_enter_container(message, 'v', "a(ua{sv})") < 0 ||
      sd_bus_message_enter_container(message, 'a', "(ua{sv})") < 0)
    return false;
  while (sd_bus_message_enter_container(message, 'r', "ua{sv}") > 0) {
    if (sd_bus_message_read(message, "u", &id) >= 0 && !node) node = id;
    if (sd_bus_message_skip(message, "a{sv}") < 0 || sd_bus_message_exit_container(message) < 0) return false;
  }
  return sd_bus_message_exit_container(message) >= 0 && sd_bus_message_exit_container(message) >= 0;
}

/// Handles the messages that arrived since the last request. Returns false if the connection has ended.
bool process_pending(sd_bus& bus) {
  int processed = 1;
  while (processed > 0) processed = sd_bus_process(&bus, nullptr);
  return processed == 0;
}

/// Opens the grant's connection to the session bus, unless it is open. Returns 0 or a negative error number.
int open_bus(PortalGrant& grant) {
  if (grant.bus && process_pending(*grant.bus)) return 0;
  grant.bus.reset(), grant.token.clear();
  sd_bus* opened = nullptr;
  const int error = sd_bus_open_user(&opened);
  if (error >= 0) grant.bus = std::shared_ptr<sd_bus>(opened, Unref());
  return std::min(error, 0);
}

}  // namespace

std::string portal_obstacle() {
  sd_bus* opened = nullptr;
  const int error = sd_bus_open_user(&opened);
  const std::unique_ptr<sd_bus, Unref> bus(opened);
  if (error < 0) return "there is no session bus";
  sd_bus_set_method_call_timeout(opened, kCallUs);
  uint32_t types = 0;
  const int read = sd_bus_get_property_trivial(opened, kService, kObject, kScreenCast, "AvailableSourceTypes",
                                               nullptr, 'u', &types);
  return read >= 0 && types != 0 ? "" : "there is no desktop portal that shares screens";
}

/// The portal's session, on the grant's connection to the session bus. Used by one thread.
struct PortalAccess::Session {
  using Fill = std::function<void(sd_bus_message*)>;
  /// Reads an entry of a response. Returns false if it has not read the value.
  using Entry = std::function<bool(sd_bus_message*, const std::string& key)>;

  /// Opens the session bus. Throws Error(unavailable) if that fails. If the portal has given access before,
  /// the failure is temporary: throws Error(bad_source) instead, so that the source connects again.
  Session(const std::string& where_, PortalGrant& grant_, const StopFlags& stop_, int64_t timeout_ns)
      : where(where_),
        grant(grant_),
        no_portal(grant.given ? ExitCode::bad_source : ExitCode::unavailable),
        stop(stop_),
        deadline_ns(now_ns() + timeout_ns) {
    if (const int error = open_bus(grant); error < 0)
      throw Error(no_portal, where, "there is no session bus: " + std::string(std::strerror(-error)),
                  kNoPortal);
    bus = grant.bus;
  }
  ~Session() {
    if (!path.empty()) close(path, "org.freedesktop.portal.Session");
  }

  void share_screen();
  void use_camera();
  void request(const char* interface, const char* method, const Fill& fill_arguments,
               const Fill& fill_options, const Entry& entry);
  void wait_for_response(const std::string& request_path);
  void close(const std::string& object, const char* interface) noexcept;
  void open_remote(const char* interface, const Fill& fill_arguments);
  Message method_call(const char* interface, const char* method) const;
  Message answer(Message call, const char* method);
  uint32_t number(const char* property) const;
  [[noreturn]] void fail(int error, const char* what) const;
  static int take_response(sd_bus_message* message, void* data, sd_bus_error*);

  const std::string where;
  PortalGrant& grant;
  const ExitCode no_portal;  ///< code of the Error if the portal or session bus does not answer
  const StopFlags& stop;
  const int64_t deadline_ns;
  std::shared_ptr<sd_bus> bus;
  std::string path;  ///< D-Bus path of the session; empty: there is none
  UniqueFd remote;
  std::optional<uint32_t> node;

  // Of the current request.
  const Entry* entry = nullptr;
  std::optional<uint32_t> response;  ///< 0: granted, 1: declined, 2: ended otherwise
};

void PortalAccess::Session::fail(int error, const char* what) const {
  throw Error(no_portal, where, fmt::format("the desktop portal: {}: {}", what, std::strerror(-error)),
              kNoPortal);
}

Message PortalAccess::Session::method_call(const char* interface, const char* method) const {
  sd_bus_message* call = nullptr;
  const int error = sd_bus_message_new_method_call(bus.get(), &call, kService, kObject, interface, method);
  if (error < 0) fail(error, method);
  return Message(call);
}

Message PortalAccess::Session::answer(Message call, const char* method) {
  sd_bus_error problem = SD_BUS_ERROR_NULL;
  sd_bus_message* reply = nullptr;
  const int error = sd_bus_call(bus.get(), call.get(), kCallUs, &problem, &reply);
  Message answered(reply);
  const std::string text = problem.message ? problem.message : "";
  sd_bus_error_free(&problem);
  if (error >= 0) return answered;
  throw Error(no_portal, where,
              text.empty() ? fmt::format("the desktop portal does not answer {}", method)
                           : fmt::format("the desktop portal refuses {}: {}", method, text),
              kNoPortal);
}

/// Returns the value of a property of the ScreenCast portal; 0: it has none.
uint32_t PortalAccess::Session::number(const char* property) const {
  uint32_t value = 0;
  const int error =
      sd_bus_get_property_trivial(bus.get(), kService, kObject, kScreenCast, property, nullptr, 'u', &value);
  return error < 0 ? 0 : value;
}

int PortalAccess::Session::take_response(sd_bus_message* message, void* data, sd_bus_error*) {
  Session& self = *static_cast<Session*>(data);
  uint32_t code = 2;
  if (sd_bus_message_read(message, "u", &code) < 0) code = 2;
  if (code == 0 &&
      read_dictionary(message, [&](const std::string& key) { return (*self.entry)(message, key); }) < 0)
    code = 2;
  self.response = code;
  return 0;
}

/// Sends a request and waits for its response, for which the user may have to answer a dialog. `read_entry`
/// reads the results.
void PortalAccess::Session::request(const char* interface, const char* method, const Fill& fill_arguments,
                                    const Fill& fill_options, const Entry& read_entry) {
  const std::string token = new_token();
  const char* unique = nullptr;
  sd_bus_get_unique_name(bus.get(), &unique);
  std::string sender = unique ? unique + 1 : "";  // without the colon
  std::ranges::replace(sender, '.', '_');
  // Subscribe first, because the response may precede the method's reply.
  const std::string request_path = fmt::format("{}/request/{}/{}", kObject, sender, token);
  entry = &read_entry, response.reset();
  sd_bus_slot* match = nullptr;
  const int error = sd_bus_match_signal(bus.get(), &match, kService, request_path.c_str(),
                                        "org.freedesktop.portal.Request", "Response", take_response, this);
  const std::unique_ptr<sd_bus_slot, Unref> subscription(match);
  if (error < 0) fail(error, method);
  Message call = method_call(interface, method);
  fill_arguments(call.get());
  sd_bus_message_open_container(call.get(), 'a', "{sv}");
  append(call.get(), "handle_token", token);
  fill_options(call.get());
  sd_bus_message_close_container(call.get());
  answer(std::move(call), method);
  wait_for_response(request_path);
}

void PortalAccess::Session::wait_for_response(const std::string& request_path) {
  while (!response) {
    const int processed = sd_bus_process(bus.get(), nullptr);
    if (processed < 0) fail(processed, "the session bus is gone");
    if (processed > 0) continue;
    if (stop.raised() || now_ns() > deadline_ns) {
      close(request_path, "org.freedesktop.portal.Request");  // closes the dialog
      if (stop.raised()) throw Error(ExitCode::bad_source, where, "opening was interrupted");
      throw Error(ExitCode::unavailable, where, "nobody answered the desktop's dialog");
    }
    sd_bus_wait(bus.get(), kPollUs);
  }
  if (*response == 1) throw Error(ExitCode::unavailable, where, "declined in the desktop's dialog");
  if (*response != 0) throw Error(no_portal, where, "the desktop portal ended the request");
}

/// Ends a request or a session. Does not wait for the answer.
void PortalAccess::Session::close(const std::string& object, const char* interface) noexcept {
  sd_bus_call_method_async(bus.get(), nullptr, kService, object.c_str(), interface, "Close", nullptr, nullptr,
                           "");
  sd_bus_flush(bus.get());
}

/// Requests the connection to PipeWire and stores it in `remote`.
void PortalAccess::Session::open_remote(const char* interface, const Fill& fill_arguments) {
  Message call = method_call(interface, "OpenPipeWireRemote");
  fill_arguments(call.get());
  sd_bus_message_append(call.get(), "a{sv}", 0);
  const Message reply = answer(std::move(call), "OpenPipeWireRemote");
  int borrowed = -1;
  const int error = sd_bus_message_read(reply.get(), "h", &borrowed);
  if (error < 0) fail(error, "OpenPipeWireRemote");
  remote = UniqueFd(fcntl(borrowed, F_DUPFD_CLOEXEC, 3));  // `borrowed` is closed with the message
  if (!remote) fail(-errno, "OpenPipeWireRemote");
}

void PortalAccess::Session::share_screen() {
  const Fill nothing = [](sd_bus_message*) {};
  const Fill this_session = [this](sd_bus_message* m) { sd_bus_message_append(m, "o", path.c_str()); };
  request(
      kScreenCast, "CreateSession", nothing,
      [](sd_bus_message* m) { append(m, "session_handle_token", new_token()); },
      [this](sd_bus_message* m, const std::string& key) {
        return key == "session_handle" && read_text(m, path);
      });
  if (path.empty()) throw Error(no_portal, where, "the desktop portal opened no session");

  const uint32_t types = number("AvailableSourceTypes"), cursors = number("AvailableCursorModes");
  request(
      kScreenCast, "SelectSources", this_session,
      [&](sd_bus_message* m) {
        append(m, "types", types ? types & (kMonitor | kWindow) : kMonitor);
        if (cursors & kCursorEmbedded) append(m, "cursor_mode", kCursorEmbedded);
        append(m, "persist_mode", kPersistWhileRunning);
        if (!grant.token.empty()) append(m, "restore_token", grant.token);
      },
      [](sd_bus_message*, const std::string&) { return false; });
  request(
      kScreenCast, "Start", [&](sd_bus_message* m) { this_session(m), sd_bus_message_append(m, "s", ""); },
      nothing,
      [&](sd_bus_message* m, const std::string& key) {
        if (key == "streams") return read_first_stream(m, node);
        return key == "restore_token" && read_text(m, grant.token);
      });
  if (!node) throw Error(ExitCode::unavailable, where, "the desktop portal shared no screen");
  open_remote(kScreenCast, this_session);
}

void PortalAccess::Session::use_camera() {
  const Fill nothing = [](sd_bus_message*) {};
  request(kCamera, "AccessCamera", nothing, nothing,
          [](sd_bus_message*, const std::string&) { return false; });
  open_remote(kCamera, nothing);
}

PortalAccess::PortalAccess(PortalTarget target, const std::string& where, PortalGrant& grant,
                           const StopFlags& stop, int64_t timeout_ns)
    : session_(std::make_unique<Session>(where, grant, stop, timeout_ns)) {
  if (target == PortalTarget::screen)
    session_->share_screen();
  else
    session_->use_camera();
  grant.given = true;
}

PortalAccess::~PortalAccess() = default;

UniqueFd PortalAccess::take_remote() noexcept {
  return std::move(session_->remote);
}

std::optional<uint32_t> PortalAccess::node() const noexcept {
  return session_->node;
}

}  // namespace lensd

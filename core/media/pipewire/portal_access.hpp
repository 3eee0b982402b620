// Requests access to a screen, a window or a camera from the desktop portal. The user answers in a dialog of
// the desktop.
//
//   request ──D-Bus──▶ xdg-desktop-portal ──▶ dialog ──▶ response ──▶ connection to PipeWire
//
// The connection gives access to the user's choice only.
//
// This is the only way to capture screens in Wayland sessions, and to use cameras in sandboxes. Source:
// https://flatpak.github.io/xdg-desktop-portal, org.freedesktop.portal.ScreenCast and .Camera.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/unique_fd.hpp"
#include "core/media/portal.hpp"

namespace lensd {

struct StopFlags;

/// Access that the user has given. The portal ends the stream when this object is destroyed.
class PortalAccess {
 public:
  /// Waits for the user's answer. Throws Error(unavailable) if the user declines or does not answer within
  /// `timeout_ns`, or if there is no portal. Throws Error(bad_source) if `stop` is raised, or if the portal
  /// has given access before and does not answer now. Reads and updates `grant`, which must outlive this
  /// object.
  PortalAccess(PortalTarget target, const std::string& where, PortalGrant& grant, const StopFlags& stop,
               int64_t timeout_ns);
  ~PortalAccess();
  PortalAccess(const PortalAccess&) = delete;
  PortalAccess& operator=(const PortalAccess&) = delete;

  /// Returns the connection to PipeWire. Call once.
  UniqueFd take_remote() noexcept;
  /// Returns the ID of the screen's node; nullopt for a camera, because the session manager selects it.
  std::optional<uint32_t> node() const noexcept;

 private:
  struct Session;
  std::unique_ptr<Session> session_;
};

}  // namespace lensd

// Sources that the user selects in a dialog of the desktop (xdg-desktop-portal): portal: and portal:camera.
#pragma once

#include <memory>
#include <optional>
#include <string>

struct sd_bus;

namespace lensd {

enum class PortalTarget { screen, camera };

/// Returns the target of "portal:" (a screen or a window) and "portal:camera"; nullopt for other sources.
std::optional<PortalTarget> portal_target(const std::string& url);

/// Returns why the portal cannot share a screen, or an empty string if it can. May start the portal's
/// service.
std::string portal_obstacle();

/// State that a source keeps between connections, so that the portal asks the user only once. Use it on
/// one thread at a time.
struct PortalGrant {
  bool given = false;  ///< the portal has given access before
  std::string token;   ///< the portal's restore token; empty: none
  /// The connection to the session bus; null: none yet. The portal accepts the token only on the connection
  /// for which it was made, and deletes it when that connection ends.
  std::shared_ptr<sd_bus> bus;
};

}  // namespace lensd

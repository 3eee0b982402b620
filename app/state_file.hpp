// Files in which lensd stores its state between runs: state.toml, last-graph.toml, cameras.toml.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "core/base/unique_fd.hpp"
#include "core/config/toml.hpp"

namespace lensd {

/// Reads a state file. Returns nullopt if there is no file. If the file is damaged or larger than
/// `most_bytes`, calls keep_damaged() and returns nullopt. Throws Error(runtime_failure) if the file cannot
/// be read.
std::optional<toml::table> read_state_file(const std::string& path, size_t most_bytes);

/// Copies an unusable file, which the caller will replace, to PATH.broken, unless it is larger than 16 MiB.
/// Logs `problem`, the whole message: as a warning, or as information if PATH.broken already has the same
/// content.
void keep_damaged(const std::string& path, const std::string& problem);

/// Locks a state file while it is read and replaced, so that two programs do not lose each other's changes.
class StateLock {
 public:
  /// Waits up to 100 ms. Continues without the lock after that, or if PATH.lock cannot be created.
  explicit StateLock(const std::string& path);

 private:
  UniqueFd fd_;
};

}  // namespace lensd

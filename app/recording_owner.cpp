#include "app/recording_owner.hpp"

#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <optional>

#include "app/cli.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/whole_file.hpp"
#include "core/control/socket/control_socket.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;

constexpr size_t kIdBytes = 16;

/// Returns the FNV-1a hash. The texts are the user's own, so the hash need not resist an attacker.
uint64_t hash(std::string_view text, uint64_t seed) {
  uint64_t sum = 14695981039346656037u ^ seed;
  for (const char c : text) sum = (sum ^ static_cast<uint8_t>(c)) * 1099511628211u;
  return sum;
}

std::string random_id() {
  std::array<uint8_t, kIdBytes> bytes;
  if (getentropy(bytes.data(), bytes.size()) != 0)
    throw Error(ExitCode::runtime_failure, "recording", "cannot get random numbers from the system");
  std::string id;
  for (const uint8_t byte : bytes) id += fmt::format("{:02x}", byte);
  return id;
}

std::optional<std::string> read_id(const std::string& path) {
  const auto text = read_whole_file(path, 1024, FileKind::regular);
  if (!text || text->size() != 2 * kIdBytes + 1 ||
      text->find_first_not_of("0123456789abcdef") + 1 != text->size())
    return std::nullopt;
  return text->substr(0, 2 * kIdBytes);
}

/// Returns the id in the file at `path`. Creates the file if it is missing. Processes that start together get
/// the same id, because link() does not replace a file. Throws Error if the file is invalid or cannot be
/// created.
std::string stored_id(const std::string& path) {
  if (const auto id = read_id(path)) return *id;
  const std::string own = fmt::format("{}.{}", path, random_id());
  write_whole_file(own, random_id() + "\n", Flush::to_disk);
  [[maybe_unused]] const int exists = link(own.c_str(), path.c_str());
  unlink(own.c_str());
  if (const auto id = read_id(path)) return *id;
  throw Error(ExitCode::runtime_failure, path, "is not an id of lensd", "delete it");
}

/// Returns a suffix that differs between machines that share the state folder. It contains no part of the
/// machine's id, which must not be published. It is empty if the machine has no id, as in most containers.
std::string machine_suffix(const std::string& id) {
  try {
    const auto machine = read_whole_file("/etc/machine-id", 1024, FileKind::regular);
    return machine && machine->size() > 1 ? fmt::format("-{:016x}", hash(*machine + id, 0)) : "";
  } catch (const Error&) {
    return "";
  }
}

std::string absolute(const std::string& path) {
  std::error_code ignored;
  const fs::path resolved = fs::weakly_canonical(fs::absolute(path, ignored), ignored);
  return resolved.empty() ? path : resolved.string();
}

}  // namespace

std::string recording_owner_key(const CommandLine& line) {
  const std::string& socket = line.config.control_socket;
  std::string key = line.mode == RunMode::serve ? "serve" : "run";
  if (line.mode == RunMode::serve && socket != "off") {
    key += "\n" + absolute(socket.empty() ? default_socket_path() : socket);
  } else {
    for (const std::string& file : line.layers.files) key += "\n" + absolute(file);
    key += "\n" + line.config.source_url;
  }
  return key + "\n" + absolute(line.config.record_folder) + "\n" + line.config.record_name + "\n" +
         (line.record.empty() ? "" : absolute(line.record));
}

std::string recording_owner(const std::string& state, const std::string& key) {
  try {
    if (state.empty()) return random_id();
    const std::string id =
        stored_id(fmt::format("{}/ring-owners/{:016x}{:016x}", state, hash(key, 0), hash(key, 1)));
    return id + machine_suffix(id);
  } catch (const Error& error) {
    log::warn("{}; the recording ring deletes only files of this run", error.what());
    return random_id();
  }
}

}  // namespace lensd

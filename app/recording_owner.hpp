// The owner of a recording ring: an id that is different for each configuration, user and machine.
//
//   key ──▶ file in the state folder with a random id ──▶ id + hash of the machine's id ──▶ RecordSettings
#pragma once

#include <string>

namespace lensd {

struct CommandLine;

/// Returns the text that identifies a configuration. It contains --record, and the folder and the name of the
/// recordings. For lensd serve it also contains the control socket. For other runs, and without a socket, it
/// contains the configuration files and the source instead. All paths except the source are absolute.
std::string recording_owner_key(const CommandLine& line);

/// Returns the id of a configuration. It is the same for the same `key` in every run with this `state` folder
/// on this machine. Creates the folder and the file of the id. If that is impossible, or `state` is empty,
/// returns a new random id: the ring then deletes only what this run wrote.
std::string recording_owner(const std::string& state, const std::string& key);

}  // namespace lensd

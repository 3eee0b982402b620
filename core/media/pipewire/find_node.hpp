// Finds the node that a source names. Thread-safe.
#pragma once

#include <string>

#include "core/media/pipewire_nodes.hpp"

namespace lensd {

/// Returns the node whose name, serial number or description is `wanted`; the first camera if it is empty.
/// Throws Error(bad_source) with the place `where` if there is none or PipeWire is not running.
PipewireNode find_node(const std::string& wanted, const std::string& where);

}  // namespace lensd

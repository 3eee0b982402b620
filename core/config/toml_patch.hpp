// A changed graph put into the text it came from, so that comments, order and layout stay.
//
//   old text ── toml++: where every value stands ──▶ pieces: preamble, tables with the comments above them,
//   epilogue ── values replaced, lines added, nodes moved, added and removed ──▶ new text
//
// The result is a proposal: core/config/save.cpp parses it back before anything is written.
#pragma once

#include <optional>
#include <string>

#include "core/graph/graph.hpp"

namespace lensd {

/// `text` with `graph` in place of `old`, the graph that parse_config() reads from it (both resolved).
/// Empty where the text is written in a way that cannot be edited in place, such as node = [{…}].
std::optional<std::string> patched_toml(const std::string& text, const GraphDesc& old, const GraphDesc& graph,
                                        const Registry& registry);

}  // namespace lensd

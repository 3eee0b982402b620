// Edits the TOML text of a graph in place and keeps comments, order and layout.
//
//   old text ── toml++: position of every value ──▶ pieces: preamble, tables with the comments above them,
//   epilogue ── replace values; add lines; move, add and remove nodes ──▶ new text
//
// core/config/save.cpp parses the result back before it writes a file.
#pragma once

#include <optional>
#include <string>

#include "core/graph/graph.hpp"

namespace lensd {

/// Returns `text`, edited to contain `graph` instead of `old`. `old` is the graph that parse_config() reads
/// from `text`; both graphs are resolved. Returns nullopt if the text cannot be edited in place, for example
/// if it contains node = [{…}].
std::optional<std::string> patched_toml(const std::string& text, const GraphDesc& old, const GraphDesc& graph,
                                        const Registry& registry);

}  // namespace lensd

// Lists the registered filters as text for `lensd filters`, as docs/filters.md, and as JSON for programs.
//
// Generated from the schemas and from the layout that each filter has with its default parameters.
#pragma once

#include <span>
#include <string>

#include "core/graph/filter.hpp"

namespace lensd {

/// Returns one line per filter: name and doc.
std::string filters_list(std::span<const FilterEntry* const> filters);

/// Returns a filter's description and parameters for the terminal.
std::string filter_text(const FilterEntry& filter);

/// Returns the text of docs/filters.md.
std::string filters_markdown(std::span<const FilterEntry* const> filters);

/// Returns the JSON array that docs/guides/graphs.md describes. Keys are never removed or renamed.
std::string filters_json(std::span<const FilterEntry* const> filters);

/// Returns a message such as "there is no filter 'medain', did you mean median?". Lists all filters if none
/// has a similar name.
std::string unknown_filter(const std::string& name, const Registry& registry);

}  // namespace lensd

// What the registered filters are, as text: for `lensd filters`, docs/filters.md and programs.
//
// All of it follows from the schemas and from configuring each filter with its defaults; nothing is written
// twice.
#pragma once

#include <span>
#include <string>

#include "core/graph/filter.hpp"

namespace lensd {

/// A line for each filter: name and doc.
std::string filters_list(std::span<const FilterEntry* const> filters);

/// One filter with its parameters, for a terminal.
std::string filter_text(const FilterEntry& filter);

/// docs/filters.md: a table of contents and a section for each filter.
std::string filters_markdown(std::span<const FilterEntry* const> filters);

/// A JSON array with an object for each filter. docs/guides/graphs.md describes its shape; keys are only
/// added to it.
std::string filters_json(std::span<const FilterEntry* const> filters);

}  // namespace lensd

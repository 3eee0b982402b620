// Every key of the plain tables, declared once: range, default, unit and doc.
//
//   config_tables() ──▶ TOML reader, LENSD_… variables, JSON Schema, docs
//
// [graph] and [[node]] are not here: they follow from the filters' own declarations. Immutable; may be read
// from any thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/param.hpp"

namespace lensd {

struct Config;

struct ConfigKey {
  ParamSpec spec;  ///< get and put work on a Config; get gives the default where the key was not given
  std::function<void(Config& to, const Config& from)> take;  ///< copies the key's value if it was given
};

struct ConfigTable {
  std::string name, doc;
  std::vector<ConfigKey> keys;

  /// Null when there is no such key.
  const ConfigKey* find(std::string_view key) const noexcept;
};

/// The tables in the order of the documentation.
const std::vector<ConfigTable>& config_tables();

/// Null when there is no such table.
const ConfigTable* find_config_table(std::string_view name);

}  // namespace lensd

// Declares all configuration keys, each in one place, with name, range, unit and doc. Exceptions are "output"
// in [graph], and the keys of [[node]] and [source.controls].
//
//   config_tables() ──▶ TOML reader, LENSD_… variables, command line, JSON Schema, docs
//
// The filters' schemas declare the parameters in [[node]]. Immutable; thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/param.hpp"

namespace lensd {

/// A table whose parameters are configuration keys. Their get and put access a Config; put also adds the key
/// to Config::given.
using ConfigTable = FilterSchema;

/// Returns the tables in the order of the documentation.
const std::vector<ConfigTable>& config_tables();

/// Returns the table `name`, or null if there is no such table.
const ConfigTable* find_config_table(std::string_view name);

/// Returns the key's full name, for example "http.port".
std::string key_name(const ConfigTable& table, const ParamSpec& key);
/// Returns true if the value of the key with this full name may be or contain a secret. Messages do not show
/// such values.
bool is_secret(std::string_view key_name);
/// Returns the key with a full name such as "http.port". Throws std::logic_error if there is no such key.
const ParamSpec& config_key(std::string_view name);

}  // namespace lensd

#include "core/graph/catalogue.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "core/base/limits.hpp"
#include "core/base/text/suggest.hpp"
#include "core/base/text/text.hpp"
#include "core/graph/json.hpp"

namespace lensd {
namespace {

using OrderedJson = nlohmann::ordered_json;

const char* type_name(ParamType type) {
  constexpr const char* kNames[] = {"boolean", "integer", "real", "choice", "text", "matrix"};
  return kNames[static_cast<size_t>(type)];
}

const char* format_key(PixelFormat format) {
  constexpr const char* kKeys[] = {"gray8", "rgba8", "gray16", "rgba16"};
  return kKeys[static_cast<size_t>(format)];
}

/// Properties of a filter that come from its Layout, not from its schema.
struct Traits {
  std::vector<std::pair<PixelFormat, PixelFormat>> formats;  ///< input and output format pairs
  bool temporal = false;                                     ///< keeps state from frame to frame
};

Traits traits_of(const FilterEntry& entry) {
  Traits traits;
  for (const PixelFormat format : accepted_formats(entry)) {
    const std::vector<ImageFormat> inputs(static_cast<size_t>(entry.min_inputs),
                                          ImageFormat{format, {64, 48}});
    const Layout layout =
        entry.make()->configure({.images = inputs, .picture = nullptr, .backend = Backend::cpu});
    traits.formats.emplace_back(format, layout.output.format);
    traits.temporal = traits.temporal || layout.state_bytes > 0;
  }
  return traits;
}

std::string inputs_text(const FilterEntry& entry) {
  if (entry.min_inputs != entry.max_inputs)
    return fmt::format("{} or {}", entry.min_inputs, entry.max_inputs);
  return fmt::format("{}", entry.min_inputs);
}

std::string formats_text(const FilterEntry& entry, const Traits& traits) {
  std::vector<std::string> parts;
  for (const auto& [in, out] : traits.formats) parts.push_back(fmt::format("{} → {}", name(in), name(out)));
  std::string text = fmt::format("{}", fmt::join(parts, ", "));
  if (entry.accepts != Accepts::any)
    text += "; other inputs are converted";
  else if (entry.max_inputs > 1)
    text += "; a grey input beside one in colour is converted";
  return text;
}

std::string default_text(const ParamSpec& p) {
  const std::string text = to_string(p.default_value);
  return text.empty() ? "empty" : text;
}

/// Escapes `|`, which would end a table cell.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string allowed_cell(const ParamSpec& p) {
  switch (p.type) {
    case ParamType::integer:
      return fmt::format("{} … {}{}", p.min, p.max, p.widget == Widget::odd_slider ? ", odd" : "");
    case ParamType::real:
      return fmt::format("{} … {}, real", p.min, p.max);
    case ParamType::choice:
      return fmt::format("`{}`", fmt::join(p.choices, "` `"));
    case ParamType::matrix:
      return fmt::format("rows of numbers from -{0} to {0}, odd height and width up to {1}×{1}",
                         kMaxMatrixValue, p.max);
    default:
      return p.allowed();
  }
}

std::string change_cell(const ParamSpec& p) {
  if (p.change == ParamChange::reconfigure) return "a new plan";
  return p.plan_if.empty() ? "nothing" : fmt::format("nothing; with `{}` a new plan", p.plan_if);
}

std::string section(const FilterEntry& entry) {
  const FilterSchema& schema = entry.schema();
  const Traits traits = traits_of(entry);
  std::string text = fmt::format("\n## {}\n\n{}.\n\n", schema.name, capitalised(schema.doc));
  text += fmt::format("Inputs: {}. Formats: {}.", inputs_text(entry), formats_text(entry, traits));
  if (entry.needs_tracks) text += " Reads the tracks of the nearest `klt` node before it.";
  if (traits.temporal) text += " Remembers earlier frames until a seek or a change of format.";
  if (schema.params.empty()) return text + "\n\nNo parameters.\n";
  text +=
      "\n\n| parameter | | default | allowed | unit | a change forces |\n| --- | --- | --- | --- | --- | --- "
      "|\n";
  for (const ParamSpec& p : schema.params)
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", p.name, cell(p.doc), cell(default_text(p)),
                        cell(allowed_cell(p)), cell(p.unit), change_cell(p));
  return text;
}

OrderedJson param_json(const ParamSpec& p) {
  OrderedJson json{{"name", p.name},
                   {"type", type_name(p.type)},
                   {"doc", p.doc},
                   {"default", OrderedJson(to_json(p.default_value))}};
  if (p.type == ParamType::integer)
    json["min"] = static_cast<int64_t>(p.min), json["max"] = static_cast<int64_t>(p.max);
  if (p.type == ParamType::real) json["min"] = p.min, json["max"] = p.max;
  if (p.type == ParamType::matrix) json["max_side"] = static_cast<int64_t>(p.max);
  if (p.type == ParamType::choice) json["choices"] = p.choices;
  if (p.widget == Widget::odd_slider) json["odd"] = true;
  if (p.widget == Widget::log_slider) json["log"] = true;
  if (!p.unit.empty()) json["unit"] = p.unit;
  if (!p.zero.empty()) json["zero"] = p.zero;
  json["change"] = p.change == ParamChange::live ? "live" : "reconfigure";
  if (!p.plan_if.empty()) json["plan_if"] = p.plan_if;
  return json;
}

OrderedJson filter_json(const FilterEntry& entry) {
  const FilterSchema& schema = entry.schema();
  const Traits traits = traits_of(entry);
  OrderedJson json{{"name", schema.name},
                   {"doc", schema.doc},
                   {"min_inputs", entry.min_inputs},
                   {"max_inputs", entry.max_inputs}};
  json["formats"] = OrderedJson::array();
  for (const auto& [in, out] : traits.formats)
    json["formats"].push_back({{"input", format_key(in)}, {"output", format_key(out)}});
  json["temporal"] = traits.temporal;
  json["needs_tracks"] = entry.needs_tracks;
  json["parameters"] = OrderedJson::array();
  for (const ParamSpec& p : schema.params) json["parameters"].push_back(param_json(p));
  return json;
}

}  // namespace

std::string filters_list(std::span<const FilterEntry* const> filters) {
  std::string text;
  for (const FilterEntry* entry : filters)
    text += fmt::format("{:<18} {}\n", entry->schema().name, entry->schema().doc);
  return text;
}

std::string filter_text(const FilterEntry& filter) {
  const FilterSchema& schema = filter.schema();
  std::string text = fmt::format("{}: {}\n", schema.name, schema.doc);
  text += fmt::format("  inputs: {}; formats: {}\n", inputs_text(filter),
                      formats_text(filter, traits_of(filter)));
  for (const ParamSpec& p : schema.params)
    text += fmt::format("  {:<16} {} (default {})\n  {:<16} {}\n", p.name, p.doc, default_text(p), "",
                        p.allowed());
  return text;
}

std::string filters_markdown(std::span<const FilterEntry* const> filters) {
  std::string text =
      "# Filters\n\n"
      "Generated by `lensd filters --markdown` from the filters' own declarations; not written by hand.\n\n"
      "Pictures are Gray8, RGBA8, Gray16 or RGBA16; alpha passes through. The column \"a change forces\" "
      "says "
      "when a new\nvalue takes effect. \"Nothing\": with the next frame. \"A new plan\": lensd first lays "
      "out "
      "the graph and its memory again;\nuntil that is done, the graph runs with the old value. "
      "What each filter computes exactly, with its border rule and its\nsource, is described at the top of "
      "`kernels/NAME/NAME.hpp`.\n\n"
      "| filter | what it does |\n| --- | --- |\n";
  for (const FilterEntry* entry : filters)
    text += fmt::format("| [{0}](#{0}) | {1} |\n", entry->schema().name, cell(entry->schema().doc));
  for (const FilterEntry* entry : filters) text += section(*entry);
  return text;
}

std::string filters_json(std::span<const FilterEntry* const> filters) {
  OrderedJson all = OrderedJson::array();
  for (const FilterEntry* entry : filters) all.push_back(filter_json(*entry));
  return all.dump(2) + "\n";
}

std::string unknown_filter(const std::string& name, const Registry& registry) {
  std::vector<std::string> known;
  for (const FilterEntry& filter : registry.filters) known.push_back(filter.schema().name);
  return fmt::format("there is no filter '{}', {}", shortened(name, kShownName),
                     did_you_mean(name, known, fmt::format("there are {}", fmt::join(known, ", "))));
}

}  // namespace lensd

#include "core/config/toml_patch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/config/toml.hpp"
#include "core/config/toml_positions.hpp"
#include "core/config/toml_text.hpp"

namespace lensd {
namespace {

/// Byte offsets of a table. `begin`: the comments above its header. `content_end`: after the line of its last
/// key. `end`: where the next table's comments or the epilogue begin.
struct Block {
  size_t begin = 0, header = 0, content_end = 0, end = 0;
  const toml::table* table = nullptr;
  bool is_node = false, is_graph = false;
};

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

/// Returns where the next table's comments start. [begin, end) is the text between a table's last key and the
/// next header. The comments start at the first blank line, because comments directly below a key belong to
/// that key. Returns `begin` if there is no blank line.
size_t split_between(const std::string& text, size_t begin, size_t end) {
  for (size_t line = begin; line < end;) {
    const size_t next = std::min(text.find('\n', line), end - 1) + 1;
    if (is_blank(std::string_view(text).substr(line, next - line))) return line;
    line = next;
  }
  return begin;
}

/// Returns the start of the first table's comments. Comments above the last blank line belong to the file.
size_t split_preamble(const std::string& text, size_t end) {
  size_t found = 0;
  for (size_t line = 0; line < end;) {
    const size_t next = std::min(text.find('\n', line), end - 1) + 1;
    if (is_blank(std::string_view(text).substr(line, next - line))) found = next;
    line = next;
  }
  return found;
}

class Patch {
 public:
  Patch(const std::string& text, const GraphDesc& old, const GraphDesc& graph, const Registry& registry)
      : text_(text), old_(old), graph_(graph), registry_(registry), at_(text) {}

  std::optional<std::string> result() {
    const toml::parse_result parsed = parse_toml(text_, "file");
    if (!parsed || !find_blocks(parsed.table())) return std::nullopt;
    std::string out = text_.substr(0, blocks_.empty() ? preamble_end_ : blocks_.front().begin);
    if (needs_output(graph_) && !output_region_) add_graph_table(out);
    size_t written = 0;  // number of nodes written
    const auto last_node =
        std::find_if(blocks_.rbegin(), blocks_.rend(), [](const Block& b) { return b.is_node; });
    for (const Block& block : blocks_) {
      if (!block.is_node) {
        out += with_edits(block, output_edit(block));
        continue;
      }
      // The n-th node replaces the n-th node table. Additional nodes follow the last node table.
      const bool last = &block == &*last_node;
      if (written < graph_.nodes.size()) add_node(out, written++);
      while (last && written < graph_.nodes.size()) add_node(out, written++);
    }
    while (written < graph_.nodes.size()) add_node(out, written++);
    return failed_ ? std::nullopt : std::optional(out + text_.substr(epilogue_));
  }

 private:
  struct Edit {
    TomlSpan span;
    std::string text;
  };

  bool find_blocks(const toml::table& root) {
    for (const auto& [key, value] : root) {
      if (const toml::array* list = value.as_array(); list && key.str() == "node") {
        for (const toml::node& item : *list)
          if (!add_block(item.as_table(), "[[")) return false;
      } else if (const toml::table* table = value.as_table()) {
        if (!add_block(table, "[")) return false;
        if (key.str() == "graph") find_output(*table);
      } else {
        return false;  // a key outside any table
      }
    }
    std::ranges::sort(blocks_, {}, &Block::header);
    size_t nodes = 0;
    for (size_t i = 0; i < blocks_.size(); ++i) {
      Block& block = blocks_[i];
      block.begin = i == 0 ? split_preamble(text_, block.header)
                           : split_between(text_, blocks_[i - 1].content_end, block.header);
      if (i > 0) blocks_[i - 1].end = block.begin;
      if (block.is_node) places_[nodes < old_.nodes.size() ? old_.nodes[nodes].id : ""] = i, ++nodes;
    }
    preamble_end_ = text_.size(), epilogue_ = text_.size();
    if (!blocks_.empty()) {
      epilogue_ = split_between(text_, blocks_.back().content_end, text_.size());
      if (epilogue_ == blocks_.back().content_end) epilogue_ = text_.size();
      blocks_.back().end = epilogue_;
    }
    return nodes == old_.nodes.size();
  }

  bool add_block(const toml::table* table, std::string_view opening) {
    if (!table) return false;
    Block block;
    block.table = table, block.is_node = opening == "[[";
    block.header = at_.byte(table->source().begin);
    // Inline tables and dotted keys have no header.
    if (text_.compare(block.header, opening.size(), opening) != 0) return false;
    size_t last = block.header;
    for (const auto& [key, value] : *table) last = std::max(last, at_.byte(value.source().end));
    block.content_end = at_.line_end(last);
    blocks_.push_back(block);
    return true;
  }

  void find_output(const toml::table& table) {
    blocks_.back().is_graph = true;
    if (const toml::node* output = table.get("output")) output_region_ = at_.span(output->source());
  }

  void add_graph_table(std::string& out) {
    const std::string line = fmt::format("output = {}\n", toml_quoted(graph_.output));
    for (const Block& block : blocks_)
      if (block.is_graph) {
        graph_line_ = line;
        return;
      }
    separate(out);
    out += "[graph]\n" + line;
    // Separate [graph] from the first table, whose comments may start without a blank line.
    if (!blocks_.empty() && text_[blocks_.front().begin] != '\n') out += '\n';
  }

  std::vector<Edit> output_edit(const Block& block) const {
    if (!block.is_graph) return {};
    if (!output_region_) {
      if (graph_line_.empty()) return {};
      return {{{block.content_end, block.content_end}, graph_line_}};
    }
    if (graph_.output == old_.output) return {};
    return {{*output_region_, toml_quoted(graph_.output)}};
  }

  /// Makes `out` end with a blank line, unless it is empty.
  static void separate(std::string& out) {
    if (out.empty()) return;
    if (out.back() != '\n') out += '\n';
    if (out.size() < 2 || out[out.size() - 2] != '\n') out += '\n';
  }

  const std::string& above(size_t n) const {
    static const std::string source = kSourceNode;
    return n == 0 ? source : graph_.nodes[n - 1].id;
  }

  void add_node(std::string& out, size_t n) {
    const NodeDesc& node = graph_.nodes[n];
    const FilterSchema& schema = registry_.find(node.filter)->schema();
    const auto place = places_.find(node.id);
    const NodeDesc* before = old_.find(node.id);
    std::string piece;
    if (place == places_.end() || !before || before->filter != node.filter)
      piece = toml_node(node, above(n), schema);
    else
      piece = with_edits(blocks_[place->second], node_edits(blocks_[place->second], *before, n, schema));
    const bool same_place = n < old_.nodes.size() && old_.nodes[n].id == node.id;
    if (!same_place) {
      piece.erase(0, piece.find_first_not_of('\n'));
      separate(out);
    } else if (!out.empty() && out.back() != '\n') {
      out += '\n';
    }
    out += piece;
  }

  /// Returns the edits that turn the table of `before` into the n-th node.
  std::vector<Edit> node_edits(const Block& block, const NodeDesc& before, size_t n,
                               const FilterSchema& schema) {
    const NodeDesc& node = graph_.nodes[n];
    std::vector<Edit> edits;
    std::string lines;  // lines to add below the last key
    const auto set = [&](const char* key, const std::string& value) {
      if (const toml::node* given = block.table->get(key))
        edits.push_back({at_.span(given->source()), value});
      else
        lines += fmt::format("{}{} = {}\n", indent(block), key, value);
    };
    if (!block.table->contains("id") && node.id != node.filter) set("id", toml_quoted(node.id));
    if (node.enabled != before.enabled) set("enabled", node.enabled ? "true" : "false");
    edit_inputs(block, before, n, set);
    for (const ParamSpec& spec : schema.params) {
      const ParamValue value = value_of(node, spec);
      if (value != value_of(before, spec)) set(spec.name.c_str(), toml_value(value));
    }
    if (!lines.empty()) {
      const bool unfinished = block.content_end > 0 && text_[block.content_end - 1] != '\n';
      edits.push_back({{block.content_end, block.content_end}, (unfinished ? "\n" : "") + lines});
    }
    return edits;
  }

  template <class Set>
  void edit_inputs(const Block& block, const NodeDesc& before, size_t n, const Set& set) {
    const NodeDesc& node = graph_.nodes[n];
    const bool single = block.table->contains("input"), several = block.table->contains("inputs");
    if (single && several) failed_ = true;  // ambiguous: the node has both keys
    if (single || several) {
      if (node.inputs != before.inputs) set(single ? "input" : "inputs", toml_inputs(node.inputs));
    } else if (node.inputs != std::vector<std::string>{above(n)}) {
      set(node.inputs.size() == 1 ? "input" : "inputs", toml_inputs(node.inputs));
    }
  }

  /// Returns the indentation of the table's keys.
  std::string indent(const Block& block) const {
    const size_t line = at_.line_end(block.header);
    const size_t first = text_.find_first_not_of(" \t", line);
    return first == std::string::npos || first >= block.content_end ? "" : text_.substr(line, first - line);
  }

  std::string with_edits(const Block& block, std::vector<Edit> edits) const {
    std::ranges::sort(edits, [](const Edit& a, const Edit& b) { return a.span.begin < b.span.begin; });
    std::string out;
    size_t at = block.begin;
    for (const Edit& edit : edits) {
      out += text_.substr(at, edit.span.begin - at) + edit.text;
      at = edit.span.end;
      at = keep_column(out, at, edit);
    }
    return out + text_.substr(at, block.end - at);
  }

  /// Keeps the column of a comment after a value if there is room. Returns the offset in the old text at
  /// which to continue copying.
  size_t keep_column(std::string& out, size_t at, const Edit& edit) const {
    const size_t comment = text_.find_first_not_of(' ', at);
    if (comment == std::string::npos || comment < at + 2 || text_[comment] != '#') return at;
    const size_t room = comment - edit.span.begin;
    if (edit.text.find('\n') != std::string::npos) return at;
    out.append(room > edit.text.size() + 2 ? room - edit.text.size() : 2, ' ');
    return comment;
  }

  const std::string& text_;
  const GraphDesc &old_, &graph_;
  const Registry& registry_;
  const TomlPositions at_;
  std::vector<Block> blocks_;             // tables in the order of the file
  std::map<std::string, size_t> places_;  // index in blocks_ of each old node, by id
  size_t preamble_end_ = 0, epilogue_ = 0;
  std::optional<TomlSpan> output_region_;
  std::string graph_line_;
  bool failed_ = false;
};

}  // namespace

std::optional<std::string> patched_toml(const std::string& text, const GraphDesc& old, const GraphDesc& graph,
                                        const Registry& registry) {
  return Patch(text, old, graph, registry).result();
}

}  // namespace lensd

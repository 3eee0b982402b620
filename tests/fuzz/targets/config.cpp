// Configuration text: parse, check, reload, save with a changed graph, read back.
#include <cstdint>

#include "app/config_checks.hpp"
#include "core/base/error.hpp"
#include "core/config/keys.hpp"
#include "core/config/layers.hpp"
#include "core/config/save.hpp"
#include "core/graph/catalogue.hpp"
#include "kernels/registry.hpp"
#include "tests/fuzz/common/memory_file.hpp"

namespace lensd {
namespace {

using fuzz::require;

/// Checks that all keys have the same values in both. `after`: the operation, for the message.
void require_same(const Config& a, const Config& b, const char* after) {
  for (const ConfigTable& table : config_tables())
    for (const ParamSpec& key : table.params)
      require(key.get(&a) == key.get(&b), "{} changes {}", after, key_name(table, key));
  require(a.given == b.given, "{} changes which keys are set", after);
}

/// Checks that each problem is one line that begins with the file's name.
void check_messages(const std::vector<std::string>& problems) {
  require(problems.size() <= kMaxProblems + 1, "{} problems", problems.size());
  for (size_t i = 0; i < problems.size() && i < kMaxProblems; ++i) {
    require(problems[i].starts_with("fuzz.toml:"), "no place in '{}'", problems[i]);
    require(problems[i].find('\n') == std::string::npos, "a message of two lines: '{}'", problems[i]);
  }
}

/// Checks that a reload accepts the same text and gives the same values.
void check_reload(const std::string& text, const Config& config, bool valid) {
  const fuzz::MemoryFile file({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  try {
    const Layered layered = load_layers({.files = {file.path()}, .kind = FileKind::regular}, registry());
    require(valid, "a reload accepts what the parser refuses");
    require_same(config, layered.config, "a reload");
    require(validate(layered.graph, registry()).empty(), "a reload gives an invalid graph");
  } catch (const Error& e) {
    require(!valid && e.code() == ExitCode::invalid_config, "a reload fails with '{}'", e.what());
  }
}

/// Checks that saving a graph into the text keeps all other values.
void check_save(const std::string& text, const Config& config, const GraphDesc& graph) {
  std::string saved;
  try {
    saved = graph_text(graph, text, "fuzz.toml", registry());
  } catch (const Error& e) {
    require(false, "the graph cannot be saved: {}", e.what());
  }
  Config again;
  const auto problems = parse_config(saved, "saved", registry(), again);
  require(problems.empty(), "the saved text is refused: {}", problems.empty() ? "" : problems.front());
  require(again.graph && equivalent(*again.graph, graph, registry()), "the saved graph differs");
  require_same(config, again, "saving");
}

}  // namespace
}  // namespace lensd

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  lensd::set_config_check(lensd::config_problems);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lensd;
  const std::string text(reinterpret_cast<const char*>(data), size);
  Config config;
  const auto problems = parse_config(text, "fuzz.toml", registry(), config);
  check_messages(problems);
  check_reload(text, config, problems.empty());
  if (!problems.empty()) return 0;
  GraphDesc graph = resolved(config.graph.value_or(GraphDesc{}), registry());
  require(validate(graph, registry()).empty(), "the parser gives an invalid graph");
  check_save(text, config, graph);
  if (graph.nodes.empty()) return 0;
  graph.nodes[size % graph.nodes.size()].enabled ^= true;
  check_save(text, config, graph);
  graph.nodes.clear(), graph.output = kSourceNode;
  check_save(text, config, graph);
  return 0;
}

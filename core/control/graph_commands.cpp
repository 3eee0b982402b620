#include "core/control/graph_commands.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/base/error.hpp"
#include "core/control/properties.hpp"
#include "core/graph/catalogue.hpp"
#include "core/graph/edit.hpp"
#include "core/graph/edit_shape.hpp"
#include "core/graph/json.hpp"

namespace lensd {
namespace {

std::string text_at(const Json& args, size_t index) {
  return args[index].get_ref<const std::string&>();
}

Response unknown(const GraphDesc& graph, const std::string& node) {
  return {Status::not_found, unknown_node(graph, node)};
}

Response from_problem(const EditProblem& problem) {
  return problem ? Response{Status::refused, *problem} : Response{};
}

/// Applies `edit` to the graph if it has the node that the first argument names.
void edit_node(CommandCall& call, std::function<Response(GraphDesc&, const std::string& id)> edit) {
  call.target.edit_graph(
      [id = text_at(call.args, 0), edit = std::move(edit)](GraphDesc& graph) {
        return graph.find(id) ? edit(graph, id) : unknown(graph, id);
      },
      std::move(call.reply));
}

}  // namespace

void graph_get(CommandCall& call) {
  const GraphState state = call.target.graph();
  Json graph = graph_json(state.graph, call.target.registry());
  graph["version"] = state.version, graph["frame"] = state.frame;
  graph["chain"] = to_chain(state.graph), graph["plan"] = state.summary;
  call.reply({.data = std::move(graph)});
}

void graph_set(CommandCall& call) {
  Json given = call.args[0];
  if (given.is_object())
    for (const char* key : {"version", "frame", "chain", "plan"})
      given.erase(key);  // graph_get() adds these keys
  GraphDesc graph;
  try {
    graph = graph_from_json(given, call.target.registry());
  } catch (const Error& e) {
    return call.reply({Status::refused, e.what()});
  }
  call.target.set_graph(std::move(graph), std::move(call.reply));
}

void graph_output(CommandCall& call) {
  call.target.edit_graph(
      [id = text_at(call.args, 0)](GraphDesc& graph) -> Response {
        if (id != kSourceNode && !graph.find(id)) return unknown(graph, id);
        graph.output = id;
        return {};
      },
      std::move(call.reply));
}

void node_add(CommandCall& call) {
  const Registry& registry = call.target.registry();
  const std::string name = text_at(call.args, 0);
  const FilterEntry* filter = registry.find(name);
  if (!filter) return call.reply({Status::not_found, unknown_filter(name, registry)});
  const bool at_end = call.args.size() < 2;
  call.target.edit_graph(
      [filter, at_end, given = at_end ? std::string() : text_at(call.args, 1)](GraphDesc& graph) -> Response {
        const std::string after = !at_end ? given : graph.nodes.empty() ? kSourceNode : graph.nodes.back().id;
        if (after != kSourceNode && !graph.find(after)) return unknown(graph, after);
        return {.data = {{"node", add_node(graph, *filter, after)}}};
      },
      std::move(call.reply));
}

void node_duplicate(CommandCall& call) {
  edit_node(call, [](GraphDesc& graph, const std::string& id) -> Response {
    return {.data = {{"node", duplicate_node(graph, id)}}};
  });
}

/// Takes NODE INDEX [INPUT]; without INPUT, removes the inputs from INDEX on.
void node_input(CommandCall& call) {
  const Json& index = call.args[1];
  edit_node(call,
            [index, input = call.args.size() > 2 ? text_at(call.args, 2) : std::string()](
                GraphDesc& graph, const std::string& id) -> Response {
              const size_t inputs = graph.find(id)->inputs.size();
              if (index < 0 || index > inputs)
                return {Status::refused, fmt::format("{}: expected an input 0 to {}", id, inputs)};
              set_node_input(graph, id, index.get<size_t>(), input);
              return {};
            });
}

void node_move(CommandCall& call) {
  edit_node(call, [place = call.args[1]](GraphDesc& graph, const std::string& id) -> Response {
    const size_t last = graph.nodes.size() - 1;
    if (place < 0 || place > last)
      return {Status::refused, fmt::format("{}: expected a place 0 to {}", id, last)};
    return from_problem(move_node(graph, id, place.get<size_t>()));
  });
}

void node_remove(CommandCall& call) {
  edit_node(call, [](GraphDesc& graph, const std::string& id) -> Response {
    remove_node(graph, id);
    return {};
  });
}

void node_rename(CommandCall& call) {
  edit_node(call, [name = text_at(call.args, 1)](GraphDesc& graph, const std::string& id) {
    return from_problem(rename_node(graph, id, name));
  });
}

/// Sets all parameters to their defaults at the same frame.
void node_reset(CommandCall& call) {
  const std::string id = text_at(call.args, 0);
  const GraphDesc graph = call.target.graph().graph;
  const NodeDesc* node = graph.find(id);
  if (!node) return call.reply(unknown(graph, id));
  PropertyValues defaults;
  for (const ParamSpec& spec : call.target.registry().find(node->filter)->schema().params)
    defaults.emplace_back(id + "." + spec.name, to_json(spec.default_value));
  set_properties(call.target, defaults, std::move(call.reply));
}

}  // namespace lensd

#include "core/graph/edit_history.hpp"

#include <iterator>

namespace lensd {

void GraphHistory::reset(GraphDesc graph, int preset) {
  clear_places(graph);
  steps_.assign(1, {std::move(graph), {}, preset, slot()});
  undone_.clear();
  now_ = 0;
  key_.clear();
}

void GraphHistory::record(GraphDesc after, std::string what, std::string key, int preset) {
  const bool joins = !key.empty() && key == key_ && now_ > 0;
  const auto undone = steps_.begin() + static_cast<std::ptrdiff_t>(now_) + 1;
  const size_t slot = steps_[now_].slot;
  clear_places(after);
  // A new step removes those that redo() could apply; drop() restores them.
  if (!joins) undone_.assign(std::make_move_iterator(undone), std::make_move_iterator(steps_.end()));
  steps_.erase(undone, steps_.end());
  if (joins) {
    steps_[now_] = {std::move(after), std::move(what), preset, slot};
    return;
  }
  key_ = std::move(key);
  steps_.push_back({std::move(after), std::move(what), preset, slot});
  if (steps_.size() > kMaxSteps + 1) steps_.erase(steps_.begin());
  now_ = steps_.size() - 1;
}

void GraphHistory::amend(GraphDesc graph) {
  clear_places(graph);
  steps_[now_].graph = std::move(graph);
}

void GraphHistory::drop() {
  if (now_ == 0) return;
  steps_.resize(now_--);
  steps_.insert(steps_.end(), std::make_move_iterator(undone_.begin()),
                std::make_move_iterator(undone_.end()));
  undone_.clear();
  key_.clear();
}

std::string GraphHistory::undo() {
  if (!can_undo()) return {};
  key_.clear(), undone_.clear();
  return steps_[now_--].what;
}

std::string GraphHistory::redo() {
  if (!can_redo()) return {};
  key_.clear(), undone_.clear();
  return steps_[++now_].what;
}

}  // namespace lensd

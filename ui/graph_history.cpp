#include "ui/graph_history.hpp"

namespace lensd::ui {

void GraphHistory::reset(GraphDesc graph, int preset) {
  steps_.assign(1, {std::move(graph), {}, preset});
  now_ = 0;
  key_.clear();
}

void GraphHistory::record(GraphDesc after, std::string what, std::string key, int preset) {
  steps_.resize(now_ + 1);  // what was undone cannot be redone behind a new change
  if (!key.empty() && key == key_ && now_ > 0) {
    steps_[now_] = {std::move(after), std::move(what), preset};
    return;
  }
  key_ = std::move(key);
  steps_.push_back({std::move(after), std::move(what), preset});
  if (steps_.size() > kMostSteps + 1) steps_.erase(steps_.begin());
  now_ = steps_.size() - 1;
}

void GraphHistory::drop() {
  if (now_ == 0) return;
  steps_.resize(now_--);
  key_.clear();
}

std::string GraphHistory::undo() {
  if (!can_undo()) return {};
  key_.clear();
  return steps_[now_--].what;
}

std::string GraphHistory::redo() {
  if (!can_redo()) return {};
  key_.clear();
  return steps_[++now_].what;
}

}  // namespace lensd::ui

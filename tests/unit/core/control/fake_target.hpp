// A ControlTarget without a pipeline that records its calls, for tests of core/control.
#pragma once

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/control/commands.hpp"
#include "core/control/control_target.hpp"
#include "core/control/properties.hpp"
#include "core/graph/edit.hpp"
#include "kernels/registry.hpp"

namespace lensd {

class FakeTarget : public ControlTarget {
 public:
  explicit FakeTarget(const std::string& chain) { graph_.graph = parse_chain(chain, lensd::registry()); }

  const Registry& registry() const override { return lensd::registry(); }
  RunState state() const override {
    const std::lock_guard lock(mutex_);
    return state_;
  }
  GraphState graph() const override {
    const std::lock_guard lock(mutex_);
    return graph_;
  }
  Measurements measurements() const override { return {profiler.snapshot(), {}}; }

  std::shared_ptr<const SourceControls> source_controls() const override {
    const std::lock_guard lock(mutex_);
    return controls_;
  }

  bool post(Command command) override {
    const std::lock_guard lock(mutex_);
    if (full) return false;
    ++graph_.version, ++graph_.frame;
    posted_.push_back(std::move(command));
    return true;
  }
  void change_graph(Batch batch, Reply reply) override {
    {
      const std::lock_guard lock(mutex_);
      apply_changes(graph_.graph, batch.changes, lensd::registry());
    }
    reply(post(std::move(batch)) ? Response{} : not_posted());
  }
  /// set_graph() and load() reply when reply_all() is called.
  void set_graph(GraphDesc, Reply reply) override { keep(std::move(reply)); }
  void edit_graph(GraphEdit edit, Reply reply) override {
    Response response;
    {
      const std::lock_guard lock(mutex_);
      GraphDesc edited = graph_.graph;
      response = edit(edited);
      if (response.ok()) graph_.graph = std::move(edited);
    }
    reply(std::move(response));
  }
  void load(std::string, Reply reply) override { keep(std::move(reply)); }
  void reload(Reply reply) override { reply({Status::refused, "a.toml:1:2: no"}); }
  void snapshot(std::string path, Reply reply) override { reply({.data = {{"path", path}}}); }
  void trace(std::string, Reply reply) override { reply({}); }
  void record(bool on, StartRecord what, Reply reply) override {
    recording = on, recorded = std::move(what);
    reply({});
  }
  void virtual_camera(bool on, std::string name, Reply reply) override {
    camera_on = on, camera_name = name;
    reply({});
  }
  void quit() override { ended = true; }
  std::shared_ptr<const EncodedPicture> picture(PictureType, int64_t made_after_ns) override {
    if (picture_error) throw Error(*picture_error);
    if (made_after_ns >= picture_ns) return nullptr;
    ++encoded;
    auto made = std::make_shared<EncodedPicture>();
    made->bytes = std::string(picture_bytes, 'x'), made->frame.processed_ns = picture_ns;
    return made;
  }

  void reply_all() {
    std::vector<Reply> replies;
    {
      const std::lock_guard lock(mutex_);
      replies.swap(kept_);
    }
    for (Reply& reply : replies) reply({.data = "late"});
  }
  std::vector<Command> posted() const {
    const std::lock_guard lock(mutex_);
    return posted_;
  }
  size_t posted_count() const {
    const std::lock_guard lock(mutex_);
    return posted_.size();
  }
  void set_controls(SourceControls controls) {
    const std::lock_guard lock(mutex_);
    controls_ = std::make_shared<const SourceControls>(std::move(controls));
  }
  void set_state(const RunState& state) {
    const std::lock_guard lock(mutex_);
    state_ = state;
  }

  Profiler profiler;
  std::atomic<bool> ended{false}, full{false};
  bool recording = false, camera_on = false;
  std::string camera_name;
  StartRecord recorded;
  std::atomic<int64_t> picture_ns{0};
  std::atomic<int> encoded{0};
  size_t picture_bytes = 1000;
  std::optional<Error> picture_error;  ///< thrown by picture(); set it before a server starts

 private:
  void keep(Reply reply) {
    const std::lock_guard lock(mutex_);
    kept_.push_back(std::move(reply));
  }

  mutable std::mutex mutex_;
  RunState state_;
  GraphState graph_;
  std::shared_ptr<const SourceControls> controls_;
  std::vector<Command> posted_;
  std::vector<Reply> kept_;
};

/// Runs a command, such as {"get", "frame"}, and returns the response.
inline Response ask(ControlTarget& target, const Json& command) {
  Response response{Status::failed, "no reply"};
  run_command(target, {{"command", command}}, nullptr, [&](Response given) { response = std::move(given); });
  return response;
}

}  // namespace lensd

#include <spa/utils/dict.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>

#include "core/base/error.hpp"
#include "core/media/pipewire/pipewire_session.hpp"
#include "core/media/pipewire_nodes.hpp"

namespace lensd {
namespace {

std::string value_of(const spa_dict* properties, const char* key) {
  const char* value = properties ? spa_dict_lookup(properties, key) : nullptr;
  return value ? value : "";
}

/// Collects the nodes that the daemon's registry announces.
class NodeSurvey {
 public:
  NodeSurvey() : session_({.on_lost = [this] { finish(); }, .on_synced = [this] { finish(); }}) {}
  ~NodeSurvey() {
    const PipewireLock lock(session_);
    if (!registry_) return;
    spa_hook_remove(&registry_hook_), spa_hook_remove(&core_hook_);
    session_.api().proxy_destroy(reinterpret_cast<pw_proxy*>(registry_));
  }

  PipewireSurvey run() {
    PipewireSurvey survey;
    survey.text = start();
    if (!survey.text.empty()) return survey;
    {
      std::unique_lock lock(mutex_);
      done_.wait_for(lock, std::chrono::milliseconds(500), [this] { return finished_; });
    }
    const PipewireLock lock(session_);
    survey.running = !version_.empty();
    survey.text = survey.running ? "version " + version_ : "PipeWire does not answer";
    for (auto& [id, found] : found_)
      if (!own_.contains(found.client)) survey.nodes.push_back(found.node);
    std::ranges::stable_sort(survey.nodes, {}, [](const PipewireNode& node) { return !node.camera; });
    return survey;
  }

 private:
  struct Found {
    PipewireNode node;
    std::string client;
  };

  std::string start() {
    static const pw_registry_events registry_events = [] {
      pw_registry_events e = {};
      e.version = PW_VERSION_REGISTRY_EVENTS, e.global = announced;
      return e;
    }();
    static const pw_core_events core_events = [] {
      pw_core_events e = {};
      e.version = PW_VERSION_CORE_EVENTS, e.info = informed;
      return e;
    }();
    const PipewireLock lock(session_);
    if (std::string problem = session_.connect(); !problem.empty()) return problem;
    registry_ = pw_core_get_registry(session_.core(), PW_VERSION_REGISTRY, 0);
    if (!registry_) return "cannot list the nodes of PipeWire";
    pw_core_add_listener(session_.core(), &core_hook_, &core_events, this);
    pw_registry_add_listener(registry_, &registry_hook_, &registry_events, this);
    session_.sync();
    return {};
  }

  void finish() {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    done_.notify_all();
  }

  static void informed(void* data, const pw_core_info* info) {
    static_cast<NodeSurvey*>(data)->version_ = info->version;
  }

  static void announced(void* data, uint32_t id, uint32_t, const char* type, uint32_t, const spa_dict* p) {
    NodeSurvey& survey = *static_cast<NodeSurvey*>(data);
    if (std::string_view(type) == PW_TYPE_INTERFACE_Client &&
        value_of(p, "pipewire.sec.pid") == std::to_string(getpid()))
      survey.own_[std::to_string(id)] = true;
    if (std::string_view(type) != PW_TYPE_INTERFACE_Node) return;
    const std::string media_class = value_of(p, PW_KEY_MEDIA_CLASS);
    const bool camera = media_class == "Video/Source";
    if (!camera && media_class != "Stream/Output/Video") return;
    const std::string name = value_of(p, PW_KEY_NODE_NAME);
    // The registry may omit device.api. WirePlumber begins the names of such nodes with "v4l2_input.".
    const bool v4l2 = value_of(p, PW_KEY_DEVICE_API) == "v4l2" || name.starts_with("v4l2_input.");
    PipewireNode node{name,
                      value_of(p, PW_KEY_NODE_DESCRIPTION),
                      value_of(p, PW_KEY_OBJECT_SERIAL),
                      camera,
                      v4l2,
                      !value_of(p, PW_KEY_DEVICE_ID).empty(),
                      id};
    if (node.description.empty()) node.description = value_of(p, PW_KEY_NODE_NICK);
    if (node.description.empty()) node.description = node.name;
    survey.found_[id] = {std::move(node), value_of(p, PW_KEY_CLIENT_ID)};
  }

  std::mutex mutex_;
  std::condition_variable done_;
  bool finished_ = false;

  PipewireSession session_;
  // Guarded by the session's lock.
  pw_registry* registry_ = nullptr;
  spa_hook registry_hook_ = {}, core_hook_ = {};
  std::string version_;
  std::map<uint32_t, Found> found_;
  std::map<std::string, bool> own_;  ///< clients of this process
};

}  // namespace

PipewireSurvey survey_pipewire() {
  try {
    return NodeSurvey().run();
  } catch (const Error& e) {
    return {.text = e.problem()};
  }
}

}  // namespace lensd

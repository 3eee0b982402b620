#include "app/viewer/sources/source_finder.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <utility>

#include "core/base/folders.hpp"
#include "core/media/pipewire_nodes.hpp"
#include "core/media/portal.hpp"
#include "core/media/url.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;

constexpr auto kInterval = std::chrono::seconds(2);
constexpr auto kShutdownTimeout = std::chrono::milliseconds(200);

/// Returns the paths of the video devices and of their links in /dev/v4l/by-id.
std::vector<std::string> device_names() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const char* folder : {"/dev", "/dev/v4l/by-id"})
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("video") || folder[4] != '\0') names.push_back(entry.path().string());
    }
  return names;
}

std::vector<std::pair<std::string, std::string>> find_places() {
  std::vector<std::pair<std::string, std::string>> places;
  std::error_code ignored;
  const auto add = [&](const char* name, const fs::path& path) {
    if (!path.empty() && fs::is_directory(path, ignored)) places.emplace_back(name, path.string());
  };
  const std::string home = folder_in("HOME");
  if (!home.empty()) add("Home", home), add("Videos", fs::path(home) / "Videos");
  const fs::path here = fs::current_path(ignored);
  if (!ignored && (home.empty() || here != fs::path(home))) add("Working folder", here);
  return places;
}

std::string screen_obstacle() {
  const char* display = std::getenv("DISPLAY");
  return display && *display ? "" : "No X11 display to record: DISPLAY is not set";
}

}  // namespace

std::string source_obstacle(const std::string& url) {
  const UrlKind kind = classify(url);
  std::error_code error;
  if (kind == UrlKind::camera)
    return fs::exists(camera_path(url), error) ? "" : "This camera is not connected";
  if (kind == UrlKind::screen) return screen_obstacle();
  if (kind == UrlKind::sequence) {
    const fs::path folder = fs::path(url).parent_path();
    return folder.empty() || fs::is_directory(folder, error) ? "" : "Its folder no longer exists";
  }
  if (kind != UrlKind::path) return {};
  const fs::file_status status = fs::status(url, error);
  if (status.type() == fs::file_type::not_found) return "This file no longer exists";
  if (error) return error.message();
  return fs::is_directory(status) ? "This is now a folder" : "";
}

struct SourceFinder::Shared {
  std::function<void()> wake;
  std::mutex mutex;
  std::condition_variable changed;
  std::string folder, part;
  std::vector<std::string> recent;
  uint64_t requests = 0;
  bool stop = false;
  std::shared_ptr<const ui::SourceChoices> found = std::make_shared<ui::SourceChoices>();

  void run();
  bool wait(uint64_t& seen);
  void publish(const ui::SourceChoices& choices, uint64_t seen);
};

/// Waits until a search is due. Returns false at shutdown.
bool SourceFinder::Shared::wait(uint64_t& seen) {
  std::unique_lock lock(mutex);
  const auto due = [&] { return stop || requests != seen; };
  if (folder.empty())
    changed.wait(lock, due);
  else
    changed.wait_for(lock, kInterval, due);
  seen = requests;
  return !stop;
}

void SourceFinder::Shared::publish(const ui::SourceChoices& choices, uint64_t seen) {
  const std::lock_guard lock(mutex);
  if (stop || requests != seen) return;
  found = std::make_shared<const ui::SourceChoices>(choices);
  wake();
}

void SourceFinder::Shared::run() {
  ui::SourceChoices choices;
  std::vector<std::string> devices;
  uint64_t seen = 0;
  while (wait(seen)) {
    std::string where, name_part;
    std::vector<std::string> urls;
    {
      const std::lock_guard lock(mutex);
      where = folder, name_part = part, urls = recent;
    }
    if (where.empty()) {
      choices.cameras_known = false;  // query the cameras again when the dialog opens
      continue;
    }
    choices.files = list_media_folder(where, name_part);
    choices.recent.clear();
    for (const std::string& url : urls) choices.recent.push_back({url, source_obstacle(url)});
    choices.places = find_places(), choices.screen_problem = screen_obstacle();
    publish(choices, seen);
    std::vector<PipewireNode> nodes = survey_pipewire().nodes;
    std::vector<std::string> now = device_names();
    for (const PipewireNode& node : nodes) now.push_back("pipewire:" + node.serial);
    if (choices.cameras_known && now == devices) continue;
    devices = std::move(now);
    choices.cameras = list_cameras(), choices.cameras_known = true;
    choices.portal = portal_obstacle().empty();
    if (!choices.cameras.empty()) std::erase_if(nodes, [](const PipewireNode& node) { return node.v4l2; });
    const bool raw = std::erase_if(choices.cameras, [](const Camera& camera) { return camera.raw; }) > 0;
    choices.pipewire = std::move(nodes);
    choices.cameras_problem.clear();
    if (choices.cameras.empty() && raw) choices.cameras_problem = kOnlyRawNodes;
    if (choices.cameras.empty() && !raw)
      for (const std::string& device : devices)
        if (choices.cameras_problem.empty() && device.starts_with("/dev/video"))
          choices.cameras_problem = device + ": " + camera_obstacle(device);
    publish(choices, seen);
  }
}

SourceFinder::SourceFinder(std::function<void()> wake) : shared_(std::make_shared<Shared>()) {
  shared_->wake = std::move(wake);
  thread_ = OwnedThread([shared = shared_] { shared->run(); });
}

SourceFinder::~SourceFinder() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stop = true;
    shared_->changed.notify_all();
  }
  thread_.join_within(kShutdownTimeout);
}

void SourceFinder::search(const std::string& folder, const std::string& part,
                          const std::vector<std::string>& recent) {
  if (folder == folder_ && part == part_ && recent == recent_) return;
  const std::lock_guard lock(shared_->mutex);
  if (recent != recent_) {
    // Show the list at once. The thread later finds out which sources are missing.
    auto choices = std::make_shared<ui::SourceChoices>(*shared_->found);
    const std::vector<ui::RecentSource> before = std::exchange(choices->recent, {});
    for (const std::string& url : recent) {
      ui::RecentSource source{url, ""};
      for (const ui::RecentSource& known : before)
        if (known.url == url) source.problem = known.problem;
      choices->recent.push_back(std::move(source));
    }
    shared_->found = std::move(choices);
  }
  folder_ = shared_->folder = folder, part_ = shared_->part = part, recent_ = shared_->recent = recent;
  ++shared_->requests;
  shared_->changed.notify_all();
}

std::shared_ptr<const ui::SourceChoices> SourceFinder::choices() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->found;
}

}  // namespace lensd

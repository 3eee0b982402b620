#include "app/serve/camera_memory.hpp"

#include <chrono>
#include <exception>
#include <utility>

#include "app/kept_controls.hpp"
#include "app/state_file.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/folders.hpp"
#include "core/base/log.hpp"
#include "core/base/owned_work.hpp"
#include "core/base/whole_file.hpp"

namespace lensd {
namespace {

constexpr size_t kMaxMemoryBytes = 1 << 18;
constexpr int64_t kDelayNs = 1'000'000'000, kWriteAgainNs = 10'000'000'000;
constexpr auto kSaveTimeout = std::chrono::milliseconds(300);

KeptControls read_kept(const std::string& path) {
  return parse_kept_controls(read_state_file(path, kMaxMemoryBytes).value_or(toml::table()));
}

}  // namespace

/// Shared with the thread that writes the file, which may outlive the CameraMemory.
struct CameraMemory::Unsaved {
  std::mutex mutex;
  KeptControls changed;  ///< not written yet; write() removes cameras without values from the file
  int64_t changed_ns = 0;
  bool failed = false;   ///< the last attempt to write the file failed
  bool writing = false;  ///< write() has not returned
  bool again = false;    ///< begin(true) was called while `writing` was set

  void add(const std::string& device, const ControlValues& values) {
    const std::lock_guard lock(mutex);
    changed[device] = values;
    if (changed_ns == 0) changed_ns = now_ns();
  }

  /// Returns true if the caller must call write().
  bool begin(bool now) {
    const std::lock_guard lock(mutex);
    if (changed.empty() || (!now && now_ns() - changed_ns < kDelayNs)) return false;
    if (writing) again = again || now;
    return !std::exchange(writing, true);
  }

  void write(const std::string& path) {
    while (write_once(path)) continue;
  }

  /// Writes the changes so far. Returns true if write_once() must be called again.
  bool write_once(const std::string& path) {
    KeptControls written;
    std::string problem;
    try {
      {
        const std::lock_guard lock(mutex);
        written = changed, again = false;
      }
      const StateLock lock_file(path);
      KeptControls all = read_kept(path);
      for (const auto& [camera, values] : written) remember_controls(all, camera, values);
      const std::string text =
          "# Written by lensd serve when a camera's control is set; may be deleted.\n" + to_toml(all);
      write_whole_file(path, text, Flush::none);
    } catch (const std::exception& e) {
      problem = e.what();
    }
    const std::lock_guard lock(mutex);
    const bool reported = std::exchange(failed, !problem.empty());
    if (failed && !reported) log::warn("{}", problem);
    if (!failed)
      std::erase_if(changed, [&](const auto& entry) {
        const auto it = written.find(entry.first);
        return it != written.end() && it->second == entry.second;
      });
    changed_ns = failed ? now_ns() + kWriteAgainNs : changed.empty() ? 0 : now_ns();
    return writing = std::exchange(again, false) && !changed.empty();
  }
};

CameraMemory::CameraMemory(std::string path) : path_(std::move(path)), unsaved_(std::make_shared<Unsaved>()) {
  if (path_.empty()) return;
  try {
    kept_ = read_kept(path_);
  } catch (const Error& e) {
    log::warn("{}", e.what());
  }
}

KeptControls CameraMemory::kept() const {
  const std::lock_guard lock(mutex_);
  return kept_;
}

void CameraMemory::keep(const SourceControls& controls) {
  const std::lock_guard lock(mutex_);
  if (controls.version == version_ && controls.device == device_) return;
  version_ = controls.version, device_ = controls.device;
  const auto known = kept_.find(device_);
  if (known == kept_.end() ? controls.wanted.empty() : known->second == controls.wanted) return;
  remember_controls(kept_, device_, controls.wanted);
  unsaved_->add(device_, controls.wanted);
}

void CameraMemory::save(bool now) {
  if (path_.empty() || !unsaved_->begin(now)) return;
  run_owned([unsaved = unsaved_, path = path_] { unsaved->write(path); }, kSaveTimeout);
}

std::string CameraMemory::default_path() {
  const std::string folder = state_folder();
  return folder.empty() ? "" : folder + "/cameras.toml";
}

}  // namespace lensd

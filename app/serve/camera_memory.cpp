#include "app/serve/camera_memory.hpp"

#include <utility>

#include "app/kept_controls.hpp"
#include "app/state_file.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/folders.hpp"
#include "core/base/log.hpp"
#include "core/base/whole_file.hpp"

namespace lensd {
namespace {

constexpr size_t kMaxMemoryBytes = 1 << 18;
constexpr int64_t kDelayNs = 1'000'000'000, kWriteAgainNs = 10'000'000'000;

KeptControls read_kept(const std::string& path) {
  return parse_kept_controls(read_state_file(path, kMaxMemoryBytes).value_or(toml::table()));
}

}  // namespace

CameraMemory::CameraMemory(std::string path) : path_(std::move(path)) {
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
  changed_[device_] = controls.wanted;
  if (changed_ns_ == 0) changed_ns_ = now_ns();
}

void CameraMemory::save(bool now) {
  const std::lock_guard lock(mutex_);
  if (path_.empty() || changed_.empty() || (!now && now_ns() - changed_ns_ < kDelayNs)) return;
  try {
    const StateLock lock_file(path_);
    KeptControls all = read_kept(path_);
    for (const auto& [camera, values] : changed_) remember_controls(all, camera, values);
    const std::string text =
        "# Written by lensd serve when a camera's control is set; may be deleted.\n" + to_toml(all);
    write_whole_file(path_, text, Flush::none);
    changed_.clear();
    changed_ns_ = 0, failed_ = false;
  } catch (const Error& e) {
    if (!std::exchange(failed_, true)) log::warn("{}", e.what());
    changed_ns_ = now_ns() + kWriteAgainNs;
  }
}

std::string CameraMemory::default_path() {
  const std::string folder = state_folder();
  return folder.empty() ? "" : folder + "/cameras.toml";
}

}  // namespace lensd

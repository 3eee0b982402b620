#include "app/viewer/sources/camera_wait.hpp"

#include <condition_variable>
#include <mutex>
#include <utility>

namespace lensd {
namespace {

constexpr auto kWaitEndTimeout = std::chrono::milliseconds(200);

}  // namespace

struct CameraWait::Shared {
  Find find;
  std::function<void()> wake;
  std::chrono::milliseconds interval{};
  std::mutex mutex;
  std::condition_variable changed;
  bool stop = false;
  std::string found;

  void run();
};

void CameraWait::Shared::run() {
  std::unique_lock lock(mutex);
  while (!changed.wait_for(lock, interval, [this] { return stop; })) {
    lock.unlock();
    std::string camera = find();
    lock.lock();
    if (camera.empty() || stop) continue;
    found = std::move(camera);
    wake();
    return;
  }
}

CameraWait::CameraWait(Find find, std::function<void()> wake, std::chrono::milliseconds interval)
    : shared_(std::make_shared<Shared>()) {
  shared_->find = std::move(find), shared_->wake = std::move(wake), shared_->interval = interval;
  thread_ = OwnedThread([shared = shared_] { shared->run(); });
}

CameraWait::~CameraWait() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stop = true;
    shared_->changed.notify_all();
  }
  thread_.join_within(kWaitEndTimeout);
}

std::string CameraWait::take() {
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->found, {});
}

}  // namespace lensd

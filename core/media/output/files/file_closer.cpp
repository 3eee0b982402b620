#include "core/media/output/files/file_closer.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <utility>

#include "core/base/log.hpp"

namespace lensd {
namespace {

constexpr size_t kMaxFiles = 2;
constexpr auto kRoomInterval = std::chrono::milliseconds(20);

}  // namespace

/// Shared with the thread, which may outlive the FileCloser.
struct FileCloser::Work {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::unique_ptr<VideoFile>> files;
  size_t open = 0;  ///< number of files in `files` and in the thread
  std::deque<Closed> closed;
  bool ended = false;  ///< the FileCloser is destroyed

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return ended || !files.empty(); });
      if (files.empty()) return;
      std::unique_ptr<VideoFile> file = std::move(files.front());
      files.pop_front();
      lock.unlock();
      Closed done{file->path(), file->close()};
      file.reset();
      lock.lock();
      --open;
      if (ended && done.error < 0)
        log::warn("{}", write_error(done.path, AVUNERROR(done.error)).what());
      else
        closed.push_back(std::move(done));
      changed.notify_all();
    }
  }
};

FileCloser::FileCloser() : work_(std::make_shared<Work>()) {}

FileCloser::~FileCloser() {
  const std::lock_guard lock(work_->mutex);
  work_->ended = true;
  work_->changed.notify_all();
}

void FileCloser::close(std::unique_ptr<VideoFile> file, const std::atomic<bool>* stop) {
  if (!thread_.has_thread()) try {
      thread_ = OwnedThread([work = work_] { work->run(); });
    } catch (const std::system_error&) {
      Closed done{file->path(), file->close()};
      const std::lock_guard lock(work_->mutex);
      return work_->closed.push_back(std::move(done));
    }
  std::unique_lock lock(work_->mutex);
  while (work_->open >= kMaxFiles && !(stop && *stop)) work_->changed.wait_for(lock, kRoomInterval);
  work_->files.push_back(std::move(file));
  ++work_->open;
  work_->changed.notify_all();
}

std::optional<FileCloser::Closed> FileCloser::take_closed() {
  const std::lock_guard lock(work_->mutex);
  if (work_->closed.empty()) return std::nullopt;
  std::optional<Closed> done(std::move(work_->closed.front()));
  work_->closed.pop_front();
  return done;
}

bool FileCloser::wait(std::chrono::nanoseconds timeout) {
  std::unique_lock lock(work_->mutex);
  return work_->changed.wait_for(lock, timeout, [this] { return work_->open == 0; });
}

}  // namespace lensd

#include "app/viewer/sources/source_opener.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/source_text.hpp"

namespace lensd {
namespace {

/// How long the end, and the attempt that comes next, wait for one that was given up.
constexpr auto kFarewell = std::chrono::milliseconds(500);

}  // namespace

/// What an attempt's thread and the UI thread share.
struct SourceOpener::Attempt {
  OpenRequest request;
  const std::shared_ptr<std::atomic<bool>> cancel = std::make_shared<std::atomic<bool>>(false);

  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  OpenedPipeline made;
  std::string problem;

  /// Until it is done, or the farewell is over.
  void wait() {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, kFarewell, [this] { return done; });
  }
  void run(const Make& make, const std::function<void()>& wake);
};

void SourceOpener::Attempt::run(const Make& make, const std::function<void()>& wake) {
  OpenedPipeline result;
  std::string failure;
  try {
    if (!*cancel) result = make(request, cancel);
  } catch (const std::exception& e) {
    failure = e.what();
  }
  // What nobody wants any more goes here rather than on the UI thread.
  if (*cancel) result = {};
  const std::lock_guard lock(mutex);
  made = std::move(result), problem = std::move(failure), done = true;
  changed.notify_all();
  if (!*cancel) wake();  // under the lock: whoever gives it up waits for this
}

SourceOpener::SourceOpener(Make make, std::function<void()> wake)
    : make_(std::move(make)), wake_(std::move(wake)) {}

SourceOpener::~SourceOpener() {
  if (!attempt_) return;
  give_up("lensd is ending");
  given_up_->wait();
}

void SourceOpener::open(OpenRequest request) {
  give_up("another source was asked for meanwhile");
  opening_ = brief_source(request.url), since_ns_ = now_ns();
  attempt_ = std::make_shared<Attempt>();
  attempt_->request = std::move(request);
  std::thread([attempt = attempt_, before = std::exchange(given_up_, nullptr), make = make_,
               wake = wake_]() mutable {
    if (before) before->wait();
    before.reset();
    attempt->run(make, wake);
  }).detach();
}

void SourceOpener::cancel() {
  give_up("given up");
}

void SourceOpener::give_up(const std::string& why) {
  const std::shared_ptr<Attempt> attempt = std::exchange(attempt_, nullptr);
  opening_.clear();
  if (!attempt) return;
  {
    const std::lock_guard lock(attempt->mutex);
    *attempt->cancel = true;
  }
  given_up_ = attempt;
  if (attempt->request.done) attempt->request.done(OpenResult::dropped, why);
}

std::optional<SourceOpener::Finished> SourceOpener::take() {
  if (!attempt_) return std::nullopt;
  Finished finished;
  {
    const std::lock_guard lock(attempt_->mutex);
    if (!attempt_->done) return std::nullopt;
    finished.made = std::move(attempt_->made), finished.problem = std::move(attempt_->problem);
  }
  finished.request = std::move(attempt_->request);
  attempt_.reset(), opening_.clear();
  return finished;
}

}  // namespace lensd

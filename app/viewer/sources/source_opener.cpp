#include "app/viewer/sources/source_opener.hpp"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <mutex>
#include <system_error>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/owned_thread.hpp"
#include "core/base/text/source_text.hpp"
#include "core/base/text/url_secrets.hpp"

namespace lensd {
namespace {

/// Maximum time to wait for a cancelled attempt, at shutdown and before the next attempt.
constexpr auto kCancelTimeout = std::chrono::milliseconds(500);

}  // namespace

struct SourceOpener::Attempt {
  OpenRequest request;
  const std::shared_ptr<std::atomic<bool>> cancel = std::make_shared<std::atomic<bool>>(false);

  std::mutex mutex;
  bool done = false;
  OpenedPipeline opened;
  std::string problem;

  OwnedThread thread;

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
  // Destroy a cancelled pipeline here, not on the UI thread.
  if (*cancel) result = {};
  const std::lock_guard lock(mutex);
  opened = std::move(result), problem = std::move(failure), done = true;
  if (!*cancel) wake();  // the locked mutex prevents a call after abandon()
}

SourceOpener::SourceOpener(Make make, std::function<void()> wake)
    : make_(std::move(make)), wake_(std::move(wake)) {}

SourceOpener::~SourceOpener() {
  if (attempt_) abandon("lensd is shutting down");
  if (abandoned_) abandoned_->thread.join_within(kCancelTimeout);
}

void SourceOpener::open(OpenRequest request) {
  abandon("another source was requested in the meantime");
  opening_ = brief_source(url_without_secrets(request.url)), since_ns_ = now_ns();
  attempt_ = std::make_shared<Attempt>();
  attempt_->request = std::move(request);
  try {
    attempt_->thread = OwnedThread([attempt = attempt_, before = std::exchange(abandoned_, nullptr),
                                    make = make_, wake = wake_]() mutable {
      if (before) before->thread.join_within(kCancelTimeout);
      before.reset();
      attempt->run(make, wake);
    });
  } catch (const std::system_error& e) {
    attempt_->problem = fmt::format("{}: cannot start a thread: {}", opening_, e.what());
    attempt_->done = true;
    wake_();
  }
}

void SourceOpener::cancel() {
  abandon("cancelled");
}

void SourceOpener::abandon(const std::string& reason) {
  const std::shared_ptr<Attempt> attempt = std::exchange(attempt_, nullptr);
  opening_.clear();
  if (!attempt) return;
  {
    const std::lock_guard lock(attempt->mutex);
    *attempt->cancel = true;
  }
  abandoned_ = attempt;
  if (attempt->request.done) attempt->request.done(OpenResult::cancelled, reason);
}

bool SourceOpener::searching() const {
  return attempt_ && !attempt_->request.list.empty();
}

std::optional<SourceOpener::Finished> SourceOpener::take() {
  if (!attempt_) return std::nullopt;
  Finished finished;
  {
    const std::lock_guard lock(attempt_->mutex);
    if (!attempt_->done) return std::nullopt;
    finished.opened = std::move(attempt_->opened), finished.problem = std::move(attempt_->problem);
  }
  attempt_->thread.join_within(kCancelTimeout);  // the thread has nothing left to do
  finished.request = std::move(attempt_->request);
  attempt_.reset(), opening_.clear();
  return finished;
}

}  // namespace lensd

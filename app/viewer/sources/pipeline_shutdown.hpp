// Shuts the viewer's pipelines down without blocking the UI thread.
//
//   old pipeline ── PipelineShutdown ──▶ threads joined, recording completed, then the new pipeline starts
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "app/serve/jobs.hpp"
#include "app/viewer/sources/source_opener.hpp"
#include "core/base/notices.hpp"

namespace lensd {

/// Shuts pipelines down on another thread. Call from the UI thread only.
class PipelineShutdown {
 public:
  ~PipelineShutdown() { finish(); }
  /// Shuts `old` down, then starts `next`. `old` may be empty. Does not block, however many earlier pipelines
  /// still hang, for example on a dead disk.
  void replace(OpenedPipeline old, std::shared_ptr<Pipeline> next);
  /// Returns the notices of recordings completed since the last call.
  std::vector<Notice> take_notices() { return notices_.take(); }
  /// Waits for all shutdowns.
  void finish() { jobs_.stop(); }

 private:
  struct Replacement {
    OpenedPipeline old;
    std::shared_ptr<Pipeline> next;
  };
  void run_waiting();
  void run(Replacement& replacement);

  NoticeList notices_;
  std::mutex mutex_;
  std::deque<Replacement> waiting_;  ///< oldest first; guarded by mutex_
  Jobs jobs_;
};

}  // namespace lensd

// Shuts the viewer's pipelines down without blocking the UI thread.
//
//   old pipeline ── PipelineShutdown ──▶ threads joined, recording completed, then the new pipeline starts
#pragma once

#include <memory>
#include <vector>

#include "app/serve/jobs.hpp"
#include "app/viewer/sources/source_opener.hpp"
#include "core/base/notices.hpp"

namespace lensd {

/// Shuts pipelines down on another thread. Call from the UI thread only.
class PipelineShutdown {
 public:
  ~PipelineShutdown() { finish(); }
  /// Shuts `old` down, then starts `next`. `old` may be empty.
  void replace(OpenedPipeline old, std::shared_ptr<Pipeline> next);
  /// Returns the notices of recordings completed since the last call.
  std::vector<Notice> take_notices() { return notices_.take(); }
  /// Waits for all shutdowns.
  void finish() { jobs_.stop(); }

 private:
  NoticeList notices_;
  Jobs jobs_;
};

}  // namespace lensd

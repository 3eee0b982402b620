// Checks that the pipeline's threads make progress, for the service manager's watchdog and /healthz.
#pragma once

#include <cstdint>

#include "app/pipeline/pipeline.hpp"
#include "core/media/url.hpp"

namespace lensd {

/// The decode thread may wait while playback is paused or ended, while its queue is full, when the whole file
/// is decoded, and for data that a server or a pipe does not send.
class PipelineProgress {
 public:
  /// Returns false if the pipeline has failed. Otherwise returns true if the threads made progress since the
  /// last call, or if `pipeline` is new. Wakes the process thread, so that its heartbeat advances before the
  /// next call even while paused.
  bool check(Pipeline& pipeline) {
    const PipelineStatus now = pipeline.status();
    const bool processing = &pipeline != seen_ || now.process_heartbeat != processed_;
    const bool waits =
        now.paused || now.ended || now.queue_full || now.all_decoded || waits_for_data(pipeline, now);
    const bool decoding = &pipeline != seen_ || now.decode_heartbeat != decoded_ || waits;
    seen_ = &pipeline, processed_ = now.process_heartbeat, decoded_ = now.decode_heartbeat;
    pipeline.wake();
    return processing && decoding && !now.failed;
  }

 private:
  /// A file on a disk does not count: a disk or a driver that hangs is no progress. Does not access the file.
  static bool waits_for_data(const Pipeline& pipeline, const PipelineStatus& now) {
    const SourceInfo& source = pipeline.source();
    return now.stalled_since_ns > 0 && (!source.seekable || !scheme_of(source.url).empty());
  }

  const Pipeline* seen_ = nullptr;
  uint64_t processed_ = 0, decoded_ = 0;
};

}  // namespace lensd

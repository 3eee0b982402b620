// Records the output or the source of a running pipeline.
//
//   StartRecord ──▶ start(), take() on the process thread ──▶ queue ──▶ Recording on the recorder's thread
//
// Each queued frame refers to its recording, so that a recording starts and stops at the exact frame of the
// command. After an error the recording ends with a notice. With `keep_trying`, the sink tries to restart it
// every 5 s.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "app/pipeline/queue_sink.hpp"
#include "core/media/recording.hpp"
#include "core/media/source.hpp"

namespace lensd {

class RecorderSink final : public QueueSink {
 public:
  RecorderSink(const RecordSettings& settings, const SourceInfo& source, const AudioChoice& audio = {});
  ~RecorderSink() override { finish(); }

  bool wants_every_frame() const noexcept override { return wants_all_.load(std::memory_order_relaxed); }
  void arriving(const Arrival& arrival) override;
  void take(const Frame& frame, const Picture& source, const PixelAspects& aspects) override;
  void start(const StartRecord& command) override;
  void stop() override;
  SinkStatus status() const override;
  /// Returns the command of the recording that is active or about to start, or nullopt. After a failure
  /// returns the command only if it has `keep_trying`. Thread-safe.
  std::optional<StartRecord> requested() const;
  /// Makes the recording end with the source's audio. Call before finish() if the source has no more frames.
  void source_ended() noexcept { source_ended_ = true; }

 private:
  void handle(Job& job) override;
  void complete() override;
  Losses losses() const;
  void change_session(const std::shared_ptr<const StartRecord>& session, const Losses& losses);
  void begin(bool retry);
  bool complete_file();
  void end_session(const Losses& losses);
  void write(const Job& job);
  void fail(const std::string& problem, bool ends = false);
  void report_failure(const std::string& problem, bool again);
  /// Returns true if a failed recording is retried: it has StartRecord::keep_trying and had frames.
  bool retries() const { return current_ && current_->keep_trying && earlier_.frames > 0; }
  void publish_status();
  void set_requested(const std::shared_ptr<const StartRecord>& command);
  RecordTarget target_of(const StartRecord& command) const;
  std::unique_ptr<Recording> make_recording(bool preroll) const;

  const RecordSettings settings_;
  const bool live_;
  const AudioSource audio_from_;
  std::atomic<bool> source_ended_{false};

  std::atomic<bool> wants_all_;      ///< a recording was started, or the pre-roll runs
  std::atomic<uint64_t> missed_{0};  ///< see SinkStatus
  // Owned by the process thread.
  std::shared_ptr<const StartRecord> session_;
  bool first_ = false;           ///< no frame arrived since start()
  uint64_t dropped_before_ = 0;  ///< Arrival::dropped of the last frame

  // Owned by the recorder's thread.
  std::shared_ptr<const StartRecord> current_;
  std::unique_ptr<Recording> output_, source_;
  Recording* active_ = nullptr;
  bool preroll_failed_ = false;
  Losses losses_before_;       ///< totals at the end of the last recording
  int64_t retry_ns_ = 0;       ///< time at which to restart a failed recording
  bool retrying_ = false;      ///< restarted after a failure, not yet counted as a success
  Recording::Report earlier_;  ///< totals of this session's failed recordings
  SinkStatus state_;

  mutable std::mutex mutex_;
  SinkStatus status_;                             ///< copy of state_
  std::shared_ptr<const StartRecord> requested_;  ///< copy of session_; null after a final failure
};

}  // namespace lensd

// The recording of a running pipeline, on a thread of its own.
//
//   StartRecord ──▶ start(), take() on the process thread ──▶ queue ──▶ Recording on the recorder's thread
//
// Each frame carries the recording that it belongs to, so that a recording begins and ends with the frame
// that was next when it was asked for. What goes wrong with a file becomes a notice; the video goes on, and a
// recording with `keep_trying` is begun again every few seconds.
#pragma once

#include "app/pipeline/queue_sink.hpp"
#include "core/media/recording.hpp"
#include "core/media/source.hpp"

namespace lensd {

class RecorderSink final : public QueueSink {
 public:
  RecorderSink(const RecordSettings& settings, const SourceInfo& source);
  ~RecorderSink() override { finish(); }

  void take(const Frame& frame, const Picture& source) override;
  void start(const StartRecord& command) override;
  void stop() override;
  SinkStatus status() const override;
  /// The first thing that went wrong, for the exit code; empty: nothing. After finish().
  const std::string& failure() const { return failure_; }

 private:
  void handle(Job& job) override;
  void complete() override;
  void change_session(const std::shared_ptr<const StartRecord>& session);
  void begin(bool again);
  void end_session();
  void write(const Job& job);
  void broke_off(const std::string& problem);
  void tell(const std::string& problem);
  void update_status();
  RecordTarget target_of(const StartRecord& command) const;
  std::unique_ptr<Recording> make_recording(bool preroll) const;

  const RecordSettings settings_;
  const double fps_;
  const std::string audio_from_;

  std::shared_ptr<const StartRecord> session_;  // process thread

  // Recorder's thread.
  std::shared_ptr<const StartRecord> current_;
  std::unique_ptr<Recording> output_, source_;
  Recording* active_ = nullptr;
  bool told_device_ = false, told_turn_ = false;
  uint64_t dropped_told_ = 0;
  int64_t retry_ns_ = 0;  ///< when a recording that broke off is begun again
  bool again_ = false;    ///< it was; to be told once it has frames
  int64_t before_frames_ = 0, before_bytes_ = 0, before_files_ = 0;  ///< of this session's earlier parts
  std::string failure_;

  std::atomic<bool> recording_{false}, wanted_{false};
  std::atomic<int64_t> frames_{0}, bytes_{0}, files_{0};
  std::atomic<uint64_t> begun_{0}, failures_{0};
  mutable std::mutex text_mutex_;
  std::string path_, problem_;
};

}  // namespace lensd

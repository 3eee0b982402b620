// The recording of a running pipeline, on a thread of its own.
//
//   StartRecord ──▶ start(), take() on the process thread ──▶ queue ──▶ Recording on the recorder's thread
//
// Each frame carries the recording that it belongs to, so that a recording begins and ends with the frame
// that was next when it was asked for. What goes wrong with a file becomes a notice; the video goes on.
#pragma once

#include "app/queue_sink.hpp"
#include "core/media/recording.hpp"
#include "core/media/source.hpp"

namespace lensd {

class RecorderTap final : public QueueSink {
 public:
  RecorderTap(const RecordSettings& settings, const SourceInfo& source);
  ~RecorderTap() override { finish(); }

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
  void end_session();
  void write(const Job& job);
  void tell(const std::string& problem);
  void update_status(bool recording);
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

  std::atomic<bool> recording_{false};
  std::atomic<int64_t> frames_{0}, bytes_{0}, files_{0};
  mutable std::mutex path_mutex_;
  std::string path_;
  std::string failure_;  // recorder's thread
};

}  // namespace lensd

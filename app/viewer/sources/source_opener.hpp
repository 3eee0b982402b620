// Opens sources on other threads while another source plays, so that the window does not wait.
//
//   open() ──▶ one thread per attempt: make() ──▶ take() on the UI thread
//
// Only the newest request counts: open() and cancel() cancel the current attempt. The next attempt waits up
// to 500 ms for the end of the cancelled one, because both may need the same port or camera. An attempt may
// hang in a call that cannot be interrupted, for example on a dead network folder
// (core/base/owned_thread.hpp).
//
// Call from the UI thread only.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/pipeline/pipeline.hpp"
#include "app/pipeline/recorder_sink.hpp"

namespace lensd {

enum class OpenResult : uint8_t {
  playing,
  failed,
  cancelled,  ///< by the user, a newer request or the shutdown
};

using OpenDone = std::function<void(OpenResult result, const std::string& problem)>;

struct OpenRequest {
  std::string url;
  /// If not empty, search these files and folders for sources (OpenedPipeline::list) instead of opening
  /// `url`.
  std::vector<std::string> list = {};
  LiveOptions live;
  GraphDesc graph;
  Precision precision = Precision::automatic;
  ColourSettings colour = {};
  bool first = false;        ///< the source of the command line: --start and --pause apply
  bool needs_track = false;  ///< fail if the source does not have the track of --video-track
  bool remember = false;     ///< add the source to the recent ones when it plays
  bool loop_file = false;
  double speed = 1;
  double volume = 100;  ///< percent
  bool muted = false;
  int64_t start_ns = 0;            ///< position to resume at
  std::optional<int> video_track;  ///< track that the user chose; playback continues at `start_ns`
  bool paused = false;
  /// Called once on the UI thread. May be empty.
  OpenDone done;
};

/// A pipeline and its recorder. The opener does not start the pipeline.
struct OpenedPipeline {
  std::shared_ptr<Pipeline> pipeline;
  std::shared_ptr<RecorderSink> recorder;
  std::string path = {};  ///< absolute path of the source; empty if it is not a file
  bool regular_file = false;
  std::vector<std::string> list = {};  ///< sources found for OpenRequest::list; there is no pipeline then
};

class SourceOpener {
 public:
  /// Opens a source; throws Error. Called on other threads, which may outlive the opener, so the function
  /// must own all that it uses. `cancel` becomes true when the attempt is cancelled. The pipeline must keep
  /// this flag alive.
  using Make = std::function<OpenedPipeline(const OpenRequest& request,
                                            std::shared_ptr<const std::atomic<bool>> cancel)>;
  struct Finished {
    OpenRequest request;
    OpenedPipeline opened;
    std::string problem;  ///< why opening failed; empty: success
  };

  /// `wake` is called on any thread when take() has a result.
  SourceOpener(Make make, std::function<void()> wake);
  /// Cancels the current attempt. Waits up to 500 ms for the end of cancelled attempts.
  ~SourceOpener();

  /// Cancels the current attempt and starts a new one. Does not block.
  void open(OpenRequest request);
  /// Cancels the current attempt. Does not block.
  void cancel();
  /// Returns the finished attempt, or nullopt if there is none. The caller must call OpenRequest::done.
  std::optional<Finished> take();

  /// Returns the short name of the source that is being opened; empty: none.
  const std::string& opening() const { return opening_; }
  /// Returns true while the sources of OpenRequest::list are searched.
  bool searching() const;
  /// Returns the start time of the newest attempt.
  int64_t since_ns() const { return since_ns_; }

 private:
  struct Attempt;
  void abandon(const std::string& reason);

  const Make make_;
  const std::function<void()> wake_;
  std::shared_ptr<Attempt> attempt_;    ///< the newest attempt; null: none
  std::shared_ptr<Attempt> abandoned_;  ///< the last cancelled attempt; its thread may still run
  std::string opening_;
  int64_t since_ns_ = 0;
};

}  // namespace lensd

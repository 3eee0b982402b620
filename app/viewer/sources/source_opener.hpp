// Opening a source while another one plays: aside, so that the window never waits.
//
//   open() ──▶ a thread of its own for each attempt: make() ──▶ take() on the UI thread
//
// The newest wish counts: what is being opened when another source is asked for, or when the user gives it
// up, is told to stop and forgotten; the next one leaves it a moment to let go of a port or a camera that
// both want. An attempt that hangs in a call that nothing interrupts (a network folder that is gone) is left
// alone.
//
// Members are the UI thread's.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/pipeline/pipeline.hpp"
#include "app/pipeline/recorder_sink.hpp"

namespace lensd {

/// What came of a request.
enum class OpenResult : uint8_t {
  plays,
  failed,
  dropped,  ///< given up, or another one came in its place
};

struct OpenRequest {
  std::string url;
  LiveOptions live;
  GraphDesc graph;
  bool first = false;     ///< as the command line says: start position, pause
  bool remember = false;  ///< among the recent sources, once it plays
  bool loop_file = false;
  double speed = 1;
  /// What came of it and why, on the UI thread; called once. May be empty.
  std::function<void(OpenResult end, const std::string& problem)> done;
};

/// A source with its pipeline, not started.
struct OpenedPipeline {
  std::shared_ptr<Pipeline> pipeline;
  std::shared_ptr<RecorderSink> recorder;
};

class SourceOpener {
 public:
  /// Throws Error. Called on other threads, of which one may outlive the opener: it must own what it uses.
  /// `cancel` turns true when the source is not wanted any more; the pipeline keeps it.
  using Make = std::function<OpenedPipeline(const OpenRequest& request,
                                            std::shared_ptr<const std::atomic<bool>> cancel)>;
  struct Finished {
    OpenRequest request;
    OpenedPipeline made;
    std::string problem;  ///< empty: it was made
  };

  /// `wake`: there is something to take(); any thread calls it.
  SourceOpener(Make make, std::function<void()> wake);
  /// Gives up what is being opened, for which it waits a moment.
  ~SourceOpener();

  void open(OpenRequest request);
  void cancel();
  std::optional<Finished> take();

  /// What is being opened, in short; empty: nothing.
  const std::string& opening() const { return opening_; }
  int64_t since_ns() const { return since_ns_; }

 private:
  struct Attempt;
  void give_up(const std::string& why);

  const Make make_;
  const std::function<void()> wake_;
  std::shared_ptr<Attempt> attempt_;   ///< the newest; null: none
  std::shared_ptr<Attempt> given_up_;  ///< the last that was; it may still run
  std::string opening_;
  int64_t since_ns_ = 0;
};

}  // namespace lensd

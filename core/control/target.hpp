// What control reaches of the running program, without knowing its threads.
//
//   socket, HTTP ──▶ Commands ──▶ ControlTarget (app/session) ──▶ Pipeline, source, files
//
// Every member may be called from any thread and, picture() excepted, returns at once: what takes time
// (planning, opening a source, writing a file) answers through a Reply, which is called exactly once, from
// any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/control/encoded_picture.hpp"
#include "core/graph/exec/executor.hpp"
#include "core/pipeline/command.hpp"

namespace lensd {

using Json = nlohmann::json;

/// What a request came to, told apart for HTTP's status codes.
enum class Status : uint8_t {
  none,
  usage,      ///< wrong arguments
  not_found,  ///< no such command, property or node
  refused,    ///< understood, but not possible: out of range, does not fit, not seekable
  busy,       ///< too much at once, try again
  failed,     ///< it was tried and went wrong
};

struct Answer {
  Status fault = Status::none;
  std::string error;  ///< a sentence, empty when it was done
  Json data;
};
using Reply = std::function<void(Answer)>;

/// A snapshot of the run for people and programs. Texts carry no secrets.
struct RunState {
  std::string source_url, source_name, source_state, source_reason, source_detail;
  std::string backend, backend_reason, recording;
  bool live = false, seekable = false, paused = false, ended = false, bypass = false, loop_file = false;
  double speed = 1, source_fps = 0, rate = 0;  ///< rate: frames a second made lately
  int64_t frame = -1, position_ns = 0, duration_ns = 0;
  Extent picture;  ///< of the source, upright
  uint64_t decoded = 0, processed = 0, late = 0, dropped = 0, reconnects = 0;
  bool alive = true;  ///< the pipeline's threads take turns
  struct {
    bool wanted = false, active = false;  ///< asked for and not ended; and has not broken off
    int64_t frames = 0, bytes = 0, files = 0;
    uint64_t dropped = 0, failures = 0;
    std::string problem;  ///< why it broke off last
  } record;
  struct {
    std::string url, state;  ///< empty: nothing is sent
    int64_t sent = 0, bytes = 0;
    uint64_t dropped = 0;
  } stream;
  uint64_t reloads = 0, reloads_refused = 0, graph_changes = 0, errors = 0;
  int64_t started_ns = 0;
};

struct GraphState {
  uint64_t version = 0;  ///< grows with every change
  int64_t frame = 0;     ///< the first frame that is made with it
  GraphDesc graph;       ///< resolved, with all that was asked for
  std::string summary;
};

class ControlTarget {
 public:
  virtual ~ControlTarget() = default;

  virtual const Registry& registry() const = 0;
  virtual RunState state() const = 0;
  /// With everything that was posted, applied or not: who sets a value reads it back.
  virtual GraphState graph() const = 0;
  virtual std::vector<PassStats> timings() const = 0;
  virtual std::vector<Profiler::Histogram> histograms() const = 0;
  virtual std::vector<NodeStatistics> statistics() const = 0;

  /// False when too many commands are waiting.
  virtual bool post(Command command) = 0;

  virtual void set_graph(GraphDesc graph, Reply reply) = 0;
  virtual void load(std::string url, Reply reply) = 0;
  /// Reads the configuration again; all of it applies or none.
  virtual void reload(Reply reply) = 0;
  /// Writes the newest frame below the folder for captures; empty: a name made from source and time.
  virtual void snapshot(std::string path, Reply reply) = 0;
  /// Writes the last seconds of every stage as a Chrome trace below the folder for captures.
  virtual void trace(std::string path, Reply reply) = 0;
  /// Starts recording, below the folder for recordings (empty path: a name as [record] says), or stops.
  /// Answers when the file is there, or complete.
  virtual void record(bool on, StartRecord what, Reply reply) = 0;
  virtual void quit() = 0;

  /// Encodes the newest frame, in the caller's time. Null where there is none that was made after
  /// `made_after_ns` (FrameInfo::processed_ns). Throws Error(runtime_failure).
  virtual std::shared_ptr<const EncodedPicture> picture(PictureType type, int64_t made_after_ns) = 0;
};

}  // namespace lensd

// The interface through which control clients read and change the running program.
//
//   socket, HTTP ──▶ run_command() ──▶ ControlTarget (app/serve/session) ──▶ Pipeline, source, files
//
// Thread-safe. Only picture() waits. Requests that plan a graph, open a source or write a file report their
// result through a Reply, which is called exactly once, from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/graph/exec/executor.hpp"
#include "core/image/frame.hpp"
#include "core/pipeline/command.hpp"
#include "core/pipeline/pipeline_status.hpp"

namespace lensd {

using Json = nlohmann::json;

/// The result of a request. HTTP maps it to a status code.
enum class Status : uint8_t {
  ok,
  usage,      ///< wrong arguments
  not_found,  ///< no such command, property or node
  refused,    ///< valid arguments, but not possible: out of range, incompatible, not seekable
  busy,       ///< too many requests, or no source yet; try again
  failed,     ///< an error occurred while the request was carried out
};

struct Response {
  Status status = Status::ok;
  std::string error;  ///< a sentence; empty if status is ok
  Json data;

  bool ok() const noexcept { return status == Status::ok; }
};
using Reply = std::function<void(Response)>;

/// Changes a resolved graph. Returns why the change is refused, or data for the reply.
using GraphEdit = std::function<Response(GraphDesc&)>;

/// The state of the run. URLs and messages contain no passwords or tokens.
struct RunState : PipelineStatus {
  std::string source_url, source_name, source_state, source_reason, source_detail;
  std::string backend, backend_reason;
  size_t device_bytes = 0;  ///< GPU memory of the graph
  bool live_source = false, seekable = false;
  double source_fps = 0, rate = 0;  ///< rate: processed frames per second, measured over one second
  int64_t duration_ns = 0;
  Extent picture;  ///< size of the source's upright picture
  std::vector<std::pair<std::string, Extent>>
      sizes;                              ///< sizes of the source and of the running nodes' outputs, by id
  std::vector<std::string> video_tracks;  ///< see SourceInfo
  int video_track = 0;
  SinkStatus record, stream;  ///< stream.path is empty if there is no stream
  SinkStatus virtual_camera;
  bool alive = true;  ///< true while the pipeline's threads make progress
  uint64_t reloads = 0, reloads_refused = 0, graph_changes = 0, errors = 0;
  int64_t started_ns = 0;
};

struct GraphState {
  uint64_t version = 0;  ///< increases with every change
  int64_t frame = 0;     ///< index of the first frame processed with this graph
  GraphDesc graph;       ///< resolved graph with the requested values of all parameters
  std::string summary;
};

struct Measurements {
  std::vector<PassStats> timings;
  std::vector<NodeStatistics> statistics;
};

enum class PictureType : uint8_t { png, jpeg };

/// A frame as the bytes of an image file.
struct EncodedPicture {
  std::string bytes;
  FrameInfo frame;
};

class ControlTarget {
 public:
  virtual ~ControlTarget() = default;

  virtual const Registry& registry() const = 0;
  virtual RunState state() const = 0;
  /// Includes posted changes that are not applied yet, so that a client reads back the value it set.
  virtual GraphState graph() const = 0;
  virtual Measurements measurements() const = 0;
  /// Returns the controls of a camera; null if the source has none.
  virtual std::shared_ptr<const SourceControls> source_controls() const { return nullptr; }

  /// Queues a command that does not change a value of the graph. Returns false if the command queue is full
  /// or no pipeline runs.
  virtual bool post(Command command) = 0;
  /// Queues changes of the graph and its settings. If one of them needs a new plan, as settings do, replies
  /// when they take effect or are refused; otherwise replies at once. Sets Batch::request and Batch::claim.
  virtual void change_graph(Batch batch, Reply reply) = 0;

  virtual void set_graph(GraphDesc graph, Reply reply) = 0;
  /// Applies `edit` to the current graph, then plans the result like set_graph(). `edit` is called at most
  /// once, from any thread, and must not block or call this object. Replies with the data that `edit` returns
  /// and with "frame", the index of the first frame with the new graph.
  virtual void edit_graph(GraphEdit edit, Reply reply) = 0;
  virtual void load(std::string url, Reply reply) = 0;
  /// Reads the configuration again. Applies all of it, or nothing if it has a problem.
  virtual void reload(Reply reply) = 0;
  /// Writes the newest frame to the file `path` in the configured [control] folder. If `path` is empty, the
  /// name consists of local time and frame index.
  virtual void snapshot(std::string path, Reply reply) = 0;
  /// Writes the last seconds of every stage as a Chrome trace to the file `path` in the configured [control]
  /// folder. If `path` is empty, the name consists of local time and frame index.
  virtual void trace(std::string path, Reply reply) = 0;
  /// Starts a recording in the configured [record] folder, or stops the recording if `on` is false. If
  /// `what.path` is empty, uses [record] name. Replies when the file has a picture (start) or is complete
  /// (stop), after a failure, or after waiting 2 s (start) or 8 s (stop; Status::busy).
  virtual void record(bool on, StartRecord what, Reply reply) = 0;
  /// Offers the output as a camera to other programs, or withdraws the camera if `on` is false. An empty
  /// `name` means the configured or the default name. Replies when PipeWire has answered, or after
  /// waiting 300 ms.
  virtual void virtual_camera(bool on, std::string name, Reply reply) = 0;
  virtual void quit() = 0;

  /// Encodes the newest frame. Waits until the frame's pixels are ready and encoded. Returns null if there is
  /// no frame, if its FrameInfo::processed_ns is not later than `made_after_ns`, or if the program is
  /// stopping. Throws Error(unavailable) if the frame stays on the GPU, Error(runtime_failure) if it cannot
  /// be encoded.
  virtual std::shared_ptr<const EncodedPicture> picture(PictureType type, int64_t made_after_ns) = 0;
};

}  // namespace lensd

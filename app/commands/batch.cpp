// Batch runs: --headless, --output, --framehash or --tracks. Processes all frames as fast as possible.
//
// The main thread is the writer: it passes finished frames, in order, to the recorder, the frame hash and the
// track file. The decode and process threads work ahead.
//
// If frames go to a receiver or the virtual camera, and --output names no file, frames are processed in real
// time and the main thread only waits.

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <thread>

#include "app/commands/interruption.hpp"
#include "app/commands/track_file.hpp"
#include "app/ending.hpp"
#include "app/output_files.hpp"
#include "app/reports.hpp"
#include "app/run.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/text/printable.hpp"
#include "core/base/whole_file.hpp"
#include "core/media/hls_playlist.hpp"
#include "core/media/recorder.hpp"
#include "kernels/registry.hpp"

namespace lensd {
namespace {

/// At the end of a run, the sinks may read sound from the network for this long: kPatience if the run was
/// interrupted, else kUnlimited.
constexpr auto kPatience = QueueSink::kPatience, kUnlimited = std::chrono::milliseconds(1LL << 40);

/// Returns true if only errors are logged, as with -q, or nothing.
bool quiet() {
  const std::string level = log::level();
  return level == "error" || level == "off";
}

/// A progress line on a terminal, updated at most ten times per second. Not shown if quiet().
class BatchProgress {
 public:
  explicit BatchProgress(int64_t total)
      : total_(total), shown_(isatty(STDERR_FILENO) != 0 && !quiet()), begin_ns_(now_ns()) {}
  ~BatchProgress() {
    if (drawn_) std::fputs("\r\033[K", stderr);
  }
  void update(int64_t frames) {
    const int64_t now = now_ns();
    if (!shown_ || now - last_ns_ < 100'000'000) return;
    last_ns_ = now, drawn_ = true;
    const double seconds = std::max(1e-9, to_s(now - begin_ns_)), fps = static_cast<double>(frames) / seconds;
    if (total_ <= 0) {
      fmt::print(stderr, "\r{:>7} frames  {:.1f} fps\033[K", frames, fps);
    } else {
      const double done = std::min(1.0, static_cast<double>(frames) / static_cast<double>(total_));
      const int filled = static_cast<int>(done * 30);
      const auto eta = static_cast<int64_t>(static_cast<double>(total_ - frames) / std::max(fps, 1e-3));
      fmt::print(stderr, "\r[{:━<{}}{: <{}}] {:3.0f} %  {}/{}  {:.1f} fps  ETA {}:{:02}\033[K", "", filled,
                 "", 30 - filled, done * 100, frames, total_, fps, std::max<int64_t>(0, eta) / 60,
                 std::max<int64_t>(0, eta) % 60);
    }
    std::fflush(stderr);
  }

 private:
  int64_t total_;
  bool shown_, drawn_ = false;
  int64_t begin_ns_, last_ns_ = 0;
};

int64_t expected_frames(const SourceInfo& info, int64_t limit) {
  int64_t total = info.frame_count;
  if (total == 0 && info.duration_ns > 0 && info.fps > 0)
    total = std::llround(to_s(info.duration_ns) * info.fps);
  if (info.image) total = 1;
  return limit > 0 ? (total > 0 ? std::min(total, limit) : limit) : total;
}

struct Written {
  int64_t frames = 0;
  int signal = 0;             ///< signal that interrupted the run; 0: none
  bool source_ended = false;  ///< all frames of the source were written
  std::string path;
};

/// Returns the recorder of --output; null if the option is not given. `stop` interrupts reading the audio.
std::unique_ptr<Recorder> open_output_recorder(Pipeline& pipeline, const CommandLine& line,
                                               const std::atomic<bool>& stop) {
  if (line.output.empty()) return nullptr;
  const SourceInfo& info = pipeline.source();
  RecorderOptions options;
  if (line.config.output_url.empty()) {  // else [output] describes the stream
    EncoderOptions& encoder = options;
    encoder = line.stream;
    if (!line.config.has("output.crf")) encoder.crf.reset();  // the default of [output] crf is for streams
  }
  options.fps = info.fps > 0 ? info.fps : 25;
  options.still = info.image || line.frames == 1;
  options.pixel_aspect = pipeline.status().pixel_aspect;
  options.audio_from = audio_of(info, audio_choice(line));
  options.stop = &stop;
  // check_existing_files() has refused existing files, but another program may have created one since.
  options.overwrite = line.overwrite || is_special_file(line.output);
  options.dither = line.config.output_dither;
  options.tags = info.picture.working(line.config.colour.bt601), options.hdr = info.hdr;
  return open_recorder(line.output, pipeline.executor().plan()->output, options);
}

/// Writes frames until the pipeline has no more or a signal arrives. Throws Error if an output fails. Creates
/// `interruption`, which handles signals, when the outputs are open. Until then a signal ends the process,
/// because opening a pipe waits for its reader.
Written write_frames(Pipeline& pipeline, const CommandLine& line, std::optional<Interruption>& interruption) {
  std::atomic<bool> interrupted{false};
  std::unique_ptr<FrameHash> hashes =
      line.framehash.empty()
          ? nullptr
          : std::make_unique<FrameHash>(line.framehash, existing_rule(line, "--framehash", line.framehash));
  const std::unique_ptr<TrackFile> tracks =
      line.tracks.empty()
          ? nullptr
          : std::make_unique<TrackFile>(line.tracks, existing_rule(line, "--tracks", line.tracks));
  const std::unique_ptr<Recorder> recorder = open_output_recorder(pipeline, line, interrupted);
  Profiler& profiler = pipeline.profiler();
  const auto encode = recorder ? profiler.scope("encode", recorder->path()) : Profiler::Scope();
  BatchProgress progress(expected_frames(pipeline.source(), line.frames));
  Written written;
  interruption.emplace();
  const OnInterruption end_waiting(*interruption, [&] {
    interrupted = true;
    pipeline.end_early();  // ends the wait in next_frame()
  });
  while (Frame frame = pipeline.next_frame()) {
    frame.wait_ready();
    if (frame.info.placeholder) continue;
    const int64_t begin = now_ns();
    if (recorder) {
      recorder->write(frame.image(), frame.info);
      profiler.record(encode, now_ns() - begin);
    }
    if (hashes) hashes->write(frame.image(), frame.info);
    if (tracks) tracks->write(frame.tracks(), frame.info);
    progress.update(++written.frames);
    if (interruption->requested()) break;
  }
  written.signal = interruption->signal();
  written.source_ended = written.signal == 0 && (line.frames == 0 || written.frames < line.frames);
  if (recorder) {
    if (written.source_ended) recorder->source_ended();
    recorder->finish();
    written.path = recorder->path();
  }
  if (hashes) hashes->finish();
  if (tracks) tracks->finish();
  return written;
}

/// Throws EndBySignal if a signal has interrupted the run. Call when all files are complete.
void end_if_interrupted(const Written& written, const std::string& file) {
  if (written.signal == 0) return;
  std::string message = fmt::format("interrupted after {} frames", written.frames);
  if (!file.empty()) message += fmt::format("; {} is complete up to that point", printable(file));
  throw EndBySignal{written.signal, message};
}

/// Warns if the source delivers fewer frames than the user may expect.
void warn_of_missing_frames(const CommandLine& line, const SourceInfo& info) {
  if (const std::string missing = first_gap(source_url(line)); !missing.empty())
    log::warn("{} is missing: the sequence ends there, although later files exist", missing);
  if (line.start && info.duration_ns > 0 && line.start->seconds >= to_s(info.duration_ns))
    log::warn("{}: --start is after its end at {:.3f} s; starts at the last frame", info.name,
              to_s(info.duration_ns));
}

void log_notices(Pipeline& pipeline) {
  for (const Notice& n : pipeline.take_notices())
    n.problem ? log::warn("{}", n.text) : log::info("{}", n.text);
}

/// Waits while the sinks send the frames, and logs the pipeline's notices. Creates `interruption`, which
/// handles signals.
Written send_frames(Pipeline& pipeline, std::optional<Interruption>& interruption) {
  interruption.emplace();
  Written written;
  for (PipelineStatus now; !now.ended && !now.failed && !interruption->requested();) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    pipeline.take_newest();
    log_notices(pipeline);
    now = pipeline.status();
    written.frames = static_cast<int64_t>(now.processed);
  }
  written.signal = interruption->signal();
  written.source_ended = written.signal == 0 && pipeline.status().ended;
  return written;
}

/// The sinks of a run, which run in parallel with the writer. Each may be null.
struct BatchSinks {
  std::shared_ptr<RecorderSink> recorder;
  std::shared_ptr<StreamSink> stream;
  std::shared_ptr<VirtualCameraSink> camera;

  BatchSinks(const CommandLine& line, const SourceInfo& source) : stream(make_stream(line, source)) {
    if (!line.record.empty()) recorder = make_recorder(line, source);
    if (!line.config.output_virtual_camera.empty())
      camera = std::make_shared<VirtualCameraSink>(make_virtual_camera(line), source);
  }
  void add_to(PipelineOptions& options) const {
    if (recorder) options.sinks.push_back(recorder);
    if (stream) options.sinks.push_back(stream);
    if (camera) options.sinks.push_back(camera), options.executor.frames += kFramesForCamera;
  }
  /// Waits for the sinks: for kPatience after a signal, else without a limit, so that a slow encoder does not
  /// cut the sound of a recording. Sets `written.signal` if a signal arrives during the wait.
  void finish(Written& written, const Interruption& interruption) const {
    const auto patience = written.signal ? kPatience : kUnlimited;
    std::unique_ptr<OnInterruption> on_signal;
    if (!written.signal && (recorder || stream))
      on_signal = std::make_unique<OnInterruption>(
          interruption,
          [this] {
            if (recorder) recorder->end_waits();
            if (stream) stream->end_waits();
          },
          kPatience);
    if (recorder && written.source_ended) recorder->source_ended();
    if (stream && written.source_ended) stream->source_ended();
    finish_sinks({recorder, stream, camera}, patience);
    written.signal = interruption.signal();
  }
  /// Throws Error(runtime_failure) if a sink failed. After a signal, only logs that the stream failed.
  void check(const Written& written) const {
    if (recorder) check(*recorder, written);
    if (stream && written.signal && !stream->failure().empty())
      log::print(fmt::format("lensd: {}\n", stream->failure()));
    else if (stream)
      check(*stream, written);
    if (camera) check(*camera, written);
  }
  /// Returns the file of the run, or an empty string if there is none or it is not complete.
  std::string complete_file(const Written& written) const {
    if (written.frames == 0) return {};
    if (!written.path.empty() && written.path != "null:") return written.path;
    return recorder && recorder->failure().empty() ? recorder->status().path : std::string();
  }

 private:
  void check(const QueueSink& sink, const Written& written) const {
    if (sink.failure().empty()) return;
    std::string message = sink.failure();
    const char* const until = written.signal ? " up to that point" : "";
    if (const std::string file = complete_file(written); !file.empty())
      message += fmt::format("; {} is complete{}", printable(file), until);
    throw Error(ExitCode::runtime_failure, "", message);
  }
};

void check_track_output(Pipeline& pipeline, const CommandLine& line) {
  if (!line.tracks.empty() && pipeline.executor().plan()->tracks_offset < 0)
    throw Error(ExitCode::usage, "--tracks", "no tracks reach the graph's output",
                "add a klt node to the graph, for example --graph klt");
}

/// Returns the lines of the summary about the outputs other than --output.
std::string outputs_text(const CommandLine& line, const BatchSinks& sinks) {
  std::string text;
  const auto number = [](int64_t frames) {
    return fmt::format("{} frame{}", frames, frames == 1 ? "" : "s");
  };
  if (sinks.recorder)
    if (const SinkStatus s = sinks.recorder->status(); s.frames > 0)
      text += fmt::format("{} recorded to {}{}\n", number(s.frames), printable(s.path),
                          s.files > 1 ? fmt::format(", the last of {} files", s.files) : "");
  if (sinks.stream) {
    const SinkStatus s = sinks.stream->status();
    text += fmt::format("{} {} to {}{}\n", number(s.frames), is_playlist(s.path) ? "written" : "sent",
                        printable(s.path), s.dropped > 0 ? fmt::format(", {} dropped", s.dropped) : "");
  }
  if (!line.tracks.empty()) text += fmt::format("tracks written to {}\n", printable(line.tracks));
  if (!line.framehash.empty()) text += fmt::format("frame hashes written to {}\n", printable(line.framehash));
  return text;
}

void print_summary(Pipeline& pipeline, const Written& written, double seconds, const char* backend,
                   const std::string& outputs) {
  fmt::print("{}{}", timings_text(pipeline.profiler().snapshot()), outputs);
  fmt::print("{} frame{} in {:.2f} s ({:.1f} fps) on {}{}{}\n", written.frames,
             written.frames == 1 ? "" : "s", seconds,
             static_cast<double>(written.frames) / std::max(seconds, 1e-9), backend,
             written.path.empty() ? "" : ", written to ", printable(written.path));
}

}  // namespace

void run_batch(const CommandLine& line, const GraphDesc& graph) {
  const BackendChoice choice = choose_backend(line.config.backend, line.config.device);
  SourceOptions setup = source_options(line, choice.backend);
  const bool files = !line.record.empty() || (!line.output.empty() && line.output != "null:");
  if (files || !line.config.output_url.empty()) setup.live.audio = live_audio(line, source_url(line));
  auto source = open_source(source_url(line), setup);
  warn_of_missing_frames(line, source->info());
  if (const std::string text = controls_obstacle(line, source_url(line)); !text.empty())
    log::warn("{}", text);

  PipelineOptions options = pipeline_options(line, choice.backend, 6 + 2 * kFramesForSinks);
  options.graph = graph;
  const BatchSinks sinks(line, source->info());
  sinks.add_to(options);
  // Send in real time, unless line.output needs all frames at full speed.
  options.paced = (sinks.stream || sinks.camera) && line.output.empty();
  if (options.paced && (!line.framehash.empty() || !line.tracks.empty()))
    throw Error(ExitCode::usage, sinks.stream ? sinks.stream->status().path : "--virtual-camera",
                "--framehash and --tracks need a file as output",
                sinks.stream ? "add -o null: and name the receiver as [output] url" : "add -o null:");
  Pipeline pipeline(std::move(source), options, registry());
  log::info("{}", pipeline.graph()->summary);
  check_track_output(pipeline, line);

  const int64_t begin = now_ns();
  if (sinks.recorder) pipeline.post(record_command(line));
  if (!pipeline.start()) pipeline.check();  // before outputs are opened
  std::optional<Interruption> interruption;
  Written written =
      options.paced ? send_frames(pipeline, interruption) : write_frames(pipeline, line, interruption);
  const double seconds = to_s(now_ns() - begin);
  pipeline.stop();
  sinks.finish(written, *interruption);
  interruption.reset();

  log_notices(pipeline);
  write_reports(line, pipeline, PipeReader::may_be_slow);
  if (!quiet())
    print_summary(pipeline, written, seconds, name(pipeline.backend(choice).backend),
                  outputs_text(line, sinks));
  if (const std::string stream_errors = pipeline.source_errors(); !stream_errors.empty())
    log::print(fmt::format("lensd: {}: {}\n", pipeline.source().name, stream_errors));
  pipeline.check();
  sinks.check(written);
  end_if_interrupted(written, sinks.complete_file(written));
  if (written.frames == 0)
    throw Error(ExitCode::bad_source, pipeline.source().name, "no frame could be decoded", "is it a video?");
}

}  // namespace lensd

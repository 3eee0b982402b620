// The run modes of lensd, and functions that they share. All may throw Error.
#pragma once

#include <memory>
#include <string>

#include "app/cli.hpp"
#include "app/pipeline/pipeline.hpp"
#include "app/pipeline/recorder_sink.hpp"
#include "app/pipeline/stream_sink.hpp"
#include "app/pipeline/virtual_camera_sink.hpp"

namespace lensd {

void run_viewer(const CommandLine& line, const GraphDesc& graph);
void run_batch(const CommandLine& line, const GraphDesc& graph);
/// Runs the daemon. Returns after a signal or the command `quit`.
void run_serve(const CommandLine& line, const GraphDesc& graph);
/// Sends a command to a running lensd and prints the reply. After `observe`, also prints events until a
/// signal arrives.
void run_ctl(const CommandLine& line);
void run_filters(const CommandLine& line);
void run_doctor(const CommandLine& line);
void run_bench(const CommandLine& line);
/// Checks configuration files and prints all problems, or prints the JSON Schema. Throws
/// Error(invalid_config) if there is a problem, Error(usage) if no file is named.
void run_check(const CommandLine& line);
/// Prints the manual page.
void run_manual();
/// Prints the completion script of a shell.
void run_completion(const CommandLine& line);
/// Prints the candidates for the last of `words`, for completion scripts.
void run_complete(const std::vector<std::string>& words);

/// Returns the camera that choose_camera() selects among those of this computer. Waits at most 500 ms for
/// PipeWire. Thread-safe.
std::string first_camera();
/// Returns the configured source, else the default of the run mode.
std::string source_url(const CommandLine& line);
/// Returns why source_url() has chosen no camera.
std::string no_camera_reason();
/// Returns `url`, with the alias test:demo resolved.
std::string playable_url(const std::string& url);
SourceOptions source_options(const CommandLine& line, Backend backend);
/// Returns the pipeline options that the command line sets. `frames`: number of frames without those that
/// sinks hold.
PipelineOptions pipeline_options(const CommandLine& line, Backend backend, int frames);
/// Returns why --loop-file or --speed has no effect with the source. Returns an empty string if they are not
/// given or have an effect.
std::string playback_obstacle(const CommandLine& line, const SourceInfo& source);

/// Returns why --source-control or [source.controls] has no effect with the source `url`. Returns an empty
/// string if they are not given or have an effect. In the viewer, also returns an empty string if only
/// [source.controls] is given or there is no SOURCE, because a camera may be opened later.
std::string controls_obstacle(const CommandLine& line, const std::string& url);

/// Maximum number of frames that a sink holds: those in its queue and the one that it processes.
inline constexpr int kFramesForSinks = kSinkFrames + 1;
/// Maximum number of frames that the virtual camera's sink holds.
inline constexpr int kFramesForCamera = kCameraFrames + 1;
/// Returns the audio that outputs copy.
AudioChoice audio_choice(const CommandLine& line);
/// Returns the object that receives the audio of the network stream `url`; null for other sources and with
/// --no-audio.
std::shared_ptr<LiveAudio> live_audio(const CommandLine& line, const std::string& url);
/// Returns the sink that records the run. Throws Error(usage) if a file name has no video extension.
std::shared_ptr<RecorderSink> make_recorder(const CommandLine& line, const SourceInfo& source);
/// Returns the sink that sends to [output] url, or null if the key is not set. Throws Error(usage) if the URL
/// is too long or not a stream target.
std::shared_ptr<StreamSink> make_stream(const CommandLine& line, const SourceInfo& source);
/// Returns the virtual camera of the run. Starts it if [output] virtual_camera is set. Throws
/// Error(unavailable) if it cannot start because libpipewire is missing.
std::shared_ptr<VirtualCamera> make_virtual_camera(const CommandLine& line);
/// Adds the recorder, the sink of make_stream() if there is one, and the virtual camera to the options.
/// Increases the number of frames by the number that these sinks hold.
void add_sinks(PipelineOptions& options, const CommandLine& line, const SourceInfo& source,
               std::shared_ptr<RecorderSink> recorder, std::shared_ptr<VirtualCamera> camera);
/// Returns the command that starts the recording of --record. `again`: a later recording of
/// the run, which keeps an existing file and gets the next free number.
StartRecord record_command(const CommandLine& line, bool again = false);

}  // namespace lensd

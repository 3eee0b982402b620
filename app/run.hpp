// The ways of running lensd; one .cpp file each. Every function returns when its work is done and throws
// Error when it cannot be done.
#pragma once

#include <memory>
#include <string>

#include "app/cli.hpp"
#include "app/pipeline/pipeline.hpp"
#include "app/pipeline/recorder_sink.hpp"
#include "app/pipeline/stream_sink.hpp"

namespace lensd {

void run_viewer(const CommandLine& line, const GraphDesc& graph);
void run_batch(const CommandLine& line, const GraphDesc& graph);
/// Runs until a signal or `quit` ends it.
void run_serve(const CommandLine& line, const GraphDesc& graph);
/// Sends one command to a running lensd and prints the answer.
void run_ctl(const CommandLine& line);
void run_filters(const CommandLine& line);
void run_doctor(const CommandLine& line);
/// lensd bench. Throws Error.
void run_bench(const CommandLine& line);
/// Prints every problem of every file; throws Error(invalid_config) when there was one.
void run_check(const CommandLine& line);

/// The source that runs when none is named, and the alias test:demo.
std::string source_url(const CommandLine& line);
/// What stands for the alias test:demo; anything else as it is.
std::string playable_url(const std::string& url);
SourceOptions source_options(const CommandLine& line, Backend backend);

/// Frames that sinks may hold beside those that the display needs.
inline constexpr int kFramesForSinks = kSinkFrames + 1;
/// The recorder of a run; the one that --record asked for begins with the first frame. Throws Error(usage)
/// for a file that is no video.
std::shared_ptr<RecorderSink> make_recorder(const CommandLine& line, const SourceInfo& source);
/// What [output] or `-o ADDRESS` asks for; null: nothing. Throws Error(usage).
std::shared_ptr<StreamSink> make_stream(const CommandLine& line, const SourceInfo& source);
/// What --record asks for.
StartRecord record_command(const CommandLine& line);

/// The timings table as aligned text, CSV or JSON.
std::string timings_text(const std::vector<PassStats>& rows);
void write_timings(const std::string& path, const std::vector<PassStats>& rows);
/// Writes a whole text file. Throws Error(runtime_failure).
void write_text(const std::string& path, const std::string& text);

}  // namespace lensd

// [record] and [output] as settings of recorder and restream.

#include <utility>

#include "app/cli.hpp"
#include "core/media/stream_output.hpp"

namespace lensd {

void apply_record_config(const Config& config, CommandLine& line) {
  RecordSettings& r = line.recording;
  r.folder = config.record_folder.value_or(r.folder);
  r.name = config.record_name.value_or(r.name);
  r.encoder.codec = config.record_codec.value_or("");
  r.encoder.preset = config.record_preset.value_or("");
  r.encoder.crf = config.record_crf;
  r.encoder.bitrate_kbit = config.record_bitrate.value_or(0);
  r.split_seconds = config.record_split_seconds.value_or(0);
  r.split_megabytes = config.record_split_megabytes.value_or(0);
  r.keep_minutes = config.record_keep_minutes.value_or(0);
  r.keep_gigabytes = config.record_keep_gigabytes.value_or(0);
  r.preroll_seconds = config.record_preroll_seconds.value_or(0);
  r.preroll_megabytes = config.record_preroll_megabytes.value_or(r.preroll_megabytes);

  // On the command line a receiver is an output like any other.
  if (is_stream_target(line.output))
    line.output_url = std::exchange(line.output, {});
  else
    line.output_url = config.output_url.value_or("");
  line.stream.codec = config.output_codec.value_or("");
  line.stream.preset = config.output_preset.value_or("");
  line.stream.crf = config.output_crf.value_or(23);
  line.stream.bitrate_kbit = config.output_bitrate.value_or(0);
}

}  // namespace lensd

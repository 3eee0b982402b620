// What became of every picture, counted by reason.
//
//   live:  received + placeholders = replaced_source + replaced_graph + skipped + processed + under way
//   all:   processed + made_again  = shown + not_shown + under way
//
// Plain data. Counters of the recorder and of the stream are of frames that were shown all the same; late
// and repeated ones were shown, but not when they should have been.
#pragma once

#include <cstdint>
#include <string>

namespace lensd::ui {

struct FrameCounts {
  uint64_t received = 0, placeholders = 0;  ///< live: pictures that came, and those that said that none came
  uint64_t replaced_source = 0;             ///< live: a newer one came before the decoder's thread took it
  uint64_t replaced_graph = 0;              ///< live: a newer one came while the graph was at work
  uint64_t skipped = 0;                     ///< live: they came while paused
  uint64_t processed = 0, made_again = 0;   ///< new ones; held ones with other parameters
  uint64_t shown = 0, not_shown = 0;        ///< not shown: a newer one was finished before the display's turn
  uint64_t late = 0;      ///< shown more than a frame's time after theirs: graph or decoder are too slow
  uint64_t repeated = 0;  ///< frame times through which an older frame stayed on the display
  uint64_t recorder = 0, stream = 0;  ///< live: missing in the recording, in what is sent

  uint64_t replaced() const { return replaced_source + replaced_graph; }
  /// What the transport bar calls drops: pictures that nobody saw in their time.
  uint64_t drops() const { return replaced() + late + recorder + stream; }
};

/// All reasons with their numbers, a line each; what a file cannot have is left out.
std::string frame_count_lines(const FrameCounts& counts, bool live);

}  // namespace lensd::ui

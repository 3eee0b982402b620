// Maps the timestamps of a file that was joined from several (`cat a.ts b.ts`) to one timeline. They jump
// back at each join.
//
//   JoinedParts::find() ──▶ parts: where each begins, and its place on the timeline
//   place()      timestamps of a packet, by its position in the file ──▶ timeline
//   move()       timeline ──▶ position in the file
//
// Each part begins one nominal duration after the last picture of the previous part. The parts depend on the
// file's content only, so all readers of a file have the same timeline. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/media/ffmpeg/interrupt.hpp"
#include "core/media/input/times/pes_times.hpp"

namespace lensd {

class JoinedParts {
 public:
  /// Finds the parts of an MPEG transport or program stream in a regular file. Returns null for other files,
  /// for files of one part, and after an interruption. Reads files of up to 64 MB completely. In larger ones,
  /// compares the timestamps at 64 places, and may miss parts that are shorter than two of these intervals.
  /// Keeps the position of the context's AVIOContext.
  static std::unique_ptr<JoinedParts> find(AVFormatContext& context, AVStream& video, const StopFlags& stop);

  /// Converts the timestamps of the stream's next packet to the timeline.
  void place(AVPacket& packet) noexcept;
  /// Returns the position in the file of the last picture that is decoded at or before `ticks` of the
  /// timeline. Changes the position of `io`. The demuxer must continue there.
  int64_t move(AVIOContext& io, int64_t ticks);
  /// Returns the duration of all parts together.
  int64_t duration() const noexcept;

 private:
  struct Part {
    PesTime begin, end;      ///< the first and the last picture in the file
    int64_t first_pts = 0;   ///< smallest PTS near the beginning
    int64_t length = 0;      ///< greatest PTS, relative to first_pts
    int64_t start = 0;       ///< first_pts on the timeline
    int pictures = 0;        ///< number of pictures that were read
    bool goes_back = false;  ///< its times begin before the end of the previous part
  };
  class Finder;

  JoinedParts(const AVStream& video, bool transport, std::vector<Part> parts, int64_t frame_ticks);
  const Part& part_of(int64_t ticks) const noexcept;
  bool fits_before_join(const Part& part, const Part& next, int64_t ticks) const noexcept;

  const AVStream& video_;
  const bool transport_;
  std::vector<Part> parts_;
  const int64_t frame_ticks_;    ///< nominal duration of a picture
  int64_t packet_position_ = 0;  ///< position of the last packet that had one
  std::optional<int64_t> last_;  ///< time of the last packet on the timeline
};

}  // namespace lensd

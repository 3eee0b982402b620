// Counts the pictures before a position after a seek, with the index of the file.
//
// If the index lists every packet, it gives the number of packets before the first one that is read after a
// seek. The first one is a key frame, and no earlier packet is shown after it. The pictures before a time are
// therefore the packets before the key frame, and the packets from the key frame on with an earlier time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

struct AVFormatContext;
struct AVPacket;
struct AVStream;

namespace lensd {

class PacketCount {
 public:
  /// Call after the demuxer was opened or has moved, before the next packet is read.
  void restart(const AVFormatContext* context);
  /// Call for each packet of the stream.
  void read(AVStream& stream, const AVPacket& packet);
  /// Ends counting until restart().
  void stop();

  /// Returns the number of pictures before a time of the stream. Returns nullopt if the index does not list
  /// every packet, or if packets have no times.
  std::optional<int64_t> before(int64_t stamp_ns) const;

 private:
  bool active_ = false, first_ = false;
  std::optional<int64_t> earlier_;  ///< number of pictures before the first packet
  std::vector<int64_t> times_ns_;   ///< times of the packets since the first one
};

/// Detects whether a file has a constant frame rate.
class RateWatch {
 public:
  explicit RateWatch(int64_t nominal_ns = 0) : nominal_ns_(nominal_ns) {}
  /// Call for each picture. `follows`: no picture between the previous one and this one was skipped.
  void add(int64_t pts_ns, bool follows);
  /// Call after a seek to a picture that begins at `pts_ns`. At a constant rate of `fps`, this is a multiple
  /// of a picture's duration.
  void landed(int64_t pts_ns, double fps);
  bool varies() const { return varies_; }

 private:
  int64_t nominal_ns_, last_ns_ = 0;
  bool varies_ = false;
};

/// Returns the rate to estimate the number of frames before a time: `fps`, unless the container's mean
/// differs clearly because the rate varies.
double mean_rate(double fps, const AVStream& stream);

}  // namespace lensd

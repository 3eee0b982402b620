// Detects that the sender of an MPEG transport stream changes the codec of a stream, for example because it
// has restarted.
//
//   transport packets ── put() ──▶ program map tables ──▶ changed()
//
// FFmpeg's demuxer keeps the first codec of a PID, and assigns it to the data of the new codec, too. Not
// thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace lensd {

class ProgramWatch {
 public:
  /// Sets the PIDs to watch; -1: none. The next table with these PIDs defines their codecs. Other programs,
  /// which may have the same pictures, are ignored.
  void watch(int video, int audio) noexcept;
  /// Takes a transport packet of 188 bytes.
  void put(std::span<const uint8_t> packet) noexcept;
  /// Returns true if a later table gives a watched PID another codec, or no longer has it.
  bool changed() const noexcept { return changed_; }

 private:
  static constexpr size_t kMaxBytes = 1024;  ///< maximum size of a table

  void append(std::span<const uint8_t> part) noexcept;
  void read_table(int pid) noexcept;

  std::array<int, 2> pids_{-1, -1};
  int program_ = -1;                 ///< number of the watched program; -1: not known yet
  std::array<uint32_t, 2> kinds_{};  ///< see kind_of()
  bool changed_ = false;
  std::array<uint8_t, kMaxBytes> table_{};
  size_t filled_ = 0, size_ = 0;
  int table_pid_ = -1;  ///< PID of the incomplete table; -1: no table has begun
  int known_pid_ = -1;  ///< PID of the table that set kinds_
};

}  // namespace lensd

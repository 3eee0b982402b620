#include "core/media/live/mpegts/program_watch.hpp"

extern "C" {
#include <libavutil/crc.h>
}

#include <algorithm>
#include <utility>

namespace lensd {
namespace {

// ISO/IEC 13818-1, 2.4.4.8: sizes and offsets of a program map table.
constexpr uint8_t kTableId = 2;
constexpr size_t kTableHead = 12, kStreamHead = 5, kCrcBytes = 4, kFewestBytes = kTableHead + kCrcBytes;

size_t number12(const uint8_t* p) {
  return (p[0] & 0x0Fu) << 8 | p[1];
}
int pid_at(const uint8_t* p) {
  return (p[0] & 0x1F) << 8 | p[1];
}

/// Returns true for descriptors that name the codec of private data: registration, AC-3, E-AC-3, DTS, AAC,
/// extension (DVB).
bool names_codec(uint8_t tag) {
  return tag == 0x05 || tag == 0x6A || (tag >= 0x7A && tag <= 0x7C) || tag == 0x7F;
}

/// Returns a non-zero number that is equal for streams of the same codec. Other descriptors, such as the
/// language, do not change it.
uint32_t kind_of(uint8_t type, std::span<const uint8_t> descriptors) {
  uint32_t kind = type + 1u;
  if (type != 0x06 && type < 0x80) return kind;  // not private
  while (descriptors.size() >= 2) {
    const uint8_t tag = descriptors[0];
    const auto content = descriptors.subspan(2, std::min<size_t>(descriptors[1], descriptors.size() - 2));
    const size_t name = tag == 0x05 ? 4 : tag == 0x7F ? 1 : 0;
    if (names_codec(tag)) {
      uint32_t part = tag;
      for (const uint8_t byte : content.first(std::min(name, content.size()))) part = part * 16777619u + byte;
      kind += part * 2654435761u;  // a sum, because the order may differ
    }
    descriptors = descriptors.subspan(2 + content.size());
  }
  return std::max(kind, 1u);
}

}  // namespace

void ProgramWatch::watch(int video, int audio) noexcept {
  pids_ = {video, audio};
  program_ = -1;
  changed_ = false;
}

void ProgramWatch::put(std::span<const uint8_t> packet) noexcept {
  const int pid = pid_at(packet.data() + 1);
  const bool damaged = packet[1] & 0x80, starts = packet[1] & 0x40, payload = packet[3] & 0x10;
  const size_t begin = packet[3] & 0x20 ? 5u + packet[4] : 4u;
  if (damaged || !payload || begin >= packet.size()) return;
  if (!starts) {
    if (pid == table_pid_) append(packet.subspan(begin));
    return;
  }
  const size_t at = begin + 1 + packet[begin];  // PES packets begin with two zeros: no table
  if (at + 3 > packet.size() || packet[at] != kTableId || !(packet[at + 1] & 0x80)) return;
  size_ = 3 + number12(&packet[at + 1]), filled_ = 0;
  table_pid_ = size_ >= kFewestBytes && size_ <= kMaxBytes ? pid : -1;
  if (table_pid_ >= 0) append(packet.subspan(at));
}

void ProgramWatch::append(std::span<const uint8_t> part) noexcept {
  const size_t bytes = std::min(part.size(), size_ - filled_);
  std::copy_n(part.begin(), bytes, table_.begin() + static_cast<std::ptrdiff_t>(filled_));
  filled_ += bytes;
  if (filled_ < size_) return;
  read_table(std::exchange(table_pid_, -1));
}

void ProgramWatch::read_table(int pid) noexcept {
  const bool intact = av_crc(av_crc_get_table(AV_CRC_32_IEEE), UINT32_MAX, table_.data(), size_) == 0;
  const bool current = table_[5] & 1;
  if (!intact || !current) return;
  std::array<uint32_t, 2> kinds{};
  const size_t end = size_ - kCrcBytes;
  for (size_t at = kTableHead + number12(&table_[10]); at + kStreamHead <= end;) {
    const size_t bytes = number12(&table_[at + 3]), next = at + kStreamHead + bytes;
    if (next > end) return;
    for (size_t i = 0; i < kinds.size(); ++i)
      if (pid_at(&table_[at + 1]) == pids_[i])
        kinds[i] = kind_of(table_[at], {&table_[at + kStreamHead], bytes});
    at = next;
  }
  const int program = table_[3] << 8 | table_[4];
  // Badly multiplexed streams have two programs with the same number. Ignore the table of the other program.
  if (pid != known_pid_ && kinds[0] == 0 && kinds[1] == 0) return;
  const bool has_all = kinds[0] != 0 && (pids_[1] < 0 || kinds[1] != 0);
  if (program_ < 0 && has_all) program_ = program, kinds_ = kinds, known_pid_ = pid;
  changed_ = changed_ || (program == program_ && kinds != kinds_);
}

}  // namespace lensd

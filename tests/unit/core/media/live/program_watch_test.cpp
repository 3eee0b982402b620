// ProgramWatch: only another codec on a watched PID is a change.
#include "core/media/live/mpegts/program_watch.hpp"

#include <gtest/gtest.h>

extern "C" {
#include <libavutil/crc.h>
}

#include <algorithm>
#include <vector>

#include "core/media/live/mpegts/pes_flush.hpp"

namespace lensd {
namespace {

using Table = std::vector<uint8_t>;
constexpr int kVideo = 0x100, kAudio = 0x101, kTablePid = 0x1000;
constexpr uint8_t kH264 = 0x1B, kHevc = 0x24, kAac = 0x0F, kMp2 = 0x03, kPrivate = 0x06;

struct Stream {
  int pid;
  uint8_t type;
  Table descriptors;
};

Table table_of(const std::vector<Stream>& streams, bool current = true, uint8_t program = 1) {
  Table table = {2, 0, 0, 0, program, static_cast<uint8_t>(0xC0 | current), 0, 0, 0xE1, 0, 0xF0, 0};
  for (const Stream& stream : streams) {
    table.insert(table.end(), {stream.type, static_cast<uint8_t>(0xE0 | stream.pid >> 8),
                               static_cast<uint8_t>(stream.pid & 0xFF), 0xF0,
                               static_cast<uint8_t>(stream.descriptors.size())});
    table.insert(table.end(), stream.descriptors.begin(), stream.descriptors.end());
  }
  const size_t length = table.size() + 4 - 3;
  table[1] = static_cast<uint8_t>(0xB0 | length >> 8), table[2] = static_cast<uint8_t>(length);
  const uint32_t crc = av_crc(av_crc_get_table(AV_CRC_32_IEEE), UINT32_MAX, table.data(), table.size());
  for (int byte = 0; byte < 4; ++byte) table.push_back(static_cast<uint8_t>(crc >> 8 * byte));
  return table;
}

class ProgramWatchTest : public testing::Test {
 protected:
  ProgramWatchTest() { watch_.watch(kVideo, kAudio); }

  /// Sends a table in as many packets as it needs, with packets of the audio between them.
  void send(const Table& table) {
    for (size_t at = 0; at < table.size();) {
      const bool start = at == 0;
      std::vector<uint8_t> packet = {0x47, static_cast<uint8_t>((start ? 0x40 : 0) | kTablePid >> 8),
                                     kTablePid & 0xFF, 0x10};
      if (start) packet.push_back(0);  // pointer
      const size_t part = std::min(PesFlush::kPacket - packet.size(), table.size() - at);
      packet.insert(packet.end(), table.begin() + static_cast<std::ptrdiff_t>(at),
                    table.begin() + static_cast<std::ptrdiff_t>(at + part));
      packet.resize(PesFlush::kPacket, 0xFF);
      watch_.put(packet);
      packet[1] = kAudio >> 8, packet[2] = kAudio & 0xFF;
      watch_.put(packet);
      at += part;
    }
  }
  /// Returns true if the second table is a change. Sends each twice, as transport streams repeat them.
  bool changes(const std::vector<Stream>& before, const Table& after) {
    send(table_of(before)), send(table_of(before));
    EXPECT_FALSE(watch_.changed());
    send(after), send(after);
    return watch_.changed();
  }

  ProgramWatch watch_;
};

TEST_F(ProgramWatchTest, AnotherCodecIsAChange) {
  const Stream video{kVideo, kH264, {}}, audio{kAudio, kAac, {}};
  EXPECT_TRUE(changes({video, audio}, table_of({video, {kAudio, kMp2, {}}})));
  watch_.watch(kVideo, kAudio);
  EXPECT_FALSE(watch_.changed());
  EXPECT_TRUE(changes({video, audio}, table_of({{kVideo, kHevc, {}}, audio})));
  watch_.watch(kVideo, kAudio);
  EXPECT_TRUE(changes({video, audio}, table_of({video, {kAudio + 1, kAac, {}}}))) << "another PID";
  watch_.watch(kVideo, -1);
  EXPECT_FALSE(changes({video, audio}, table_of({video, {kAudio, kMp2, {}}}))) << "not watched";
}

TEST_F(ProgramWatchTest, DescriptorsNameTheCodecOfPrivateData) {
  const Stream video{kVideo, kH264, {}}, ac3{kAudio, kPrivate, {0x6A, 1, 0}};
  const Table opus = {0x05, 4, 'O', 'p', 'u', 's'}, other = {0x05, 4, 'B', 'S', 'S', 'D'};
  EXPECT_TRUE(changes({video, ac3}, table_of({video, {kAudio, kPrivate, {0x7A, 1, 0}}})));
  watch_.watch(kVideo, kAudio);
  EXPECT_TRUE(changes({video, {kAudio, kPrivate, opus}}, table_of({video, {kAudio, kPrivate, other}})));
  watch_.watch(kVideo, kAudio);
  const Table ac3_name = {0x05, 4, 'A', 'C', '-', '3'}, ac4_name = {0x05, 4, 'A', 'C', '-', '4'};
  EXPECT_TRUE(changes({video, {kAudio, kPrivate, ac3_name}}, table_of({video, {kAudio, kPrivate, ac4_name}})))
      << "the last byte of the last descriptor counts";
  watch_.watch(kVideo, kAudio);
  const Table with_language = {0x0A, 4, 'd', 'e', 'u', 0, 0x6A, 2, 0x80, 0x42};
  EXPECT_FALSE(changes({video, ac3}, table_of({video, {kAudio, kPrivate, with_language}})));
}

TEST_F(ProgramWatchTest, OtherTablesAreNoChange) {
  const Stream video{kVideo, kH264, {}}, audio{kAudio, kAac, {}}, changed{kAudio, kMp2, {}};
  EXPECT_FALSE(changes({video, audio}, table_of({audio, video, {0x102, kMp2, {}}}))) << "one more track";
  EXPECT_FALSE(changes({video, audio}, table_of({{0x200, kH264, {}}, changed}, true, 2)))
      << "another program";
  const Stream other{0x201, kMp2, {}};
  EXPECT_FALSE(changes({video, audio}, table_of({video, other}, true, 2))) << "with the same pictures";
  watch_.watch(kVideo, kAudio);
  send(table_of({video, other}, true, 2));  // before the first table of the program
  EXPECT_FALSE(changes({video, audio}, table_of({video, other}, true, 2)));
  EXPECT_FALSE(changes({video, audio}, table_of({video, changed}, false))) << "not valid yet";
  Table damaged = table_of({video, changed});
  damaged.back() ^= 1;
  EXPECT_FALSE(changes({video, audio}, damaged));
  Table cut = table_of({video, changed});
  cut[2] = 5;
  EXPECT_FALSE(changes({video, audio}, cut));
}

TEST_F(ProgramWatchTest, TablesMayHaveSeveralPackets) {
  const Stream video{kVideo, kH264, Table(200, 0x99)};
  EXPECT_FALSE(changes({video, {kAudio, kAac, {}}}, table_of({video, {kAudio, kAac, {}}})));
  EXPECT_TRUE(changes({video, {kAudio, kAac, {}}}, table_of({video, {kAudio, kMp2, {}}})));
}

TEST_F(ProgramWatchTest, WithoutFlushingTheStreamIsUnchanged) {
  PesFlush flush(&watch_, false);
  std::vector<uint8_t> stream, out;
  for (const uint8_t type : {kAac, kMp2})
    for (int i = 0; i < 100; ++i) {
      const Table table = table_of({{kVideo, kH264, {}}, {kAudio, type, {}}});
      std::vector<uint8_t> packet = {0x47, 0x40 | kTablePid >> 8, kTablePid & 0xFF, 0x10, 0};
      packet.insert(packet.end(), table.begin(), table.end());
      packet.resize(PesFlush::kPacket, 0xFF);
      stream.insert(stream.end(), packet.begin(), packet.end());
    }
  for (size_t at = 0; at < stream.size(); at += 500)
    flush.pass(std::span(stream).subspan(at, std::min<size_t>(500, stream.size() - at)), out);
  EXPECT_TRUE(out == stream);
  EXPECT_TRUE(watch_.changed());
}

}  // namespace
}  // namespace lensd

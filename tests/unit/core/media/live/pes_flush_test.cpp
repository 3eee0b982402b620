// PesFlush inserts a packet after each PES packet if the sender stuffs only at the ends of PES packets. It
// changes nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "core/media/live/mpegts/pes_flush.hpp"

namespace lensd {
namespace {

using Bytes = std::vector<uint8_t>;
constexpr size_t kPacket = PesFlush::kPacket;
constexpr int kPid = 0x100;

bool begins(const uint8_t* p) {
  return p[1] & 0x40;
}
int pid_of(const uint8_t* p) {
  return (p[1] & 0x1F) << 8 | p[2];
}
bool inserted(const uint8_t* p) {  // one byte of payload, discontinuity indicator set
  return begins(p) && p[4] == 182 && p[5] == 0x80;
}

/// Writes transport streams of PES packets with stuffing at their ends.
class TsWriter {
 public:
  void pes(size_t size, bool with_length = false) {
    Bytes data{0, 0, 1, 0xE0, 0, 0, 0x80, 0x80, 5, 0x21, 0, 1, 0, 1};
    if (with_length)
      data[4] = static_cast<uint8_t>((size + 8) >> 8), data[5] = static_cast<uint8_t>(size + 8);
    for (size_t i = 0; i < size; ++i) data.push_back(static_cast<uint8_t>(i * 7 + 1));
    for (size_t at = 0; at < data.size();) at += packet(data, at, at == 0, 0);
  }
  /// Like pes(), but with stuffing also in the middle.
  void badly_stuffed_pes(size_t size) {
    Bytes data{0, 0, 1, 0xE0, 0, 0, 0x80, 0x80, 5, 0x21, 0, 1, 0, 1};
    data.resize(data.size() + size, 0x55);
    size_t at = packet(data, 0, true, 0);
    at += packet(data, at, false, 20);
    while (at < data.size()) at += packet(data, at, false, 0);
  }
  void other_pid() {
    Bytes p(kPacket, 0xFF);
    p[0] = 0x47, p[1] = 0x1F, p[2] = 0xFF, p[3] = 0x10;
    stream.insert(stream.end(), p.begin(), p.end());
  }

  Bytes stream;

 private:
  /// Writes one transport packet. Returns the number of payload bytes in it. `stuffing`: number of stuffing
  /// bytes, even if there is payload left.
  size_t packet(const Bytes& data, size_t at, bool start, size_t stuffing) {
    const bool clock = start;  // a PCR in the first packet, as common muxers write it
    const size_t field = clock ? 8 : 0, room = kPacket - 4 - field;
    const size_t part = std::min(room - stuffing - (stuffing && !field ? 1 : 0), data.size() - at);
    const size_t filler = room - part;
    Bytes p{0x47, static_cast<uint8_t>((start ? 0x40 : 0) | kPid >> 8), static_cast<uint8_t>(kPid & 0xFF),
            static_cast<uint8_t>((field + filler ? 0x30 : 0x10) | (counter_++ & 0xF))};
    if (field + filler) {
      p.push_back(static_cast<uint8_t>(field + filler - 1));
      if (field + filler > 1) p.push_back(clock ? 0x10 : 0);
      if (clock) p.resize(4 + field, 0);
      p.resize(4 + field + filler, 0xFF);
    }
    p.insert(p.end(), data.begin() + static_cast<std::ptrdiff_t>(at),
             data.begin() + static_cast<std::ptrdiff_t>(at + part));
    EXPECT_EQ(p.size(), kPacket);
    stream.insert(stream.end(), p.begin(), p.end());
    return part;
  }
  int counter_ = 0;
};

/// Passes `in` to `flush` in pieces of `piece` bytes. Returns the output.
Bytes pass(PesFlush& flush, const Bytes& in, size_t piece) {
  Bytes out;
  for (size_t at = 0; at < in.size(); at += piece)
    flush.pass({in.data() + at, std::min(piece, in.size() - at)}, out);
  return out;
}

/// Returns `out` without the inserted packets; `count` is their number. `from`: offset of the first packet.
Bytes without_inserted(const Bytes& out, size_t& count, size_t from = 0) {
  Bytes rest(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(from));
  count = 0;
  for (size_t at = from; at < out.size(); at += kPacket) {
    const size_t size = std::min(kPacket, out.size() - at);
    const bool is_inserted = size == kPacket && inserted(out.data() + at);
    count += is_inserted;
    if (!is_inserted)
      rest.insert(rest.end(), out.begin() + static_cast<std::ptrdiff_t>(at),
                  out.begin() + static_cast<std::ptrdiff_t>(at + size));
  }
  return rest;
}

class PesFlushPieces : public testing::TestWithParam<size_t> {};

TEST_P(PesFlushPieces, EndsAreInsertedAfterTwentyGoodPackets) {
  TsWriter writer;
  for (size_t i = 0; i < 100; ++i) {
    if (i % 3 == 0) writer.other_pid();
    writer.pes(500 + i * 37);
  }
  PesFlush flush;
  const Bytes out = pass(flush, writer.stream, GetParam());
  size_t count = 0;
  EXPECT_EQ(without_inserted(out, count), writer.stream);
  // No insertion after the first 20 PES packets, nor after those without stuffing.
  EXPECT_GE(count, 75u);
  EXPECT_LE(count, 80u);
  for (size_t at = 0; at + kPacket < out.size(); at += kPacket) {
    if (!inserted(out.data() + at)) continue;
    const uint8_t* before = out.data() + at - kPacket;
    const uint8_t* next = out.data() + at + kPacket;
    while (pid_of(next) != kPid) next += kPacket;
    EXPECT_EQ(pid_of(out.data() + at), kPid);
    EXPECT_TRUE(begins(next));
    EXPECT_EQ(out[at + 3] & 0xF, before[3] & 0xF);    // repeats the previous counter,
    EXPECT_EQ((before[3] + 1) & 0xF, next[3] & 0xF);  // so that the next one follows it
    EXPECT_FALSE(inserted(next));
  }
}

// Bytes per piece: a datagram, a packet, two sizes that split packets, the whole stream.
INSTANTIATE_TEST_SUITE_P(Reads, PesFlushPieces, testing::Values(1316, 188, 1000, 577, 1 << 20));

TEST(PesFlush, FindsPacketsAtAnyOffset) {
  TsWriter writer;
  for (int i = 0; i < 60; ++i) writer.pes(900);
  PesFlush flush;
  const Bytes in(writer.stream.begin() + 101, writer.stream.end());
  size_t count = 0;
  EXPECT_EQ(without_inserted(pass(flush, in, 1316), count, kPacket - 101), in);
  EXPECT_GE(count, 35u);
}

TEST(PesFlush, PesPacketsWithALengthNeedNoInsertion) {
  TsWriter writer;
  for (int i = 0; i < 60; ++i) writer.pes(900, true);
  PesFlush flush;
  EXPECT_EQ(pass(flush, writer.stream, 1316), writer.stream);
}

TEST(PesFlush, NoInsertionWithStuffingInTheMiddle) {
  TsWriter writer;
  for (int i = 0; i < 400; ++i) writer.badly_stuffed_pes(900);
  PesFlush flush;
  EXPECT_EQ(pass(flush, writer.stream, 1316), writer.stream);
}

TEST(PesFlush, OneMistakeDisablesInsertionForLong) {
  TsWriter writer;
  for (int i = 0; i < 50; ++i) writer.pes(900);
  for (int i = 0; i < 10; ++i) writer.badly_stuffed_pes(900);
  for (int i = 0; i < 190; ++i) writer.pes(900);
  PesFlush flush;
  const Bytes out = pass(flush, writer.stream, 1316);
  size_t count = 0;
  EXPECT_EQ(without_inserted(out, count), writer.stream);
  EXPECT_LE(count, 31u);  // 30 good PES packets after the first 20, and the first bad one
  EXPECT_GE(count, 25u);
}

TEST(PesFlush, OtherBytesPassUnchanged) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    Bytes noise(1 + random() % 5000);
    for (uint8_t& byte : noise) byte = static_cast<uint8_t>(random() % 4 ? random() : 0x47);
    PesFlush flush;
    const Bytes out = pass(flush, noise, 1 + random() % 1500);
    EXPECT_EQ(out, noise);
  }
}

TEST(PesFlush, CorruptStreamsLoseNoBytes) {
  std::mt19937 random(6);
  for (int round = 0; round < 50; ++round) {
    TsWriter writer;
    for (int i = 0; i < 60; ++i) writer.pes(300 + random() % 1500);
    for (int i = 0; i < 40; ++i)
      writer.stream[random() % writer.stream.size()] = static_cast<uint8_t>(random());
    const size_t cut = random() % writer.stream.size();
    writer.stream.erase(writer.stream.begin() + static_cast<std::ptrdiff_t>(cut),
                        writer.stream.begin() + static_cast<std::ptrdiff_t>(
                                                    std::min(cut + random() % 400, writer.stream.size())));
    PesFlush flush;
    const Bytes out = pass(flush, writer.stream, 1316);
    EXPECT_GE(out.size(), writer.stream.size());
    EXPECT_EQ((out.size() - writer.stream.size()) % kPacket, 0u);
  }
}

}  // namespace
}  // namespace lensd

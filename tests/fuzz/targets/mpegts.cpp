// The parsers of MPEG transport streams: PES packets that end early, program tables, pictures in PES packets.
#include <fuzzer/FuzzedDataProvider.h>

#include <cstring>

#include "core/media/live/mpegts/low_delay_parser.hpp"
#include "core/media/live/mpegts/pes_flush.hpp"
#include "tests/fuzz/common/require.hpp"

namespace lensd {
namespace {

using fuzz::require;
constexpr size_t kPacket = PesFlush::kPacket;

/// Returns true for a packet that PesFlush inserts: a discontinuity flag and stuffing in the adaptation
/// field, then a payload of one zero byte.
bool is_end(const uint8_t* p) {
  if (p[0] != 0x47 || p[4] != kPacket - 6 || p[5] != 0x80 || p[kPacket - 1] != 0) return false;
  for (size_t i = 6; i < kPacket - 1; ++i)
    if (p[i] != 0xFF) return false;
  return true;
}

/// Removes inserted packets.
std::vector<uint8_t> without_ends(const std::vector<uint8_t>& bytes) {
  std::vector<uint8_t> out;
  for (size_t i = 0; i < bytes.size();) {
    if (i + kPacket <= bytes.size() && is_end(&bytes[i]))
      i += kPacket;
    else
      out.push_back(bytes[i++]);
  }
  return out;
}

/// Checks that the output without the inserted packets equals the input.
void check_flush(FuzzedDataProvider& in) {
  ProgramWatch programs;
  programs.watch(in.ConsumeIntegralInRange(-1, 8191), in.ConsumeIntegralInRange(-1, 8191));
  PesFlush flush(&programs);
  std::vector<uint8_t> all, out;
  const bool repeat = in.ConsumeBool();  // enough PES packets for the heuristic
  std::vector<std::vector<uint8_t>> parts;
  while (in.remaining_bytes() > 0)
    parts.push_back(in.ConsumeBytes<uint8_t>(in.ConsumeIntegralInRange<size_t>(1, 2000)));
  for (int round = 0; round < (repeat ? 30 : 1); ++round)
    for (const auto& part : parts) {
      all.insert(all.end(), part.begin(), part.end());
      flush.pass(part, out);
    }
  if (without_ends(all) != all) return;  // the input itself contains such packets
  require((out.size() - all.size()) % kPacket == 0, "parts of packets are inserted");
  require(without_ends(out) == all, "the bytes of the input change");
}

void free_parameters(AVCodecParameters* parameters) {
  avcodec_parameters_free(&parameters);
}

/// Copies `bytes` to `packet`, with padding at the end as demuxers add it.
void fill(AVPacket& packet, const std::vector<uint8_t>& bytes) {
  av_packet_unref(&packet);
  require(av_new_packet(&packet, static_cast<int>(bytes.size())) == 0, "out of memory");
  if (!bytes.empty()) std::memcpy(packet.data, bytes.data(), bytes.size());
}

/// Checks the number of pictures that scan_start_codes() finds, and that the parser ends and returns at most
/// as many bytes as it got.
void check_parser(FuzzedDataProvider& in) {
  static constexpr AVCodecID kCodecs[] = {AV_CODEC_ID_H264,       AV_CODEC_ID_HEVC,  AV_CODEC_ID_MPEG2VIDEO,
                                          AV_CODEC_ID_MPEG1VIDEO, AV_CODEC_ID_MJPEG, AV_CODEC_ID_VP8};
  const AVCodecID codec = in.PickValueInArray(kCodecs);
  const std::unique_ptr<AVCodecParameters, void (*)(AVCodecParameters*)> parameters(
      avcodec_parameters_alloc(), free_parameters);
  parameters->codec_type = AVMEDIA_TYPE_VIDEO, parameters->codec_id = codec;
  LowDelayParser parser(*parameters);
  const ff::PacketPtr packet = ff::make_packet(), out = ff::make_packet();
  size_t put = 0, got = 0;
  while (in.remaining_bytes() > 0) {
    const auto repeats = in.ConsumeIntegralInRange(1, 30);
    const auto bytes = in.ConsumeBytes<uint8_t>(in.ConsumeIntegralInRange<size_t>(0, 1000));
    const StartCodes codes = scan_start_codes(codec, bytes);
    require(codes.pictures >= 0 && static_cast<size_t>(codes.pictures) * 3 <= bytes.size(),
            "{} pictures in {} bytes", codes.pictures, bytes.size());
    for (int i = 0; i < repeats; ++i) {
      fill(*packet, bytes);
      packet->flags = in.ConsumeBool() ? AV_PKT_FLAG_CORRUPT : 0;
      put += bytes.size();
      parser.put(*packet);
      for (size_t packets = 0; parser.next(*out); ++packets) {
        got += static_cast<size_t>(out->size);
        require(packets <= bytes.size() + 1, "the parser does not end");
      }
    }
  }
  require(got <= put, "{} bytes of {}", got, put);
}

}  // namespace
}  // namespace lensd

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  av_log_set_level(AV_LOG_QUIET);
  FuzzedDataProvider in(data, size);
  if (in.ConsumeBool())
    lensd::check_flush(in);
  else
    lensd::check_parser(in);
  return 0;
}

// Files that were joined from several: one timeline for pictures and sound, exact seeks, duration.
#include "core/media/ffmpeg/file_io.hpp"
#include "core/media/input/times/pes_times.hpp"
#include "core/media/sound/sound_decoder.hpp"
#include "tests/unit/core/media/joined_clip.hpp"
#include "tests/unit/core/media/media_fixture.hpp"

namespace lensd::test {
namespace {

constexpr int64_t kFrameNs = 1'000'000'000 / kClipFps;

class JoinedTest : public MediaTest {
 protected:
  std::string join(const char* format, const std::vector<ClipPart>& parts, size_t part_bytes = 0) {
    std::string all;
    for (const ClipPart& part : parts) {
      const std::string clip = mpeg_clip(format, part);
      all += part_bytes > 0 ? padded(clip, part_bytes) : clip;
    }
    put("joined.mpg", all);
    return file("joined.mpg");
  }
  /// Returns the times of the beeps in seconds from `from_s` on.
  std::vector<double> beeps_of(const std::string& path, double from_s) const {
    StopFlags stop;
    SoundDecoder decoder({path, open_source(path, {})->info().start_ns, 0, {}}, stop);
    decoder.seek(static_cast<int64_t>(from_s * 1e9), 1);
    std::vector<double> times;
    for (SoundBlock block; decoder.read(block);)
      for (size_t i = 0; i < block.frames(); ++i) {
        const double time = to_s(block.media_ns) + static_cast<double>(i) / kSoundRate;
        if (std::abs(block.samples[i * kSoundChannels]) < 0.2) continue;
        if (times.empty() || std::abs(time - times.back()) > 0.5) times.push_back(time);
      }
    return times;
  }
  static void expect_beeps(const std::vector<double>& times, int first, int end) {
    ASSERT_EQ(times.size(), static_cast<size_t>(end - first));
    for (int i = first; i < end; ++i) EXPECT_NEAR(times[static_cast<size_t>(i - first)], i, 0.05);
  }
  /// Returns the duration if the file is known as joined; otherwise 0.
  static double joined_s(const std::string& path) {
    StopFlags stop;
    return to_s(Input(path, StreamKind::video, stop).joined_ns());
  }
};

struct JoinedCase {
  const char* name;
  const char* format;
  std::vector<ClipPart> parts;
  size_t part_bytes;
};

class JoinedCases : public JoinedTest, public testing::WithParamInterface<JoinedCase> {};

TEST_P(JoinedCases, PicturesAndSoundHaveOneTimeline) {
  const std::string path = join(GetParam().format, GetParam().parts, GetParam().part_bytes);
  int seconds = 0;
  for (const ClipPart& part : GetParam().parts) seconds += part.seconds;
  const auto source = open_source(path, {});
  EXPECT_NEAR(to_s(source->info().duration_ns), seconds, GetParam().parts.size() > 1 ? 0.001 : 0.05);
  const Decoded linear = read_all(*source);
  ASSERT_EQ(linear.infos.size(), static_cast<size_t>(seconds * kClipFps));
  for (size_t i = 0; i < linear.infos.size(); ++i)
    ASSERT_NEAR(static_cast<double>(linear.infos[i].pts_ns), static_cast<double>(i) * kFrameNs, 12'000) << i;
  EXPECT_EQ(source->stream_errors(), "");
  for (size_t target = linear.infos.size() - 3; target > 20; target -= 17) {
    source->seek(linear.infos[target].pts_ns);
    Picture picture;
    ASSERT_EQ(source->next(picture), FrameOutcome::ok) << target;
    EXPECT_EQ(picture.info.index, static_cast<int64_t>(target));
    EXPECT_EQ(digest(picture.planes), linear.digests[target]) << target;
  }
  expect_beeps(beeps_of(path, 0), 0, seconds);
  expect_beeps(beeps_of(path, seconds - 5.5), seconds - 5, seconds);
  expect_beeps(beeps_of(path, seconds - 2.5), seconds - 2, seconds);
}

INSTANTIATE_TEST_SUITE_P(
    Files, JoinedCases,
    testing::Values(JoinedCase{"SameTimes", "mpegts", {{1, 4, 0}, {1, 4, 40}, {1, 4, 80}}, 0},
                    JoinedCase{"Back", "mpegts", {{100, 4, 0}, {1, 4, 40}, {50, 4, 80}}, 0},
                    JoinedCase{"Wraps", "mpegts", {{1, 4, 0}, {95'442, 4, 40}, {95'300, 4, 80}}, 0},
                    JoinedCase{"WrapsFirst", "mpegts", {{95'442, 4, 0}, {1, 4, 40}, {3, 4, 80}}, 0},
                    JoinedCase{"Program", "vob", {{1, 4, 0}, {20, 4, 40}, {5, 4, 80}}, 0},
                    JoinedCase{"Mpeg1", "mpeg", {{1, 4, 0}, {1, 4, 40}}, 0},
                    JoinedCase{"OneWraps", "mpegts", {{95'441, 8, 0}}, 0},
                    JoinedCase{"OneLate", "matroska", {{1000, 8, 0}}, 0},
                    JoinedCase{"OneLateMp4", "mp4", {{10, 8, 0}}, 0},
                    JoinedCase{"Large", "mpegts", {{500, 4, 0}, {3, 4, 40}, {500, 4, 80}}, 24'000'000}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST_F(JoinedTest, OtherFilesKeepTheirTimes) {
  EXPECT_EQ(joined_s(join("mpegts", {{1, 4, 0}})), 0);
  EXPECT_EQ(joined_s(join("mpegts", {{95'442, 4, 0}})), 0) << "the clock wraps";
  EXPECT_EQ(joined_s(join("mpegts", {{1, 4, 0}, {100, 4, 0}})), 0) << "gaps are kept";
  EXPECT_NEAR(joined_s(join("mpegts", {{100, 4, 0}, {1, 4, 0}})), 8, 0.001);
}

TEST_F(JoinedTest, ASearchDoesNotReadTheRestOfTheFile) {
  const std::string clip = mpeg_clip("mpegts", {1, 4, 0});
  put("ends.ts", clip + padded(clip.substr(0, 188), 8 << 20));
  StopFlags stop;
  const FileIo io(file("ends.ts"), stop);
  const ff::InputPtr context(ff::allocated(avformat_alloc_context()));
  AVStream& video = *ff::allocated(avformat_new_stream(context.get(), nullptr));
  video.id = 0x100;
  PesTimes times(*io.context(), video, true);
  PesTime time;
  const auto end = static_cast<int64_t>(clip.size());
  ASSERT_TRUE(times.next(time, end));
  times.seek(end);
  EXPECT_FALSE(times.next(time, end + (1 << 20)));
  EXPECT_LT(avio_tell(io.context()), end + (2 << 20));
}

TEST_F(JoinedTest, ADamagedTimestampIsNoPart) {
  std::string clip = mpeg_clip("mpegts", {100, 4, 0});
  size_t packet = clip.size() / 2 / 188 * 188;
  const auto is_video_start = [&] {  // with a PTS
    return clip.compare(packet, 3, std::string("\x47\x41\x00", 3)) == 0;
  };
  while (packet < clip.size() && !is_video_start()) packet += 188;
  const size_t header = clip.find(std::string("\x00\x00\x01\xE0", 4), packet);
  ASSERT_LT(header, packet + 188);
  for (size_t stamp = header + 9; stamp < header + 19; ++stamp) clip[stamp] = stamp % 5 == 4 ? 0x31 : 1;
  put("damaged.ts", clip);
  EXPECT_EQ(joined_s(file("damaged.ts")), 0);
}

TEST_F(JoinedTest, SoundBeforeTheFirstPictureBelongsToItsPart) {
  std::string second = mpeg_clip("mpegts", {1, 4, 0});
  size_t packet = 0;  // the first one that starts a PES packet of the sound
  while (packet < second.size() && second.compare(packet, 3, std::string("\x47\x41\x01", 3)) != 0)
    packet += 188;
  ASSERT_LT(packet, second.size());
  put("cut.ts", mpeg_clip("mpegts", {100, 4, 0}) + second.substr(packet));
  StopFlags stop;
  Input input(file("cut.ts"), StreamKind::audio, stop);
  ASSERT_GT(input.joined_ns(), 0);
  const ff::PacketPtr read = ff::make_packet();
  int64_t last = AV_NOPTS_VALUE;
  for (int i = 0; input.read(*read) >= 0; ++i) {
    const double step_s = last == AV_NOPTS_VALUE ? 0 : static_cast<double>(read->dts - last) / kMpegRate;
    EXPECT_NEAR(step_s, 0, 0.3) << i;
    last = read->dts;
  }
}

TEST_F(JoinedTest, SoundFollowsAJoinThatIsNotKnown) {
  // The second part begins 1.5 s before the end of the first one. Of a file this large, only places are read.
  const std::string path = join("mpegts", {{10, 60, 0}, {68.5, 60, 0}}, 40'000'000);
  ASSERT_EQ(joined_s(path), 0) << "the join is known, so this test has no effect";
  const auto source = open_source(path, {});
  const Decoded pictures = read_all(*source);
  EXPECT_NEAR(to_s(pictures.infos.back().pts_ns), 119.96, 0.1);
  expect_beeps(beeps_of(path, 55.5), 56, 120);
}

}  // namespace
}  // namespace lensd::test

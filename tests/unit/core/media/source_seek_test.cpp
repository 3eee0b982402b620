// Sources: exact seeking, and decoding of key frames only.
#include <filesystem>

#include "tests/unit/core/media/media_fixture.hpp"

namespace lensd::test {
namespace {

constexpr ImageFormat kSmallSource{PixelFormat::rgba8, {64, 48}};

struct SeekCase {
  const char* name;
  const char* codec;
  double fps;
};

class SeekTest : public MediaTest, public testing::WithParamInterface<SeekCase> {};

TEST_P(SeekTest, EveryFrameIsReachedExactly) {
  RecorderOptions options;
  options.fps = GetParam().fps;
  options.codec = GetParam().codec;
  // 7 s have at least two key frames (one every 5 s).
  const int frames = static_cast<int>(7 * options.fps);
  const std::string path = record(file(GetParam().name), kSmallSource, frames, options);
  auto source = open_source(path, {});
  const Decoded linear = read_all(*source);
  ASSERT_EQ(linear.infos.size(), static_cast<size_t>(frames));
  EXPECT_EQ(source->stream_errors(), "");
  EXPECT_TRUE(source->info().seekable);
  for (const int target : {0, 1, frames - 1, frames / 2, 3, frames - 2, frames / 3, frames * 3 / 4, 0}) {
    const auto i = static_cast<size_t>(target);
    source->seek(linear.infos[i].pts_ns);
    Picture picture;
    ASSERT_EQ(source->next(picture), FrameOutcome::ok) << target;
    EXPECT_EQ(picture.info.index, target);
    EXPECT_EQ(picture.info.pts_ns, linear.infos[i].pts_ns);
    EXPECT_EQ(digest(picture.planes), linear.digests[i]) << target;
    if (target + 1 < frames) {
      ASSERT_EQ(source->next(picture), FrameOutcome::ok);
      EXPECT_EQ(digest(picture.planes), linear.digests[i + 1]) << "no picture after the target is skipped";
      // A seek to a position just after a frame gives the next frame.
      source->seek(linear.infos[i].pts_ns + 2'000'000);
      ASSERT_EQ(source->next(picture), FrameOutcome::ok);
      EXPECT_EQ(digest(picture.planes), linear.digests[i + 1]) << target;
    }
  }
  // A seek past the end gives the last frame, also if only the first one was read before.
  Picture picture;
  for (const int64_t position_ns : {linear.infos.back().pts_ns + 10'000'000, int64_t{60'000'000'000}}) {
    source->seek(0);
    ASSERT_EQ(source->next(picture), FrameOutcome::ok);
    source->seek(position_ns);
    ASSERT_EQ(source->next(picture), FrameOutcome::ok);
    EXPECT_EQ(picture.info.index, frames - 1);
    EXPECT_EQ(digest(picture.planes), linear.digests.back());
    EXPECT_EQ(source->next(picture), FrameOutcome::end_of_stream);
    EXPECT_EQ(source->stream_errors().find("ends early"), std::string::npos) << source->stream_errors();
  }
  SourceOptions from_late;
  from_late.start_ns = 900'000'000'000;
  auto last = open_source(path, from_late);
  ASSERT_EQ(last->next(picture), FrameOutcome::ok);
  EXPECT_EQ(digest(picture.planes), linear.digests.back());
  SourceOptions from_two;
  from_two.start_ns = 2'000'000'000;
  auto later = open_source(path, from_two);
  ASSERT_EQ(later->next(picture), FrameOutcome::ok);
  EXPECT_GE(picture.info.pts_ns, 1'999'999'000);
  EXPECT_LT(picture.info.pts_ns, 2'050'000'000);
}

INSTANTIATE_TEST_SUITE_P(Containers, SeekTest,
                         testing::Values(SeekCase{"a.mp4", "", 25}, SeekCase{"a.mkv", "", 30000.0 / 1001},
                                         SeekCase{"a.avi", "", 25}, SeekCase{"a.avi", "ffv1", 25},
                                         SeekCase{"a.mkv", "mpeg2video", 25}, SeekCase{"a.webm", "", 10}));

/// Steps back need the pictures themselves: their distances are not known before they are decoded.
class StepBackTest : public MediaTest, public testing::WithParamInterface<SeekCase> {};

TEST_P(StepBackTest, FindsThePicturesBeforeAnyPosition) {
  RecorderOptions options;
  options.fps = GetParam().fps;
  options.codec = GetParam().codec;
  options.key_interval_s = 1;
  // Distances of 1, 2, 3, 1, 2, 9, … times 40 ms, and one gap of 3 s before the last pictures.
  std::vector<int64_t> pts_ns;
  int64_t next_ns = 0;
  const std::vector<int> gaps{1, 2, 3, 1, 2, 9, 1, 1, 17, 1};
  for (int i = 0; i < 60; ++i) {
    pts_ns.push_back(next_ns);
    next_ns += int64_t{40'000'000} * (i == 55 ? 75 : gaps[static_cast<size_t>(i) % gaps.size()]);
  }
  const std::string path = file(GetParam().name);
  auto recorder = open_recorder(path, kSmallSource, options);
  for (int i = 0; i < 60; ++i) {
    FrameInfo info = at(i);
    info.pts_ns = pts_ns[static_cast<size_t>(i)];
    recorder->write(picture(kSmallSource, i).ref(), info);
  }
  recorder->finish();

  auto source = open_source(path, {});
  const Decoded linear = read_all(*source);
  ASSERT_EQ(linear.infos.size(), 60u);
  EXPECT_NEAR(static_cast<double>(linear.infos[59].pts_ns - linear.infos[0].pts_ns),
              static_cast<double>(pts_ns[59]), 2e6);
  Picture picture;
  for (size_t from = 60; from-- > 0;)
    for (const int back : {1, 2, from % 10 == 0 ? 30 : 5}) {
      const size_t found = from >= static_cast<size_t>(back) ? from - static_cast<size_t>(back) : 0;
      source->seek(linear.infos[from].pts_ns, back);
      ASSERT_EQ(source->next(picture), FrameOutcome::ok) << from << " - " << back;
      ASSERT_EQ(picture.info.pts_ns, linear.infos[found].pts_ns) << from << " - " << back;
      ASSERT_EQ(digest(picture.planes), linear.digests[found]) << from << " - " << back;
      for (size_t i = found + 1; i < std::min(found + 3, size_t{60}); ++i) {
        ASSERT_EQ(source->next(picture), FrameOutcome::ok);
        ASSERT_EQ(digest(picture.planes), linear.digests[i]) << "no picture is skipped or repeated";
      }
    }
  source->seek(linear.infos[30].pts_ns, 1);
  source->seek(linear.infos[40].pts_ns);
  ASSERT_EQ(source->next(picture), FrameOutcome::ok);
  EXPECT_EQ(digest(picture.planes), linear.digests[40]) << "the last seek counts";
}

INSTANTIATE_TEST_SUITE_P(Containers, StepBackTest,
                         testing::Values(SeekCase{"a.mp4", "libx264", 25}, SeekCase{"a.mkv", "mpeg4", 25},
                                         SeekCase{"b.mkv", "ffv1", 240}));

/// A seek into a still that lasts seconds shows the still from the target on. The decoders of some cases skip
/// pictures.
class LongPictureTest : public MediaTest, public testing::WithParamInterface<SeekCase> {};

TEST_P(LongPictureTest, ASeekIntoItShowsItFromTheTargetOn) {
  RecorderOptions options;
  options.fps = 25, options.codec = GetParam().codec, options.key_interval_s = 100;
  const std::string path = file(GetParam().name);
  auto recorder = open_recorder(path, kSmallSource, options);
  // 40 ms each, but the 30th picture is shown from 1.16 s to 9 s, after which there are further ones.
  for (int i = 0; i < 80; ++i) {
    FrameInfo info = at(i);
    if (i >= 30) info.pts_ns = 9'000'000'000 + (i - 30) * 40'000'000;
    recorder->write(picture(kSmallSource, i).ref(), info);
  }
  recorder->finish();
  auto source = open_source(path, {});
  const Decoded linear = read_all(*source);
  ASSERT_EQ(linear.infos.size(), 80u);
  Picture shown;
  for (const int64_t target_ns : std::vector<int64_t>{1'500'000'000, 5'000'000'000, 8'700'000'000}) {
    source->seek(target_ns);
    ASSERT_EQ(source->next(shown), FrameOutcome::ok);
    EXPECT_EQ(digest(shown.planes), linear.digests[29]) << target_ns;
    EXPECT_EQ(shown.info.pts_ns, target_ns);
    EXPECT_NEAR(static_cast<double>(shown.info.duration_ns), static_cast<double>(9'000'000'000 - target_ns),
                2e6);
    for (size_t i = 30; i < 33; ++i) {
      ASSERT_EQ(source->next(shown), FrameOutcome::ok);
      EXPECT_EQ(digest(shown.planes), linear.digests[i]) << "no picture is skipped or repeated";
      EXPECT_EQ(shown.info.pts_ns, linear.infos[i].pts_ns);
    }
    for (int back = 1; back < 4; ++back) {
      source->seek(target_ns);
      ASSERT_EQ(source->next(shown), FrameOutcome::ok);
      for (int i = 1; i <= back; ++i) source->seek(target_ns, i);  // steps that add up
      ASSERT_EQ(source->next(shown), FrameOutcome::ok);
      EXPECT_EQ(digest(shown.planes), linear.digests[static_cast<size_t>(29 - back)]);
    }
  }
  source->seek(8'900'000'000);
  ASSERT_EQ(source->next(shown), FrameOutcome::ok);
  EXPECT_EQ(digest(shown.planes), linear.digests[30]) << "the next picture is near";
}

INSTANTIATE_TEST_SUITE_P(Containers, LongPictureTest,
                         testing::Values(SeekCase{"a.mp4", "libx264", 25}, SeekCase{"a.mkv", "libx264", 25},
                                         SeekCase{"b.mkv", "ffv1", 25}));

TEST_F(MediaTest, ASeekIntoALongPictureKeepsItsNumber) {
  RecorderOptions options;
  options.fps = 1;
  auto source = open_source(record(file("slides.mkv"), kSmallSource, 8, options), {});
  Picture shown;
  source->seek(2'700'000'000);
  ASSERT_EQ(source->next(shown), FrameOutcome::ok);
  EXPECT_EQ(shown.info.pts_ns, 2'700'000'000);
  EXPECT_EQ(shown.info.index, 2);
  ASSERT_EQ(source->next(shown), FrameOutcome::ok);
  EXPECT_EQ(shown.info.pts_ns, 3'000'000'000);
  EXPECT_EQ(shown.info.index, 3);
  source->seek(5'000'000'000);
  ASSERT_EQ(source->next(shown), FrameOutcome::ok);
  EXPECT_EQ(shown.info.index, 5);
  EXPECT_FALSE(shown.info.index_estimated) << "the rate is constant";
}

TEST_F(MediaTest, TheNumberOfTheFirstPictureIsNoEstimate) {
  RecorderOptions options;
  options.codec = "mpeg4";
  const std::string path = file("varies.mkv");
  auto recorder = open_recorder(path, kSmallSource, options);
  for (int i = 0; i < 40; ++i) {
    FrameInfo info = at(i);
    info.pts_ns += i / 2 * int64_t{80'000'000};  // 40 ms and 120 ms by turns
    recorder->write(picture(kSmallSource, i).ref(), info);
  }
  recorder->finish();
  auto source = open_source(path, {});
  const Decoded linear = read_all(*source);
  ASSERT_EQ(linear.infos.size(), 40u);
  Picture shown;
  source->seek(linear.infos[20].pts_ns);
  ASSERT_EQ(source->next(shown), FrameOutcome::ok);
  EXPECT_TRUE(shown.info.index_estimated);
  source->seek(0);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(source->next(shown), FrameOutcome::ok);
    EXPECT_EQ(shown.info.index, i);
    EXPECT_FALSE(shown.info.index_estimated) << i;
  }
}

TEST_F(MediaTest, APictureBetweenTheTimesOfTheRateHasAnEstimatedNumber) {
  RecorderOptions options;
  options.codec = "ffv1";  // keeps all times
  for (const double real_fps : {1000.0 / 41, 25.0, 30000.0 / 1001}) {
    SCOPED_TRACE(real_fps);
    const bool drifts = real_fps < 25;  // the file states 25 frames per second
    options.fps = drifts ? 25 : real_fps;
    const std::string path = file("drift.mkv");
    auto recorder = open_recorder(path, kSmallSource, options);
    for (int i = 0; i < 120; ++i) recorder->write(picture(kSmallSource, i).ref(), at(i, real_fps));
    recorder->finish();
    const Decoded linear = read_all(*open_source(path, {}));
    ASSERT_EQ(linear.infos.size(), 120u);
    for (const int frame : {30, 61}) {
      auto source = open_source(path, {});  // has seen no picture before the seek
      ASSERT_NEAR(source->info().fps, options.fps, 0.01);
      Picture shown;
      source->seek(linear.infos[static_cast<size_t>(frame)].pts_ns);
      ASSERT_EQ(source->next(shown), FrameOutcome::ok);
      EXPECT_EQ(shown.info.index_estimated, drifts) << frame;
      if (!drifts) {
        EXPECT_EQ(shown.info.index, frame);
      }
    }
    std::filesystem::remove(path);
  }
}

TEST_F(MediaTest, SequenceSeeksExactly) {
  record(file("s_%03d.png"), kSmallSource, 12);
  auto source = open_source(file("s_%03d.png"), {});
  const Decoded linear = read_all(*source);
  ASSERT_EQ(linear.infos.size(), 12u);
  source->seek(linear.infos[7].pts_ns);
  Picture picture;
  ASSERT_EQ(source->next(picture), FrameOutcome::ok);
  EXPECT_EQ(picture.info.index, 7);
  EXPECT_EQ(digest(picture.planes), linear.digests[7]);
}

using KeyFrames = MediaTest;

// Both codecs reorder pictures, so that a decoder which is not drained waits for further key frames.
TEST_F(KeyFrames, AreTheOnlyPicturesAndTheOneBeforeAPositionIsFound) {
  for (const char* name : {"h264.mp4", "mpeg4.mkv"}) {
    RecorderOptions options;
    options.codec = name[0] == 'h' ? "libx264" : "mpeg4";
    options.key_interval_s = 1;
    const std::string path = record(file(name), kSmallSource, 100, options);
    auto all = open_source(path, {});
    const Decoded linear = read_all(*all);
    std::vector<size_t> keys;
    for (size_t i = 0; i < linear.infos.size(); ++i)
      if (linear.infos[i].key) keys.push_back(i);
    ASSERT_GE(keys.size(), 3u);

    SourceOptions only;
    only.key_frames_only = true;
    auto source = open_source(path, only);
    const Decoded decoded = read_all(*source);
    ASSERT_EQ(decoded.infos.size(), keys.size()) << name;
    for (size_t k = 0; k < keys.size(); ++k) {
      EXPECT_EQ(decoded.infos[k].pts_ns, linear.infos[keys[k]].pts_ns);
      EXPECT_EQ(decoded.digests[k], linear.digests[keys[k]]) << name << ", key frame " << k;
    }
    for (size_t position : {size_t{99}, keys[1] + 3, size_t{0}, keys[2], keys[1] - 1}) {
      size_t key = 0;
      for (const size_t k : keys)
        if (k <= position) key = k;
      Picture picture;
      source->seek(linear.infos[position].pts_ns);
      ASSERT_EQ(source->next(picture), FrameOutcome::ok);
      EXPECT_EQ(digest(picture.planes), linear.digests[key]) << name << ", position " << position;
    }
  }
}

}  // namespace
}  // namespace lensd::test

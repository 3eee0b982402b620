// Colours of recordings: tags, chroma siting, HDR metadata, pictures of the source that stay as they are.

#include "core/base/error.hpp"
#include "tests/unit/core/media/recording_fixture.hpp"

namespace lensd::test {
namespace {

TEST_F(RecordingTest, AChangeOfTagsStartsAnotherFile) {
  Recording recording({}, 25, "");
  recording.start(target("c.mkv"));
  write(recording, 0, 20);
  for (int i = 20; i < 30; ++i) {
    FrameInfo info = at(i);
    info.tags = {Transfer::hlg, Primaries::bt2020};
    recording.write(picture(kFormat, i).ref(), info);
  }
  recording.stop();
  EXPECT_EQ(frames_in(file("c.mkv")), 20u);
  EXPECT_EQ(frames_in(file("c-2.mkv")), 10u);
  EXPECT_EQ(open_source(file("c.mkv"), {})->info().picture.colour.transfer, Transfer::sdr);
  const ColourSpec colour = open_source(file("c-2.mkv"), {})->info().picture.colour;
  EXPECT_EQ(colour.transfer, Transfer::hlg);
  EXPECT_EQ(colour.primaries, Primaries::bt2020);
  EXPECT_EQ(colour.matrix, YuvMatrix::bt2020);
}

TEST_F(RecordingTest, ADecodedPictureIsRecordedUnchanged) {
  RecorderOptions options;
  options.codec = "ffv1";
  record(file("rgb.mkv"), kFormat, 5, options);
  record(file("yuv.mp4"), kFormat, 20);
  RecordSettings exact;
  exact.encoder.codec = "ffv1";
  Recording recording(exact, 25, "");
  recording.start(target("copy.mkv"));
  auto source = open_source(file("yuv.mp4"), {});
  Picture got;
  std::vector<std::string> digests;
  while (source->next(got) == FrameOutcome::ok) {
    recording.write(got.planes, got.info);
    digests.push_back(digest(got.planes));
  }
  recording.stop();
  auto copy = open_source(file("copy.mkv"), {});
  EXPECT_EQ(copy->info().picture.format, source->info().picture.format);
  EXPECT_EQ(copy->info().picture.colour.matrix, source->info().picture.colour.matrix);
  EXPECT_EQ(read_all(*copy).digests, digests);
}

TEST_F(RecordingTest, ARecordingOfAnHdrSourceKeepsItsTags) {
  constexpr Extent kExtent{64, 48};
  PictureInfo info;
  info.extent = kExtent;
  info.format = {
      .model = ColourModel::yuv, .depth = 10, .chroma_shift_x = 1, .chroma_shift_y = 1, .plane_count = 3};
  for (uint8_t c = 0; c < 3; ++c) info.format.components[c] = {c, 2, 0, 0};
  info.colour = {
      .matrix = YuvMatrix::bt2020, .transfer = Transfer::pq, .primaries = Primaries::bt2020, .peak = 1000};
  const std::vector<uint16_t> samples(64 * 48, 512);
  PictureRef picture{.info = info};
  for (size_t p = 0; p < 3; ++p) {
    picture.planes[p] = reinterpret_cast<const uint8_t*>(samples.data());
    picture.pitch_bytes[p] = p == 0 ? 128 : 64;
  }
  RecordSettings settings;
  settings.encoder.codec = "ffv1";
  Recording recording(settings, 25, "");
  recording.start(target("hdr.mkv"));
  for (int64_t i = 0; i < 3; ++i) recording.write(picture, at(i));
  recording.stop();
  SourceOptions options;
  const PictureInfo recorded = open_source(file("hdr.mkv"), options)->info().picture;
  EXPECT_EQ(recorded.format.depth, 10);
  EXPECT_EQ(recorded.colour, info.colour);
  EXPECT_TRUE(recorded.colour.guessed.peak) << "the source announces no MaxCLL; 1000 cd/m² is the default";
  options.keep_colours = true;
  const PictureInfo kept = open_source(file("hdr.mkv"), options)->info().picture;
  EXPECT_TRUE(kept.colour.keep);
  RecorderOptions output;
  output.tags = kept.colour.working(false);
  const PictureInfo result = open_source(record(file("keep.mp4"), kFormat, 3, output), {})->info().picture;
  EXPECT_EQ(result.colour.transfer, Transfer::pq);
  EXPECT_EQ(result.colour.primaries, Primaries::bt2020);
  EXPECT_EQ(result.colour.matrix, YuvMatrix::bt2020);
}

TEST_F(RecordingTest, ARecordingOfTheSourceKeepsItsChromaSiting) {
  record(file("yuv.mkv"), kFormat, 1);
  auto source = open_source(file("yuv.mkv"), {});
  Picture got;
  ASSERT_EQ(source->next(got), FrameOutcome::ok);
  RecordSettings settings;
  settings.encoder.codec = "ffv1";
  for (const ChromaSiting siting : {ChromaSiting::left, ChromaSiting::center, ChromaSiting::top_left}) {
    got.planes.info.colour.siting = siting;
    Recording recording(settings, 25, "");
    recording.start({file("siting.mkv"), {.overwrite = true, .beneath = {}}});
    recording.write(got.planes, got.info);
    recording.stop();
    auto copy = open_source(file("siting.mkv"), {});
    EXPECT_EQ(copy->info().picture.colour.siting, siting);
    EXPECT_EQ(read_all(*copy).digests, std::vector{digest(got.planes)});
  }
}

TEST_F(RecordingTest, HdrMetadataIsWrittenToHdrStreams) {
  HdrMetadata hdr;
  hdr.gamut = {{{{34000, 16000}, {13250, 34500}, {7500, 3000}}}, {15635, 16450}};
  hdr.luminance = {40'000'000, 50};
  hdr.content = {3999, 401};
  ColourSpec colour{.transfer = Transfer::pq, .primaries = Primaries::bt2020, .keep = true};
  for (const char* name : {"all.mkv", "all.mp4"}) {
    RecorderOptions options;
    options.tags = colour.working(false), options.hdr = hdr;
    const SourceInfo info = open_source(record(file(name), kFormat, 3, options), {})->info();
    EXPECT_EQ(info.hdr, hdr) << name;
    EXPECT_EQ(info.picture.colour.peak, 3999) << name;
  }
  RecorderOptions light_only;
  light_only.tags = colour.working(false), light_only.hdr = {.content = hdr.content};
  EXPECT_EQ(open_source(record(file("light.mkv"), kFormat, 3, light_only), {})->info().hdr,
            (HdrMetadata{.content = hdr.content}));
  colour.keep = false;
  RecorderOptions sdr;
  sdr.tags = colour.working(false), sdr.hdr = hdr;
  EXPECT_EQ(open_source(record(file("sdr.mkv"), kFormat, 3, sdr), {})->info().hdr, HdrMetadata());
}

}  // namespace
}  // namespace lensd::test

// Recordings of the source: its tags, fields and orientation. Tags of recordings of the result.

#include "core/media/ffmpeg/picture_info.hpp"
#include "tests/unit/core/media/source_recording_fixture.hpp"

namespace lensd::test {
namespace {

/// Code points of H.273.
struct Tags {
  int matrix, transfer, primaries;
  bool operator==(const Tags&) const = default;
};

Tags tags_of(const PictureInfo& info) {
  const CodePoints& c = info.colour.coded;
  return {c.matrix, c.transfer, c.primaries};
}

void PrintTo(const Tags& tags, std::ostream* out) {
  *out << tags.matrix << '/' << tags.transfer << '/' << tags.primaries;
}

constexpr Tags kSourceTags[] = {
    {1, 13, 1},   // BT.709 with the sRGB transfer
    {5, 5, 5},    // BT.470 BG, gamma 2.8
    {7, 7, 7},    // SMPTE 240M
    {10, 1, 9},   // BT.2020, constant luminance
    {8, 1, 1},    // YCgCo
    {1, 17, 11},  // SMPTE 428 and 431
    {6, 1, 1},    // BT.709 colours with the matrix of BT.601
    {2, 2, 2},    // unspecified
};

TEST_F(SourceRecording, KeepsTheTags) {
  DecodedPicture decoded(AV_PIX_FMT_YUV420P, {64, 48});
  for (const char* codec : {"ffv1", "libx264"})
    for (const Tags& tags : kSourceTags) {
      decoded.ref.info.colour.coded = {true, static_cast<uint8_t>(tags.matrix),
                                       static_cast<uint8_t>(tags.transfer),
                                       static_cast<uint8_t>(tags.primaries)};
      EXPECT_EQ(tags_of(recorded(decoded.ref, {.codec = codec})), tags) << codec;
    }
  decoded.ref.info.colour.coded = {true, 1, 13, 1};
  EXPECT_EQ(tags_of(recorded(decoded.ref, {.codec = "libx264rgb"})), (Tags{2, 13, 1})) << "converted to RGB";
  EXPECT_EQ(recorded(decoded.ref, {.codec = "mjpeg"}).colour.matrix, YuvMatrix::bt601) << "converted";
}

TEST_F(RecordingTest, ResultsAreTaggedWithTheirPrimaries) {
  const auto tags = [&](std::optional<Primaries> primaries, Extent extent) {
    RecorderOptions options;
    options.tags.primaries = primaries;
    const std::string path = record(file("a.mkv"), {PixelFormat::rgba8, extent}, 2, options);
    const Tags out = tags_of(open_source(path, {})->info().picture);
    std::filesystem::remove(path);
    return out;
  };
  constexpr Extent kSmall{64, 48}, kLarge{1280, 720};
  EXPECT_EQ(tags(Primaries::bt709, kSmall), (Tags{6, 1, 1}));
  EXPECT_EQ(tags(Primaries::bt601_625, kSmall), (Tags{6, 1, 5}));
  EXPECT_EQ(tags(Primaries::bt601_625, kLarge), (Tags{1, 1, 5}));
  EXPECT_EQ(tags(std::nullopt, kSmall), (Tags{6, 2, 2}));
  EXPECT_EQ(tags(std::nullopt, kLarge), (Tags{1, 1, 1}));
}

TEST_F(RecordingTest, PicturesWithAndWithoutTagsAreInOneFile) {
  Recording recording({}, 25, "");
  recording.start(target("a.mkv"));
  for (int i = 0; i < 6; ++i) {
    FrameInfo info = at(i);
    if (i % 2) info.tags.primaries = Primaries::bt709;
    recording.write(picture(kFormat, i).ref(), info);
  }
  recording.stop();
  EXPECT_EQ(frames_in(file("a.mkv")), 6u);
}

TEST(ColourTags, AreThoseOfTheWorkingImages) {
  const auto primaries = [](ColourSpec colour, bool bt601 = false) {
    return colour.working(bt601).primaries;
  };
  EXPECT_EQ(primaries({.transfer = Transfer::hlg, .primaries = Primaries::bt2020}), Primaries::bt709);
  EXPECT_EQ(primaries({.primaries = Primaries::bt601_625}), Primaries::bt601_625);
  EXPECT_EQ(primaries({.primaries = Primaries::bt601_625}, true), Primaries::bt709);
  EXPECT_EQ(primaries({.coded = {true, 1, 1, 1}}), Primaries::bt709);
  EXPECT_EQ(primaries({.coded = {true, 1, 1, 2}}), std::nullopt);
  EXPECT_EQ(primaries({.primaries = Primaries::p3, .keep = true}), Primaries::p3);
}

TEST_F(SourceRecording, KeepsTheFields) {
  const DecodedPicture decoded(AV_PIX_FMT_YUV420P, {64, 48});
  for (const char* codec : {"ffv1", "libx264", "mpeg2video"})
    for (const FieldOrder fields :
         {FieldOrder::progressive, FieldOrder::top_first, FieldOrder::bottom_first}) {
      const std::string name = std::to_string(++count_) + ".mkv";
      record_source(decoded.ref, {.codec = codec}, name, fields);
      auto source = open_source(file(name), {});
      Picture got;
      ASSERT_EQ(source->next(got), FrameOutcome::ok);
      EXPECT_EQ(got.info.fields, fields) << codec;
    }
}

TEST_F(SourceRecording, KeepsTheOrientation) {
  DecodedPicture decoded(AV_PIX_FMT_YUV420P, {64, 48});
  for (int i = 0; i < 8; ++i) {
    const Orientation orientation{(i & 4) != 0, (i & 2) != 0, (i & 1) != 0};
    EXPECT_EQ(orientation_of(display_matrix_of(orientation, {64, 48}).data()), orientation);
    decoded.ref.info.orientation = orientation;
    for (const char* extension : {".mp4", ".mov"})
      EXPECT_EQ(recorded(decoded.ref, {}, extension).orientation, orientation) << i;
  }
  EXPECT_EQ(record_source(decoded.ref, {}, "a.mkv"),
            "the source is recorded as stored, without its rotation; .mp4 and .mov keep it");
}

}  // namespace
}  // namespace lensd::test

// Recording: splitting, pre-roll, names, failures, decoded pictures, audio. The tests read the files back and
// count frames.

#include "core/base/error.hpp"
#include "tests/unit/core/media/recording_fixture.hpp"

namespace lensd::test {
namespace {

TEST_F(RecordingTest, WritesNothingBeforeStart) {
  Recording recording({}, 25, "");
  write(recording, 0, 10);
  EXPECT_FALSE(recording.active());
  recording.start(target("a.mkv"));
  write(recording, 10, 30);
  recording.stop();
  write(recording, 40, 10);
  EXPECT_EQ(recording.report().frames, 30);
  EXPECT_EQ(recording.report().path, file("a.mkv"));
  EXPECT_EQ(frames_in(file("a.mkv")), 30u);
  recording.start(target("b.mp4"));
  write(recording, 50, 7);
  recording.stop();
  EXPECT_EQ(frames_in(file("b.mp4")), 7u);
}

TEST_F(RecordingTest, SplitsByTimeWithoutAGap) {
  for (const char* name : {"t.mkv", "t.mp4"}) {
    RecordSettings settings;
    settings.split_seconds = 1;
    Recording recording(settings, 25, "");
    recording.start(target(name));
    write(recording, 0, 110);
    recording.stop();
    const auto made = files();
    ASSERT_EQ(made.size(), 5u) << name;
    EXPECT_EQ(made[0], file(std::string("t-001") + (name + 1)));
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(frames_in(made[i]), 25u) << made[i];
    EXPECT_EQ(frames_in(made[4]), 10u);
    EXPECT_EQ(recording.report().files, 5);
    for (const std::string& f : made) {
      EXPECT_EQ(open_source(f, {})->info().picture.extent, kFormat.extent);
      std::filesystem::remove(f);
    }
  }
}

TEST_F(RecordingTest, SplitFilesHoldAllPicturesExactly) {
  RecordSettings settings;
  settings.split_seconds = 0.5;
  settings.encoder.codec = "ffv1";
  recorded(settings, "x.mkv", 40);
  int frame = 0;
  for (const std::string& f : files()) {
    auto source = open_source(f, {});
    Picture got;
    while (source->next(got) == FrameOutcome::ok) {
      const Image wanted = picture(kFormat, frame++);
      for (const auto& [x, y] : {std::pair{0, 0}, {63, 0}, {31, 24}, {63, 47}})
        for (int c = 0; c < 4; ++c) ASSERT_EQ(sample(got.planes, x, y, c), wanted.at(x, y, c)) << frame;
    }
  }
  EXPECT_EQ(frame, 40);
}

TEST_F(RecordingTest, SplitsBySize) {
  RecordSettings settings;
  settings.split_megabytes = 0.05;
  recorded(settings, "s.mkv", 400);
  EXPECT_GE(files().size(), 3u);
  EXPECT_EQ(frames_in_all(), 400u);
  for (size_t i = 0; i + 1 < files().size(); ++i) {
    EXPECT_GE(std::filesystem::file_size(files()[i]), 50'000u);
    EXPECT_LE(std::filesystem::file_size(files()[i]), 120'000u);
  }
}

TEST_F(RecordingTest, InvalidNamesAreRefused) {
  for (const char* name : {"", ".mkv", "a.txt", "a", "%Q.mkv", "%D.mkv", "a%", "%n.mkv", "day%/a.mkv"}) {
    RecordSettings settings;
    settings.name = name;
    EXPECT_THROW(check_record_settings(settings), Error) << name;
  }
  for (const char* name : {"a.mkv", "%Y%m%d-%H%M%S.mp4", "100%%.webm", "%F_%s.MOV"}) {
    RecordSettings settings;
    settings.name = name;
    EXPECT_NO_THROW(check_record_settings(settings)) << name;
  }
}

TEST_F(RecordingTest, ThePrerollComesFirst) {
  RecordSettings settings;
  settings.preroll_seconds = 2;
  Recording recording(settings, 25, "");
  write(recording, 0, 200);
  EXPECT_TRUE(files().empty());
  recording.start(target("p.mkv"));
  write(recording, 200, 50);
  recording.stop();
  // 50 frames, and a pre-roll of 2 s that is extended to a key frame (one per second) and by the encoder's
  // delay.
  EXPECT_GE(frames_in(file("p.mkv")), 100u);
  EXPECT_LE(frames_in(file("p.mkv")), 125u);
  EXPECT_EQ(static_cast<int64_t>(frames_in(file("p.mkv"))), recording.report().frames);
  write(recording, 250, 30);
  recording.start(target("q.mp4"));  // its pre-roll has only frames since the stop
  write(recording, 280, 10);
  recording.stop();
  EXPECT_EQ(frames_in(file("q.mp4")), 40u);
}

TEST_F(RecordingTest, PrerollIsBoundedInBytes) {
  RecordSettings settings;
  settings.preroll_seconds = 3600;
  settings.preroll_megabytes = 0.2;
  Recording recording(settings, 25, "");
  write(recording, 0, 1500);
  recording.start(target("p.mkv"));
  write(recording, 1500, 1);
  recording.stop();
  EXPECT_LE(std::filesystem::file_size(file("p.mkv")), 300'000u);
  EXPECT_GE(frames_in(file("p.mkv")), 25u);
}

TEST_F(RecordingTest, AChangeOfSizeStartsAnotherFileAndGrayDoesNot) {
  Recording recording({}, 25, "");
  recording.start(target("c.mkv"));
  write(recording, 0, 20);
  write(recording, 20, 10, {PixelFormat::gray8, {64, 48}});
  write(recording, 30, 15, {PixelFormat::rgba8, {80, 40}});
  recording.stop();
  EXPECT_EQ(frames_in(file("c.mkv")), 30u);
  EXPECT_EQ(frames_in(file("c-2.mkv")), 15u);
  EXPECT_EQ(open_source(file("c-2.mkv"), {})->info().picture.extent, (Extent{80, 40}));
}

TEST_F(RecordingTest, TemplatesGiveTimesAndExistingFilesStay) {
  Recording recording({}, 25, "");
  for (int i = 0; i < 2; ++i) {
    recording.start(target("cam-%Y.mkv"));
    write(recording, i * 10, 10);
    recording.stop();
  }
  const auto made = files();
  ASSERT_EQ(made.size(), 2u);
  EXPECT_NE(made[0].find("cam-2"), std::string::npos);
  EXPECT_NE(made[0].find("-2.mkv"), std::string::npos);
  EXPECT_EQ(frames_in_all(), 20u);
}

TEST_F(RecordingTest, AnExistingFileStays) {
  put("mine.mkv", "precious");
  Recording recording({}, 25, "");
  recording.start(target("mine.mkv"));
  EXPECT_THROW(write(recording, 0, 30), Error);
  EXPECT_FALSE(recording.active());
  EXPECT_EQ(get("mine.mkv"), "precious");
  recording.start({file("mine.mkv"), {.overwrite = true, .beneath = {}}});
  write(recording, 0, 30);
  recording.stop();
  EXPECT_EQ(frames_in(file("mine.mkv")), 30u);
}

TEST_F(RecordingTest, AnExistingFileMayGiveWayToANumber) {
  put("mine.mkv", "precious");
  put("mine-2.mkv", "precious too");
  Recording recording({}, 25, "");
  recording.start({file("mine.mkv"), {.next_free = true, .beneath = {}}});
  write(recording, 0, 30);
  EXPECT_EQ(recording.report().path, file("mine-3.mkv"));
  recording.stop();
  EXPECT_EQ(get("mine.mkv"), "precious");
  EXPECT_EQ(get("mine-2.mkv"), "precious too");
  EXPECT_EQ(frames_in(file("mine-3.mkv")), 30u);
}

TEST_F(RecordingTest, NamesFromOutsideStayBelowTheirFolder) {
  std::filesystem::create_directories(file("in/sub"));
  std::filesystem::create_directory_symlink(folder_.path(), file("in/link"));
  const auto problem = [&](const std::string& path) -> std::string {
    Recording recording({}, 25, "");
    recording.start({path, {.overwrite = false, .beneath = file("in")}});
    try {
      write(recording, 0, 30);
      recording.stop();
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  for (const char* path : {"../a.mkv", "sub/../../a.mkv", "link/a.mkv"})
    EXPECT_NE(problem(path).find("leaves the folder"), std::string::npos) << path;
  EXPECT_NE(problem(file("a.mkv")), "");
  EXPECT_FALSE(std::filesystem::exists(file("a.mkv")));
  EXPECT_EQ(problem("sub/b.mkv"), "");
  EXPECT_EQ(frames_in(file("in/sub/b.mkv")), 30u);
}

TEST_F(RecordingTest, AnUnfinishedRecordingLosesAtMostASecond) {
  for (const char* name : {"k.mkv", "k.mp4", "k.mov", "k.webm"}) {
    Recording recording({}, 25, "");
    recording.start(target(name));
    int64_t written = 0;
    for (const int64_t upto : {40, 61, 75, 130}) {
      write(recording, written, upto - written);
      written = upto;
      std::filesystem::copy_file(file(name), file(std::string("copy") + name));  // as after kill -9
      EXPECT_GE(frames_in(file(std::string("copy") + name)) + 25, static_cast<size_t>(upto)) << name;
      std::filesystem::remove(file(std::string("copy") + name));
    }
    recording.stop();
    EXPECT_EQ(frames_in(file(name)), 130u) << name;
  }
}

TEST_F(RecordingTest, AFullDiskLeavesAPlayableFile) {
  for (const char* name : {"f.mkv", "f.mp4"}) {
    for (const rlim_t bytes : {90'000, 91'234, 100'001}) {
      Recording recording({}, 25, "");
      recording.start(target(name));
      {
        const FullDisk full(bytes);
        EXPECT_THROW(write(recording, 0, 2000), Error);
      }
      EXPECT_FALSE(recording.active());
      const int64_t kept = recording.report().frames;
      EXPECT_EQ(frames_in(file(name)), static_cast<size_t>(kept)) << name << bytes;
      EXPECT_GT(frames_in(file(name)), 100u);
      EXPECT_LE(std::filesystem::file_size(file(name)), bytes);
      std::filesystem::remove(file(name));
    }
  }
}

TEST_F(RecordingTest, AMissingEncoderIsNamed) {
  RecordSettings settings;
  settings.encoder.codec = "no_such_encoder";
  Recording recording(settings, 25, "");
  recording.start(target("n.mkv"));
  try {
    write(recording, 0, 1);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("no_such_encoder"), std::string::npos);
  }
  EXPECT_TRUE(files().empty());
  settings.encoder.codec = "hardware";  // works with and without a GPU
  Recording any(settings, 25, "");
  any.start(target("h.mkv"));
  write(any, 0, 30, {PixelFormat::rgba8, {320, 240}});
  any.stop();
  EXPECT_EQ(frames_in(file("h.mkv")), 30u);
}

TEST_F(RecordingTest, ADeletedFileIsFollowedByAnother) {
  for (const std::string ending : {".mkv", ".mp4"}) {
    Recording recording({}, 25, "");
    recording.start(target("r" + ending));
    write(recording, 0, 30);
    ASSERT_TRUE(std::filesystem::remove(file("r" + ending)));
    write(recording, 30, 120);  // key frames are 50 frames apart
    EXPECT_EQ(recording.report().files, 2);
    EXPECT_EQ(recording.report().path, file("r-2" + ending));
    recording.stop();
    ASSERT_EQ(files(), std::vector{file("r-2" + ending)});
    EXPECT_EQ(frames_in(files().front()), 100u);
    std::filesystem::remove(files().front());
  }
}

TEST_F(RecordingTest, AMovedFileStaysTheRecording) {
  Recording recording({}, 25, "");
  recording.start(target("r.mkv"));
  write(recording, 0, 30);
  std::filesystem::rename(file("r.mkv"), file("moved.mkv"));
  write(recording, 30, 120);
  recording.stop();
  ASSERT_EQ(files(), std::vector{file("moved.mkv")});
  EXPECT_EQ(frames_in(files().front()), 150u);
}

TEST_F(RecordingTest, AMissingHardwareEncoderIsAProblemThatIsReportedOnce) {
  RecordSettings settings;
  settings.encoder.codec = "hardware";
  Recording recording(settings, 25, "");
  recording.start(target("h.webm"));  // NVENC has no codec for this file type
  write(recording, 0, 2);
  const Notice notice = recording.take_notice();
  EXPECT_TRUE(notice.problem);
  EXPECT_EQ(notice.text, "there is no hardware encoder for this file type; using libvpx-vp9 instead");
  write(recording, 2, 4, {PixelFormat::rgba8, {640, 360}});  // continues in another file
  EXPECT_EQ(recording.take_notice().text, "");
  recording.stop();
  EXPECT_EQ(files().size(), 2u);
  recording.start(target("again.webm"));
  write(recording, 0, 2);
  EXPECT_TRUE(recording.take_notice().problem);
  recording.stop();

  // The software encoder was asked for.
  settings.encoder.codec = "auto";
  Recording software(settings, 25, "");
  software.start(target("s.webm"));
  write(software, 0, 2);
  EXPECT_EQ(software.take_notice().text, "");
}

TEST_F(RecordingTest, AudioFollowsJumpsAndSplits) {
  // 100 s of silence: 8 kHz, mono, 16 bits.
  std::string wav = std::string(
      "RIFF\x24\x6a\x18\x00WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data", 40);
  const uint32_t bytes = 1'600'000;
  wav.append(reinterpret_cast<const char*>(&bytes), 4);
  wav.append(bytes, '\0');
  put("a.wav", wav);
  RecordSettings settings;
  settings.split_seconds = 2;
  Recording recording(settings, 25, file("a.wav"));
  recording.start(target("j.mkv"));
  write(recording, 0, 60);
  for (int64_t i = 1000; i < 1060; ++i) {  // a seek to 40 s
    FrameInfo info = at(i);
    info.serial = 1;
    recording.write(picture(kFormat, 0).ref(), info);
  }
  recording.stop();
  std::filesystem::remove(file("a.wav"));
  ASSERT_EQ(files().size(), 3u);
  for (const std::string& f : files()) {
    auto source = open_source(f, {});
    EXPECT_TRUE(source->info().has_audio) << f;
    // The audio does not make the file longer than its pictures.
    EXPECT_LT(source->info().duration_ns, 2'200'000'000) << f;
  }
  EXPECT_EQ(frames_in_all(), 120u);
}

}  // namespace
}  // namespace lensd::test

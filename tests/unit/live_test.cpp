// Live sources: the state machine on a clock of its own, the source around connections that come and go, its
// placeholder pictures, and what is refused before anything is opened.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <list>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/media/cameras.hpp"
#include "core/media/glyphs.hpp"
#include "core/media/live_machine.hpp"
#include "core/media/live_options.hpp"
#include "core/media/live_source.hpp"
#include "tests/unit/media_fixture.hpp"

namespace lensd {
namespace {

constexpr int64_t ms = 1'000'000, s = 1'000 * ms;

// ---- LiveMachine ------------------------------------------------------------------------------------------

class MachineTest : public testing::Test {
 protected:
  LiveMachine machine{LiveTiming{}, 5 * s, 1};
  int64_t now = 5 * s;

  void connect() {
    ASSERT_TRUE(machine.attempt_due(now));
    machine.attempt_begun(now);
  }
  void play(int frames, int64_t interval = 40 * ms) {
    for (int i = 0; i < frames; ++i) machine.frame(now += interval);
  }
  LiveState state() {
    machine.tick(now);
    return machine.status().state;
  }
};

TEST_F(MachineTest, ConnectsAtOnceAndPlays) {
  EXPECT_EQ(state(), LiveState::connecting);
  connect();
  EXPECT_FALSE(machine.attempt_due(now + 100 * s));  // one connection at a time
  play(3);
  EXPECT_EQ(state(), LiveState::playing);
  EXPECT_EQ(machine.status().reason, "");
  EXPECT_EQ(machine.status().attempts, 1u);
  EXPECT_EQ(machine.status().reconnects, 0u);
  EXPECT_EQ(machine.status().since_ns, 5 * s + 40 * ms);
}

TEST_F(MachineTest, StallsAfterTheStallTimeAndPlaysOnByItself) {
  connect();
  play(10);
  EXPECT_EQ(machine.next_event_ns(), now + 700 * ms);
  now += 699 * ms;
  EXPECT_EQ(state(), LiveState::playing);
  now += 1 * ms;
  EXPECT_EQ(state(), LiveState::stalled);
  EXPECT_NE(machine.status().reason, "");
  play(1);
  EXPECT_EQ(state(), LiveState::playing);
  EXPECT_EQ(machine.status().stalls, 1u);
  EXPECT_EQ(machine.status().reconnects, 0u);
}

TEST_F(MachineTest, SlowCamerasAreGivenThreeIntervals) {
  connect();
  play(40, 1 * s);
  now += 2900 * ms;
  EXPECT_EQ(state(), LiveState::playing);
  now += 200 * ms;
  EXPECT_EQ(state(), LiveState::stalled);
}

TEST_F(MachineTest, FailedFirstAttemptsStayConnectingWithTheReason) {
  for (int i = 0; i < 3; ++i) {
    connect();
    machine.lost(now, "connection refused");
    EXPECT_EQ(state(), LiveState::connecting);
    EXPECT_EQ(machine.status().reason, "connection refused");
    EXPECT_FALSE(machine.attempt_due(now));
    now = machine.next_event_ns();
  }
  EXPECT_EQ(machine.status().attempts, 3u);
  EXPECT_EQ(machine.status().since_ns, 5 * s);
}

/// Waits between attempts while the source is away for `outage`, in the order of time since its loss.
std::vector<std::pair<int64_t, int64_t>> waits(LiveMachine& machine, int64_t now, int64_t outage) {
  std::vector<std::pair<int64_t, int64_t>> list;
  const int64_t begin = now;
  while (now - begin < outage) {
    machine.lost(now, "gone");
    const int64_t next = machine.next_event_ns();
    EXPECT_TRUE(machine.attempt_due(next));
    EXPECT_FALSE(machine.attempt_due(next - 1));
    list.emplace_back(now - begin, next - now);
    machine.attempt_begun(now = next);
  }
  return list;
}

TEST_F(MachineTest, RetriesFastForTenSecondsThenNeverSlowerThanTwo) {
  connect();
  play(5);
  std::set<int64_t> different;
  int64_t longest_late = 0;
  for (const auto& [since, wait] : waits(machine, now, 1000 * s)) {
    different.insert(wait);
    EXPECT_GT(wait, 190 * ms);
    if (since < 10 * s) {
      EXPECT_LE(wait, 250 * ms);
    } else if (since < 40 * s) {
      EXPECT_LE(wait, 1 * s);
    } else {
      EXPECT_LE(wait, 2 * s);
      longest_late = std::max(longest_late, wait);
    }
  }
  EXPECT_GT(longest_late, 1500 * ms);
  EXPECT_GT(different.size(), 100u);  // jitter
  EXPECT_EQ(state(), LiveState::reconnecting);
}

TEST_F(MachineTest, AReturnEndsTheOutage) {
  connect();
  play(5);
  waits(machine, now, 100 * s);
  now += 200 * s;
  play(2);
  EXPECT_EQ(state(), LiveState::playing);
  EXPECT_EQ(machine.status().reconnects, 1u);
  machine.lost(now, "gone");
  EXPECT_LE(machine.next_event_ns() - now, 250 * ms);  // fast again
}

TEST_F(MachineTest, LossFromAStallKeepsTheOutageInOneState) {
  connect();
  play(5);
  now += 1 * s;
  EXPECT_EQ(state(), LiveState::stalled);
  machine.lost(now += 2 * s, "nothing came for 3 s");
  EXPECT_EQ(state(), LiveState::reconnecting);
  const int64_t since = machine.status().since_ns;
  for (int i = 0; i < 3; ++i) {
    now = machine.next_event_ns();
    connect();
    machine.lost(now, "connection refused");
  }
  EXPECT_EQ(machine.status().since_ns, since);
  EXPECT_EQ(machine.status().reason, "connection refused");
}

// ---- LiveSource around scripted connections
// -----------------------------------------------------------------

/// Connections on demand: a test says what the next one does and lets pictures through.
struct Script {
  std::mutex mutex;
  std::condition_variable changed;
  bool up = false;
  int opened = 0, alive = 0, pictures = 0;
  Extent size{64, 48};
  bool live = true, hang = false, let_go = false;
  int64_t stamp_leap_ns = 0;
  std::string end;                         ///< why the connection ends; empty: it stands
  std::list<std::vector<uint8_t>> memory;  ///< of pictures, which outlive their connection

  void set(const auto& change) {
    const std::lock_guard lock(mutex);
    change(*this);
    changed.notify_all();
  }
};

class Connection final : public Source {
 public:
  Connection(Script& script, const std::atomic<bool>& cancel) : script_(script), cancel_(cancel) {
    std::unique_lock lock(script_.mutex);
    while (script_.hang && !script_.let_go) script_.changed.wait_for(lock, std::chrono::milliseconds(5));
    if (!script_.up) throw Error(ExitCode::bad_source, "script", "connection refused");
    ++script_.opened, ++script_.alive;
    info_.picture = Placeholder::default_info(script_.size);
    info_.codec = "script", info_.fps = 50, info_.live = script_.live;
    const auto area = static_cast<size_t>(script_.size.width) * static_cast<size_t>(script_.size.height);
    pixels_ = script_.memory.emplace_back(2 * area, uint8_t{128}).data();
  }
  ~Connection() override {
    const std::lock_guard lock(script_.mutex);
    --script_.alive;
  }
  const SourceInfo& info() const override { return info_; }
  FrameOutcome next(Picture& out) override {
    std::unique_lock lock(script_.mutex);
    for (;;) {
      if (cancel_) return FrameOutcome::again;
      if (!script_.end.empty()) throw Error(ExitCode::bad_source, "script", script_.end);
      if (script_.pictures > 0) break;
      script_.changed.wait_for(lock, std::chrono::milliseconds(5));
    }
    --script_.pictures;
    PictureRef ref;
    ref.info = info_.picture;
    const auto area =
        static_cast<size_t>(info_.picture.extent.width) * static_cast<size_t>(info_.picture.extent.height);
    ref.planes = {pixels_, pixels_ + area, pixels_ + area + area / 4, nullptr};
    ref.pitch_bytes = {info_.picture.extent.width, info_.picture.extent.width / 2,
                       info_.picture.extent.width / 2, 0};
    FrameInfo frame;
    frame.index = count_, frame.pts_ns = count_ * 20 * ms + script_.stamp_leap_ns;
    frame.capture_ns = now_ns();
    ++count_;
    out = Picture(ref, frame, &owner_);
    return FrameOutcome::ok;
  }
  void seek(int64_t) override {}
  std::string damage() const override { return {}; }
  void interrupt() noexcept override {}

 private:
  struct Owner final : PictureOwner {
    void recycle() noexcept override {}
  };
  static inline Owner owner_{};
  Script& script_;
  const std::atomic<bool>& cancel_;
  SourceInfo info_;
  const uint8_t* pixels_ = nullptr;
  int64_t count_ = 0;
};

class LiveSourceTest : public testing::Test {
 protected:
  void TearDown() override {
    script->set([](Script& x) { x.let_go = true; });
    source.reset();
  }
  void open(bool placeholders = true) {
    SourceOptions options;
    options.live.placeholders = placeholders;
    options.live.stall_ns = 100 * ms;
    source = std::make_unique<LiveSource>(
        "udp://127.0.0.1:1", options,
        [script = script](const std::atomic<bool>& cancel) {
          return std::make_unique<Connection>(*script, cancel);
        },
        10 * ms);
  }
  /// The next picture of the wanted kind; gives up after 20 s.
  Picture wait_for(bool placeholder) {
    Picture picture;
    for (const int64_t end = now_ns() + 20 * s; now_ns() < end;)
      if (source->next(picture) == FrameOutcome::ok && picture.info.placeholder == placeholder)
        return picture;
    ADD_FAILURE() << "no such picture came";
    return {};
  }

  // Shared with the reader, which may outlive the source.
  std::shared_ptr<Script> script = std::make_shared<Script>();
  std::unique_ptr<LiveSource> source;
};

TEST_F(LiveSourceTest, StartsWithoutTheSourceAndTellsWhy) {
  open();
  EXPECT_FALSE(source->opened());
  EXPECT_TRUE(source->info().live);
  EXPECT_EQ(source->info().picture.extent, (Extent{1280, 720}));
  const Picture picture = wait_for(true);
  EXPECT_EQ(picture.planes.info, source->info().picture);
  EXPECT_EQ(source->live_status().state, LiveState::connecting);
  EXPECT_EQ(source->live_status().reason, "connection refused");
}

TEST_F(LiveSourceTest, ComesGoesAndComesBackInAnotherSize) {
  open();
  const uint32_t away = wait_for(true).info.serial;
  script->set([](Script& x) { x.up = true, x.pictures = 2; });
  Picture first = wait_for(false);
  EXPECT_NE(first.info.serial, away);
  EXPECT_EQ(first.info.index, 0);
  const Picture second = wait_for(false);
  EXPECT_EQ(second.info.serial, first.info.serial);
  EXPECT_EQ(second.info.index, 1);
  EXPECT_EQ(second.info.pts_ns - first.info.pts_ns, 20 * ms);  // the stream's own times within a connection

  script->set([](Script& x) { x.up = false, x.end = "the stream ended"; });
  const Picture lost = wait_for(true);
  EXPECT_EQ(lost.planes.info, second.planes.info);  // no plan changes for it
  EXPECT_GT(lost.info.serial, second.info.serial);
  EXPECT_GT(lost.info.pts_ns, second.info.pts_ns);

  script->set([](Script& x) { x.up = true, x.end = "", x.size = {32, 32}, x.pictures = 1; });
  const Picture back = wait_for(false);
  EXPECT_EQ(back.planes.info.extent, (Extent{32, 32}));
  EXPECT_GT(back.info.serial, lost.info.serial);
  EXPECT_GT(back.info.pts_ns, lost.info.pts_ns);
  EXPECT_EQ(back.info.index, 2);
  EXPECT_EQ(source->live_status().reconnects, 1u);
}

TEST_F(LiveSourceTest, NewestWinsAndDropsAreCounted) {
  script->set([](Script& x) { x.up = true, x.pictures = 50; });
  open(false);
  while (source->live_status().frames < 50) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ(source->live_status().dropped, 48u);
  EXPECT_EQ(wait_for(false).info.index, 0);  // those that were dropped are not numbered
  EXPECT_EQ(wait_for(false).info.pts_ns > 0, true);
}

TEST_F(LiveSourceTest, LeapsOfTheStampsAreSmoothed) {
  script->set([](Script& x) { x.up = true, x.pictures = 1; });
  open(false);
  const int64_t before = wait_for(false).info.pts_ns;
  script->set([](Script& x) { x.stamp_leap_ns = 3600 * s, x.pictures = 1; });
  const int64_t ahead = wait_for(false).info.pts_ns;
  EXPECT_GT(ahead, before);
  EXPECT_LT(ahead, before + 60 * s);
  script->set([](Script& x) { x.stamp_leap_ns = -3600 * s, x.pictures = 1; });
  const int64_t behind = wait_for(false).info.pts_ns;
  EXPECT_GT(behind, ahead);
  EXPECT_LT(behind, ahead + 60 * s);
}

TEST_F(LiveSourceTest, InterruptionEndsTheWait) {
  open(false);
  std::atomic<bool> done{false};
  Picture picture;
  std::thread reader([&] {
    EXPECT_EQ(source->next(picture), FrameOutcome::again);
    done = true;
  });
  source->interrupt();
  reader.join();
  EXPECT_TRUE(done);
}

TEST_F(LiveSourceTest, EndsThoughTheReaderHangs) {
  script->set([](Script& x) { x.hang = true; });
  open();
  wait_for(true);  // placeholders come all the same
  source.reset();  // comes back, or the test hangs
  EXPECT_EQ(script->opened, 0);
}

TEST_F(LiveSourceTest, LossesLeaveOneConnection) {
  script->set([](Script& x) { x.up = true, x.pictures = 1; });
  open(false);
  for (int i = 0; i < 20; ++i) {
    wait_for(false);
    script->set([](Script& x) { x.end = "cut"; });
    while (source->live_status().state == LiveState::playing) std::this_thread::yield();
    script->set([](Script& x) {
      EXPECT_EQ(x.alive, 0);
      x.end = "", x.pictures = 1;
    });
  }
  wait_for(false);
  EXPECT_EQ(source->live_status().reconnects, 20u);
  const std::lock_guard lock(script->mutex);
  EXPECT_EQ(script->alive, 1);
}

TEST_F(LiveSourceTest, OptionsThatCannotWorkEndTheRun) {
  SourceOptions options;
  const auto refuse = [](const std::atomic<bool>&) -> std::unique_ptr<Source> {
    throw Error(ExitCode::invalid_config, "script", "no such option");
  };
  EXPECT_THROW(LiveSource("udp://127.0.0.1:1", options, refuse, 5 * s), Error);
}

// ---- Placeholder ------------------------------------------------------------------------------------------

class PlaceholderTest : public testing::TestWithParam<int> {};

/// Greys of the upright picture: how many pixels are as bright as text.
int ink_of(const Picture& picture) {
  const PictureFormat& f = picture.planes.info.format;
  const ComponentLayout& c = f.components[0];
  int ink = 0;
  for (int y = 0; y < picture.planes.info.extent.height; ++y)
    for (int x = 0; x < picture.planes.info.extent.width; ++x) {
      const uint8_t* p = picture.planes.planes[c.plane] + y * picture.planes.pitch_bytes[c.plane] +
                         std::ptrdiff_t{x} * c.step + c.offset;
      const int value = f.depth > 8 ? (p[0] | p[1] << 8) >> c.shift >> (f.depth - 8) : *p;
      ink += value > 180;
    }
  return ink;
}

PictureInfo format_number(int i) {
  PictureInfo info = Placeholder::default_info({320, 240});
  switch (i) {
    case 1:  // P010: 10 bits in the high bits, interleaved chroma
      info.format = {.model = ColourModel::yuv,
                     .depth = 10,
                     .chroma_shift_x = 1,
                     .chroma_shift_y = 1,
                     .plane_count = 2,
                     .components = {{{0, 2, 0, 6}, {1, 4, 0, 6}, {1, 4, 2, 6}, {}}}};
      break;
    case 2:  // packed RGBA
      info.format = {.model = ColourModel::rgb,
                     .depth = 8,
                     .has_alpha = true,
                     .plane_count = 1,
                     .components = {{{0, 4, 0, 0}, {0, 4, 1, 0}, {0, 4, 2, 0}, {0, 4, 3, 0}}}};
      break;
    case 3:
      info.format = {
          .model = ColourModel::gray, .depth = 8, .plane_count = 1, .components = {{{0, 1, 0, 0}}}};
      break;
    case 4:
      info.orientation = {true, true, false};
      break;
    case 5:  // YUYV
      info.format = {.model = ColourModel::yuv,
                     .depth = 8,
                     .chroma_shift_x = 1,
                     .plane_count = 1,
                     .components = {{{0, 2, 0, 0}, {0, 4, 1, 0}, {0, 4, 3, 0}, {}}}};
      break;
    default:
      break;
  }
  return info;
}

TEST_P(PlaceholderTest, KeepsTheFormatAndShowsText) {
  const PictureInfo info = format_number(GetParam());
  Placeholder placeholder;
  placeholder.set_ground(info, nullptr);
  const Picture plain = placeholder.make("", "", {});
  const Picture told = placeholder.make("stalled 3 s", "no pictures come", {});
  EXPECT_EQ(told.planes.info, info);
  EXPECT_EQ(ink_of(plain), 0);
  EXPECT_GT(ink_of(told), 300);
  Placeholder again;
  again.set_ground(info, &told);  // the last picture, darkened
  EXPECT_EQ(ink_of(again.make("", "", {})), 0);
}
INSTANTIATE_TEST_SUITE_P(Formats, PlaceholderTest, testing::Range(0, 6));

TEST(PlaceholderSizes, SmallestAndOdd) {
  for (const Extent size : {Extent{1, 1}, Extent{3, 3}, Extent{17, 31}, Extent{4095, 7}}) {
    Placeholder placeholder;
    placeholder.set_ground(Placeholder::default_info(size), nullptr);
    EXPECT_TRUE(placeholder.make("reconnecting 12 s", "a reason with quite a few words in it", {}));
  }
}

TEST(Glyphs, EveryLetterAndDigitIsThereAndDiffers) {
  std::set<std::array<uint8_t, kGlyphHeight>> seen;
  for (const char c : std::string("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")) seen.insert(glyph(c));
  EXPECT_EQ(seen.size(), 36u);
  EXPECT_EQ(glyph('a'), glyph('A'));
}

// ---- What is refused before anything is opened
// --------------------------------------------------------------

ExitCode refusal(const std::string& url, const LiveOptions& live = {}) {
  try {
    check_live_source(url, live);
  } catch (const Error& e) {
    return e.code();
  }
  return ExitCode::done;
}

TEST(LiveUrls, KindsAndParts) {
  EXPECT_EQ(classify("rtsp://camera/1"), UrlKind::network);
  EXPECT_EQ(classify("HTTPS://host/x"), UrlKind::network);
  EXPECT_EQ(classify("srt://:9000?mode=listener"), UrlKind::network);
  EXPECT_EQ(classify("ftp://host/x"), UrlKind::other);
  EXPECT_EQ(classify("file:///etc/passwd"), UrlKind::other);
  EXPECT_EQ(classify("/dev/video99"), UrlKind::camera);
  EXPECT_EQ(classify("v4l2:/dev/v4l/by-id/usb-x"), UrlKind::camera);
  EXPECT_EQ(classify("/dev/null"), UrlKind::other);
  EXPECT_EQ(classify("screen::0+10,20"), UrlKind::screen);
  EXPECT_EQ(host_of("rtsp://user:p@ss@cam.local:554/live"), "cam.local");
  EXPECT_EQ(host_of("http://[::1]:80/"), "::1");
  EXPECT_EQ(host_of("udp://@:1234"), "");
  EXPECT_EQ(scheme_of("RTSP://x"), "rtsp");
  EXPECT_EQ(short_name("v4l2:/dev/v4l/by-id/usb-x"), "usb-x");
}

TEST(LiveUrls, WhatCanNeverWorkIsRefusedAtOnce) {
  EXPECT_EQ(refusal("v4l2:/dev/null"), ExitCode::bad_source);
  EXPECT_EQ(refusal("v4l2:/etc/passwd"), ExitCode::bad_source);
  EXPECT_EQ(refusal("v4l2:video0"), ExitCode::bad_source);
  EXPECT_EQ(refusal("/dev/video99"), ExitCode::done);  // may be plugged in later
  EXPECT_EQ(refusal("rtsp:///nohost"), ExitCode::bad_source);
  EXPECT_EQ(refusal("udp://127.0.0.1:1234"), ExitCode::done);
  LiveOptions live;
  live.extra = {{"no_such_option", "1"}};
  for (const char* url : {"udp://127.0.0.1:1", "http://127.0.0.1/", "rtsp://h/", "srt://h:1", "/dev/video99"})
    EXPECT_EQ(refusal(url, live), ExitCode::invalid_config) << url;
  live.extra = {{"protocol_whitelist", "file"}};
  EXPECT_EQ(refusal("http://127.0.0.1/", live), ExitCode::invalid_config);
  live.extra = {{"fifo_size", "1000"}};
  EXPECT_EQ(refusal("udp://127.0.0.1:1", live), ExitCode::done);
  live.extra = {};
  live.size = {640, 480};
  EXPECT_EQ(refusal("rtsp://h/", live), ExitCode::invalid_config);
  EXPECT_EQ(refusal("/dev/video99", live), ExitCode::done);
}

TEST(LiveUrls, NoFileIsWithinReachOfTheNetwork) {
  for (const char* scheme : {"rtsp", "http", "https", "udp", "srt", "rtmp"}) {
    std::string protocols = ",", demuxers = ",";
    protocols.append(allowed_protocols(scheme)).append(",");
    demuxers.append(allowed_demuxers(scheme)).append(",");
    for (const char* local : {",file,", ",pipe,", ",concat,", ",crypto,", ",data,", ",subfile,", ",unix,"})
      EXPECT_EQ(protocols.find(local), std::string::npos) << scheme << local;
    for (const char* list : {",hls,", ",concat,", ",dash,", ",sdp,", ",image2,", ",lavfi,"})
      EXPECT_EQ(demuxers.find(list), std::string::npos) << scheme << list;
  }
}

TEST(LiveUrls, InternalAddresses) {
  for (const char* host : {"127.0.0.1", "10.1.2.3", "172.20.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0",
                           "100.64.0.1", "::1", "fe80::1", "fd00::1", "::ffff:10.0.0.1", "224.0.0.1"})
    EXPECT_TRUE(is_internal_host(host)) << host;
  for (const char* host : {"8.8.8.8", "172.32.0.1", "192.169.0.1", "2001:4860:4860::8888"})
    EXPECT_FALSE(is_internal_host(host)) << host;
}

TEST(LiveScreen, DisplayComesFromTheNameOrTheEnvironment) {
  const char* kept = std::getenv("DISPLAY");
  const std::string before = kept ? kept : "";
  setenv("DISPLAY", ":7", 1);
  EXPECT_EQ(screen_display("screen:"), ":7");
  EXPECT_EQ(screen_display("screen:+5,6"), ":7+5,6");
  EXPECT_EQ(screen_display("screen::1+5,6"), ":1+5,6");
  unsetenv("DISPLAY");
  EXPECT_THROW(screen_display("screen:"), Error);
  if (kept) setenv("DISPLAY", before.c_str(), 1);
}

// ---- Cameras
// ------------------------------------------------------------------------------------------------

TEST(Cameras, Names) {
  EXPECT_EQ(fourcc_text(0x47504A4D), "MJPG");
  EXPECT_EQ(fourcc_text(0x20203859), "Y8");
}

class CameraFolderTest : public test::MediaTest {};

TEST_F(CameraFolderTest, WhatIsNoCameraIsNotListed) {
  put("video0", "a file");
  put("videos", "");
  std::filesystem::create_symlink("/dev/null", folder_ / "video1");
  std::filesystem::create_symlink("nowhere", folder_ / "video2");
  EXPECT_TRUE(list_cameras(folder_.path()).empty());
  EXPECT_TRUE(list_cameras(file("missing")).empty());
  EXPECT_NE(never_a_camera(file("video0")), "");
  EXPECT_NE(never_a_camera("/dev/null"), "");
  EXPECT_EQ(never_a_camera(file("missing")), "");
  EXPECT_EQ(camera_obstacle(file("missing")), "the camera is not there");
}

// ---- Refusals by the whole source
// ---------------------------------------------------------------------------

TEST(LiveOpen, MustOpenFailsWithTheReason) {
  SourceOptions options;
  options.live.must_open = true;
  try {
    open_source("http://127.0.0.1:1/none.ts", options);
    FAIL() << "port 1 answered";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::bad_source);
    EXPECT_EQ(e.problem(), "connection refused");
  }
  EXPECT_THROW(open_source("/dev/video99", options), Error);
}

TEST(LiveOpen, WithoutItTheSourceIsAwaited) {
  auto source = open_source("http://127.0.0.1:1/none.ts?token=secret", {});
  EXPECT_TRUE(source->info().live);
  EXPECT_EQ(source->info().url.find("secret"), std::string::npos);
  EXPECT_EQ(source->live_status().state, LiveState::connecting);
  EXPECT_EQ(source->live_status().reason, "connection refused");
}

}  // namespace
}  // namespace lensd

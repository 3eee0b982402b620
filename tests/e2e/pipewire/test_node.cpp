// A node in the PipeWire session with pictures of 64×48 pixels, GRAY8. Runs until it is killed.
//
// usage: lensd_test_node damaged|only-damaged|still|frozen|window|turned
//   damaged: marks two of three pictures as damaged, alternately in the header and in the memory's
//     description; intact pictures have the value 100, damaged ones 255
//   only-damaged: all pictures are damaged
//   still: a variable rate; sends one picture to each receiver, like the screen cast of a still window
//   frozen: a fixed rate; sends three pictures to each receiver, like a camera that hangs
//   window: only a rectangle of the picture is shown, like a window in a buffer of the screen's size: 24×20
//     pixels, after SIGUSR1 30×10. Its pixels have the value 100, the others 255
//   turned: the sender has rotated the picture by 90 degrees counter-clockwise. In the upright picture the
//     right half has the value 100, the left half 255
#include <spa/buffer/meta.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iterator>
#include <limits>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/media/pipewire/frame_formats.hpp"
#include "core/media/pipewire/pipewire_session.hpp"
#include "core/media/pipewire/shown_region.hpp"

namespace lensd {
namespace {

constexpr int kWidth = 64, kHeight = 48;
constexpr int64_t kPeriodNs = 20'000'000;

enum class Mode { damaged, only_damaged, still, frozen, window, turned };
constexpr std::string_view kModes[] = {"damaged", "only-damaged", "still", "frozen", "window", "turned"};
constexpr ShownRegion kWindow = {17, 9, {24, 20}}, kResized = {5, 30, {30, 10}};
volatile sig_atomic_t resized = 0;  ///< set by SIGUSR1

class TestNode {
 public:
  explicit TestNode(Mode mode) : mode_(mode), session_({.on_timer = [this] { send(); }}) {
    const PipewireLock lock(session_);
    if (const std::string problem = session_.connect(); !problem.empty())
      throw Error(ExitCode::unavailable, "pipewire", problem);
    open();
    session_.set_timer(kPeriodNs);
  }

 private:
  void open() {
    static const pw_stream_events events = [] {
      pw_stream_events e = {};
      e.version = PW_VERSION_STREAM_EVENTS;
      e.param_changed = negotiated, e.state_changed = state_changed;
      return e;
    }();
    const PipewireApi& api = session_.api();
    stream_ = api.stream_new(session_.core(), "test",
                             api.properties_new(PW_KEY_MEDIA_CLASS, "Video/Source", PW_KEY_MEDIA_ROLE,
                                                "Camera", PW_KEY_NODE_NAME, "test-node", nullptr));
    api.stream_add_listener(stream_, &hook_, &events, this);
    std::array<uint8_t, 1024> memory;
    spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory.data(), memory.size());
    const spa_fraction rate = mode_ == Mode::still ? spa_fraction{0, 1} : spa_fraction{50, 1};
    const spa_pod* offer =
        build_offer(builder, {.frames = {PixelFormat::gray8, {kWidth, kHeight}}, .rate = rate});
    const auto flags = static_cast<pw_stream_flags>(PW_STREAM_FLAG_MAP_BUFFERS | PW_STREAM_FLAG_DRIVER);
    api.stream_connect(stream_, PW_DIRECTION_OUTPUT, PW_ID_ANY, flags, &offer, 1);
  }

  static void negotiated(void* data, uint32_t id, const spa_pod* format) {
    TestNode& node = *static_cast<TestNode*>(data);
    if (id != SPA_PARAM_Format || !format) return;
    std::array<uint8_t, 1024> memory;
    spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory.data(), memory.size());
    const spa_pod* const buffers = build_buffers(builder, kWidth, kHeight);
    const spa_pod* const header = build_header_request(builder);
    const auto [crop, transform] = build_region_requests(builder);
    const std::array<const spa_pod*, 4> params = {buffers, header, crop, transform};
    node.session_.api().stream_update_params(node.stream_, const_cast<const spa_pod**>(params.data()),
                                             params.size());
  }

  static void state_changed(void* data, pw_stream_state, pw_stream_state state, const char*) {
    TestNode& node = *static_cast<TestNode*>(data);
    node.streaming_ = state == PW_STREAM_STATE_STREAMING;
    if (!node.streaming_) node.sent_ = 0;
  }

  /// Returns the number of pictures for each receiver.
  int most_pictures() const {
    if (mode_ == Mode::still) return 1;
    return mode_ == Mode::frozen ? 3 : std::numeric_limits<int>::max();
  }

  int damage() const {
    if (mode_ != Mode::damaged && mode_ != Mode::only_damaged) return 0;
    return mode_ == Mode::only_damaged ? 1 + sent_ % 2 : sent_ % 3;
  }

  void send() {
    session_.set_timer(kPeriodNs);
    if (!streaming_ || sent_ >= most_pictures()) return;
    const PipewireApi& api = session_.api();
    pw_buffer* const shared = api.stream_dequeue_buffer(stream_);
    if (!shared) return;
    const int kind = damage();
    ++sent_;
    spa_data& data = shared->buffer->datas[0];
    fill(static_cast<uint8_t*>(data.data), kind == 0 ? 100 : 255);
    if (mode_ == Mode::window) set_window(*shared->buffer);
    if (mode_ == Mode::turned) set_turn(*shared->buffer);
    *data.chunk = {.offset = 0,
                   .size = kWidth * kHeight,
                   .stride = kWidth,
                   .flags = kind == 1 ? int32_t{SPA_CHUNK_FLAG_CORRUPTED} : 0};
    if (auto* header = static_cast<spa_meta_header*>(
            spa_buffer_find_meta_data(shared->buffer, SPA_META_Header, sizeof(spa_meta_header)))) {
      *header = {};
      header->pts = now_ns();
      header->flags = kind == 2 ? SPA_META_HEADER_FLAG_CORRUPTED : 0;
    }
    api.stream_queue_buffer(stream_, shared);
    api.stream_trigger_process(stream_);
  }

  const ShownRegion& window() const { return resized ? kResized : kWindow; }

  bool shown(int x, int y) const {
    const ShownRegion& w = window();
    if (mode_ == Mode::turned) return y < kHeight / 2;
    return mode_ != Mode::window ||
           (x >= w.x && x < w.x + w.size.width && y >= w.y && y < w.y + w.size.height);
  }

  void fill(uint8_t* pixels, uint8_t value) const {
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x) *pixels++ = shown(x, y) ? value : 255;
  }

  void set_window(const spa_buffer& buffer) const {
    auto* const crop = static_cast<spa_meta_region*>(
        spa_buffer_find_meta_data(&buffer, SPA_META_VideoCrop, sizeof(spa_meta_region)));
    const ShownRegion& w = window();
    if (crop)
      crop->region = {{w.x, w.y},
                      {static_cast<uint32_t>(w.size.width), static_cast<uint32_t>(w.size.height)}};
  }

  static void set_turn(const spa_buffer& buffer) {
    if (auto* const turn =
            static_cast<uint32_t*>(spa_buffer_find_meta_data(&buffer, kMetaTransform, sizeof(uint32_t))))
      *turn = 1;
  }

  const Mode mode_;
  bool streaming_ = false;
  int sent_ = 0;  ///< to the current receiver
  pw_stream* stream_ = nullptr;
  spa_hook hook_ = {};
  PipewireSession session_;
};

}  // namespace
}  // namespace lensd

int main(int argc, char** argv) {
  using namespace lensd;
  const auto mode = std::ranges::find(kModes, argc > 1 ? argv[1] : "");
  if (mode == std::end(kModes)) {
    std::fprintf(stderr, "usage: lensd_test_node damaged|only-damaged|still|frozen|window|turned\n");
    return 2;
  }
  try {
    const TestNode node(static_cast<Mode>(mode - std::begin(kModes)));
    std::signal(SIGUSR1, [](int) { resized = 1; });
    for (;;) pause();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

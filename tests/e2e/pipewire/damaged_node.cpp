// A camera in the PipeWire session that marks two of three pictures as damaged, alternately in the header and
// in the memory's description. Intact pictures are grey with the value 100, damaged ones white. With the
// argument "only", all pictures are damaged. Runs until it is killed.
#include <spa/buffer/meta.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/media/pipewire/frame_formats.hpp"
#include "core/media/pipewire/pipewire_session.hpp"

namespace lensd {
namespace {

constexpr int kWidth = 64, kHeight = 48;
constexpr int64_t kPeriodNs = 20'000'000;

class DamagedNode {
 public:
  explicit DamagedNode(bool only_damaged)
      : only_damaged_(only_damaged), session_({.on_timer = [this] { send(); }}) {
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
      e.version = PW_VERSION_STREAM_EVENTS, e.param_changed = negotiated;
      return e;
    }();
    const PipewireApi& api = session_.api();
    stream_ = api.stream_new(session_.core(), "damaged",
                             api.properties_new(PW_KEY_MEDIA_CLASS, "Video/Source", PW_KEY_MEDIA_ROLE,
                                                "Camera", PW_KEY_NODE_NAME, "damaged", nullptr));
    api.stream_add_listener(stream_, &hook_, &events, this);
    std::array<uint8_t, 1024> memory;
    spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory.data(), memory.size());
    const spa_pod* offer =
        build_offer(builder, {.frames = {PixelFormat::gray8, {kWidth, kHeight}}, .rate = {50, 1}});
    const auto flags = static_cast<pw_stream_flags>(PW_STREAM_FLAG_MAP_BUFFERS | PW_STREAM_FLAG_DRIVER);
    api.stream_connect(stream_, PW_DIRECTION_OUTPUT, PW_ID_ANY, flags, &offer, 1);
  }

  static void negotiated(void* data, uint32_t id, const spa_pod* format) {
    DamagedNode& node = *static_cast<DamagedNode*>(data);
    if (id != SPA_PARAM_Format || !format) return;
    std::array<uint8_t, 1024> memory;
    spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory.data(), memory.size());
    const std::array<const spa_pod*, 2> params = {build_buffers(builder, kWidth, kHeight),
                                                  build_header_request(builder)};
    node.session_.api().stream_update_params(node.stream_, const_cast<const spa_pod**>(params.data()),
                                             params.size());
  }

  void send() {
    session_.set_timer(kPeriodNs);
    const PipewireApi& api = session_.api();
    pw_buffer* const shared = api.stream_dequeue_buffer(stream_);
    if (!shared) return;
    const int kind = only_damaged_ ? 1 + sent_ % 2 : sent_ % 3;
    ++sent_;
    spa_data& data = shared->buffer->datas[0];
    std::memset(data.data, kind == 0 ? 100 : 255, size_t{kWidth} * kHeight);
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

  const bool only_damaged_;
  int sent_ = 0;
  pw_stream* stream_ = nullptr;
  spa_hook hook_ = {};
  PipewireSession session_;
};

}  // namespace
}  // namespace lensd

int main(int argc, char** argv) {
  try {
    const lensd::DamagedNode node(argc > 1 && std::string_view(argv[1]) == "only");
    pause();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

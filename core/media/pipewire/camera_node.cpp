#include "core/media/pipewire/camera_node.hpp"

#include <fmt/format.h>

#include <spa/param/video/format-utils.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/contains.hpp"

namespace lensd {
namespace {

/// Interval of attempts to connect, and of checks whether to repeat a frame.
constexpr int64_t kTickNs = 200'000'000;
/// The newest frame is repeated after this time without a new one, so that a receiver that joins gets it.
constexpr int64_t kRepeatNs = 1'000'000'000;
/// If a cycle does not end within this time, a new one may start and replace a buffer that a receiver has not
/// taken. On a loaded machine, PipeWire sometimes does not report the end of a cycle. The time is shorter
/// than kMaxWaiting frames at 50 fps, so that a missing report loses no frames.
constexpr int64_t kLongestCycleNs = 100'000'000;
/// Minimum time between cycles while their ends are not reported. For up to 3 s after some receivers have
/// joined, PipeWire 0.3 reports no ends, although the receivers get the buffers.
constexpr int64_t kShortestCycleNs = 5'000'000;
/// More filled buffers than this would only add delay.
constexpr int kMaxWaiting = 6;

constexpr const char* kWhere = "virtual camera";

template <class T>
T* find_meta(spa_buffer& buffer, uint32_t type) {
  return static_cast<T*>(spa_buffer_find_meta_data(&buffer, type, sizeof(T)));
}

}  // namespace

CameraNode::CameraNode(const std::string& name, bool dither, NoticeList& notices)
    : name_(name),
      dither_(dither),
      notices_(notices),
      session_({.on_lost = [this] { lose(); },
                .on_timer = [this] { on_timer(); },
                .on_synced = [this] { connected(); }}) {
  status_.name = name;
  const PipewireLock lock(session_);
  publish();
  session_.set_timer(1);
}

CameraNode::~CameraNode() {
  const PipewireLock lock(session_);
  close_stream();
  session_.disconnect();  // after this, only the timer's callback can still run
  session_.set_timer(0);
}

// ---- the connection, on the event thread ----------------------------------------------------------------

void CameraNode::on_timer() {
  if (std::exchange(lost_, false)) {
    close_stream();
    session_.disconnect();
    answered_ = false;
    set_waiting("PipeWire ended the connection");
  } else if (!session_.core()) {
    connect();
  }
  if (streaming_ && now_ns() - sent_ns_ >= kRepeatNs) send(true);
  if (streaming_ && waiting_ > 0 && may_start_cycle(now_ns())) start_cycle(now_ns());
  publish();
  session_.set_timer(kTickNs);
}

void CameraNode::connect() {
  if (const std::string problem = session_.connect(); !problem.empty()) return set_waiting(problem);
  session_.sync();
}

/// Called when the daemon has answered. A successful connect() is not enough, because a daemon that shuts
/// down still accepts connections.
void CameraNode::connected() {
  if (lost_ || std::exchange(answered_, true)) return;
  if (std::exchange(was_connected_, true)) notices_.add(false, fmt::format("{}: connected again", kWhere));
  reason_.clear();
  if (newest_.width() > 0) open_stream();
  publish();
}

/// Stores why there is no connection. Adds a notice only at the start of an outage, not for each failed
/// attempt.
void CameraNode::set_waiting(const std::string& reason) {
  if (reason_.empty() || reason_ == "connecting")
    notices_.add(true, fmt::format("{} '{}': {}; waiting for it", kWhere, name_, reason));
  was_connected_ = true;
  reason_ = reason;
}

/// Ends the connection in on_timer(), because it must not end within its own callback.
void CameraNode::lose() {
  lost_ = true, streaming_ = false;
  publish();
  session_.set_timer(1);
}

// ---- the stream -----------------------------------------------------------------------------------------

void CameraNode::open_stream() {
  static const pw_stream_events events = [] {
    pw_stream_events e = {};
    e.version = PW_VERSION_STREAM_EVENTS;
    e.state_changed = state_changed, e.param_changed = param_changed, e.trigger_done = cycle_done;
    return e;
  }();
  const PipewireApi& api = session_.api();
  pw_properties* const properties = api.properties_new(
      PW_KEY_MEDIA_TYPE, "Video", PW_KEY_MEDIA_CATEGORY, "Source", PW_KEY_MEDIA_ROLE, "Camera",
      PW_KEY_MEDIA_CLASS, "Video/Source", PW_KEY_NODE_NAME, name_.c_str(), PW_KEY_NODE_DESCRIPTION,
      name_.c_str(), PW_KEY_MEDIA_NAME, name_.c_str(), PW_KEY_APP_NAME, "lensd", nullptr);
  stream_ = api.stream_new(session_.core(), name_.c_str(), properties);
  if (!stream_) return lose();
  api.stream_add_listener(stream_, &stream_hook_, &events, this);
  std::array<uint8_t, 1024> memory;
  spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory.data(), static_cast<uint32_t>(memory.size()));
  const spa_pod* offer = build_offer(builder, offered_);
  const auto flags = static_cast<pw_stream_flags>(PW_STREAM_FLAG_MAP_BUFFERS | PW_STREAM_FLAG_DRIVER);
  if (api.stream_connect(stream_, PW_DIRECTION_OUTPUT, PW_ID_ANY, flags, &offer, 1) < 0) lose();
}

void CameraNode::close_stream() {
  streaming_ = false;
  reset_cycles();
  negotiated_ = {};
  if (!stream_) return;
  spa_hook_remove(&stream_hook_);
  session_.api().stream_destroy(std::exchange(stream_, nullptr));
}

/// Offers the new format of the frames. The daemon then negotiates format and buffers with all receivers.
void CameraNode::offer() {
  std::array<uint8_t, 1024> memory;
  spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory.data(), static_cast<uint32_t>(memory.size()));
  const spa_pod* offer = build_offer(builder, offered_);
  negotiated_ = {};
  session_.api().stream_update_params(stream_, &offer, 1);
}

void CameraNode::state_changed(void* data, pw_stream_state, pw_stream_state state, const char*) {
  CameraNode& node = *static_cast<CameraNode*>(data);
  node.streaming_ = state == PW_STREAM_STATE_STREAMING;
  node.reset_cycles();
  if (state == PW_STREAM_STATE_ERROR || state == PW_STREAM_STATE_UNCONNECTED) return node.lose();
  if (!node.streaming_) return node.publish();
  node.publish();
  node.sent_ns_ = 0;  // the timer sends the newest frame
  node.session_.set_timer(1);
}

void CameraNode::param_changed(void* data, uint32_t id, const spa_pod* param) {
  CameraNode& node = *static_cast<CameraNode*>(data);
  if (id == SPA_PARAM_Format) param ? node.accept(param) : void(node.negotiated_ = {});
}

/// Answers the negotiated format with the buffers that it needs.
void CameraNode::accept(const spa_pod* format) {
  spa_video_info_raw info = {};  // SPA_VIDEO_FORMAT_UNKNOWN if `format` cannot be parsed
  spa_format_video_raw_parse(format, &info);
  const auto formats = sent_formats(offered_.frames.format);
  if (!contains(formats, info.format)) return;  // also if it answers an older offer
  format_ = info.format;
  negotiated_ = offered_.frames;
  negotiated_.extent = {static_cast<int>(info.size.width), static_cast<int>(info.size.height)};
  std::array<uint8_t, 1024> memory;
  spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory.data(), static_cast<uint32_t>(memory.size()));
  const int row_bytes = sent_row_bytes(format_, negotiated_.extent.width);
  const std::array<const spa_pod*, 2> params = {build_buffers(builder, row_bytes, negotiated_.extent.height),
                                                build_header_request(builder)};
  session_.api().stream_update_params(stream_, const_cast<const spa_pod**>(params.data()), params.size());
}

// ---- frames ---------------------------------------------------------------------------------------------

void CameraNode::write(ConstImageRef image, PixelAspect aspect, double fps) {
  const PipewireLock lock(session_);
  const ImageFormat format = as_8_bits(image.format);
  if (newest_.format != format || newest_.pixels.empty()) newest_ = Image(format);
  copy_as_8_bits(image, dither_, newest_.ref());
  const OfferedVideo wanted{format, rate_fraction(fps), aspect};
  const bool changed = !(wanted == offered_);
  offered_ = wanted;
  if (!answered_ || lost_) return;
  if (!stream_) return open_stream();
  if (changed) return offer();  // the frame is sent by on_timer() or replaced by the next one
  if (streaming_) send(false);
  publish();
}

/// Returns a buffer that no receiver reads, or null.
pw_buffer* CameraNode::free_buffer() {
  // While a receiver keeps a buffer, the library refuses it with EBUSY and moves it to the end of its list.
  for (int tries = 0; tries < kMaxBuffers; ++tries) {
    if (pw_buffer* const buffer = session_.api().stream_dequeue_buffer(stream_)) return buffer;
    if (errno != EBUSY) break;
  }
  return nullptr;
}

/// Fills a shared buffer with the newest frame. `repeated`: receivers may already have received it.
void CameraNode::send(bool repeated) {
  const int64_t now = now_ns();
  if (!(negotiated_ == newest_.format)) return;
  const PipewireApi& api = session_.api();
  const bool stuck = waiting_ >= kMaxWaiting;
  pw_buffer* const shared = stuck ? nullptr : free_buffer();
  if (!shared && !repeated) ++dropped_;
  if (stuck && may_start_cycle(now)) start_cycle(now);
  if (!shared) return;
  spa_buffer& buffer = *shared->buffer;
  const int row_bytes = sent_row_bytes(format_, newest_.width());
  const auto bytes = static_cast<uint32_t>(row_bytes * newest_.height());
  spa_data& data = buffer.datas[0];
  const bool fits = data.data && data.maxsize >= bytes;
  if (fits) copy_frame(newest_.ref(), format_, static_cast<uint8_t*>(data.data));
  data.chunk->offset = 0, data.chunk->size = fits ? bytes : 0, data.chunk->stride = row_bytes;
  data.chunk->flags = fits ? 0 : SPA_CHUNK_FLAG_CORRUPTED;
  if (auto* header = find_meta<spa_meta_header>(buffer, SPA_META_Header)) {
    *header = {};
    header->pts = now, header->seq = sequence_++;
  }
  api.stream_queue_buffer(stream_, shared);
  sent_ns_ = now;
  if (!repeated) ++frames_;
  ++waiting_;
  if (may_start_cycle(now)) start_cycle(now);
}

void CameraNode::reset_cycles() {
  ends_reported_ = late_end_ = false;
  cycle_ns_ = 0, waiting_ = timeouts_ = 0;
}

bool CameraNode::may_start_cycle(int64_t now) const {
  return cycle_ns_ == 0 || now - cycle_ns_ > (ends_reported_ ? kLongestCycleNs : kShortestCycleNs);
}

/// Lets the receivers take the oldest filled buffer. If another node drives the graph, they take the buffer
/// in the next cycle of that node.
void CameraNode::start_cycle(int64_t now) {
  const PipewireApi& api = session_.api();
  const bool overtakes = cycle_ns_ != 0;
  if (overtakes && (ends_reported_ || timeouts_ > 0))
    ++dropped_;  // the new cycle may replace a buffer that a receiver has not taken
  if (overtakes && ends_reported_) {
    // PipeWire may report the end of the late cycle when the next one starts. If the next one is late, too,
    // reports are missing.
    late_end_ = ++timeouts_ == 1;
    ends_reported_ = late_end_;
  }
  cycle_ns_ = api.stream_is_driving(stream_) ? now : 0;
  waiting_ = std::max(0, waiting_ - 1);
  api.stream_trigger_process(stream_);
}

void CameraNode::cycle_done(void* data) {
  CameraNode& node = *static_cast<CameraNode*>(data);
  if (std::exchange(node.late_end_, false)) return;
  if (node.timeouts_ > 0 && !node.ends_reported_)
    ++node.dropped_;  // this may be the end of an overtaken cycle
  node.ends_reported_ = true, node.cycle_ns_ = 0, node.timeouts_ = 0;
  if (node.waiting_ > 0 && node.streaming_) node.start_cycle(now_ns());
}

VirtualCamera::Status CameraNode::status() const {
  const std::lock_guard lock(status_mutex_);
  return status_;
}

/// Copies the state for status(), which does not wait while a frame is copied.
void CameraNode::publish() {
  const std::lock_guard lock(status_mutex_);
  status_.state = !answered_ || lost_ ? VirtualCamera::State::waiting
                  : streaming_        ? VirtualCamera::State::streaming
                                      : VirtualCamera::State::ready;
  status_.frames = frames_, status_.dropped = dropped_;
  status_.reason = status_.state == VirtualCamera::State::waiting ? reason_ : "";
}

}  // namespace lensd

#include "core/media/input/pipewire_capture.hpp"

extern "C" {
#include <libavutil/imgutils.h>
}

#include <fmt/format.h>
#include <spa/buffer/meta.h>
#include <spa/param/buffers.h>
#include <spa/param/video/format-utils.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/media/ffmpeg/interrupt.hpp"
#include "core/media/pipewire/find_node.hpp"
#include "core/media/pipewire/frame_formats.hpp"
#include "core/media/pipewire/kept_picture.hpp"
#include "core/media/pipewire/mapped_blocks.hpp"
#include "core/media/pipewire/pipewire_session.hpp"
#include "core/media/pipewire/portal_access.hpp"
#include "core/media/pipewire/received_formats.hpp"
#include "core/media/pipewire/shown_region.hpp"
#include "core/media/pipewire_nodes.hpp"

namespace lensd {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(50);
constexpr int64_t kFormatNs = 10'000'000'000;  ///< limit of the wait for a format
/// Since PipeWire 1.2, streams are asynchronous by default and get each picture one cycle late. If a shared
/// window does not change, no further cycle follows, and its last picture would not arrive.
constexpr const char* kNodeAsync = "node.async";
constexpr int64_t kFirstPictureNs = 500'000'000;       ///< wait before the first request_first_picture()
constexpr int64_t kLastPictureWaitNs = 4'000'000'000;  ///< wait before the last request_first_picture()
constexpr int64_t kOldestStampNs = 1'000'000'000;      ///< an older timestamp is from another clock

std::optional<PortalAccess> ask_portal(const std::string& url, const std::string& where, PortalGrant* grant,
                                       const StopFlags& stop, int64_t timeout_ns) {
  const auto target = portal_target(url);
  if (!target) return std::nullopt;
  return std::optional<PortalAccess>(std::in_place, *target, where, *grant, stop, timeout_ns);
}

/// Returns the node that the portal gives access to. Only the portal's connection lists it, so find_node()
/// cannot find it.
PipewireNode node_of(const PortalAccess& access) {
  PipewireNode node;
  node.camera = !access.node();
  node.id = access.node().value_or(PW_ID_ANY);
  return node;
}

}  // namespace

/// The connection and its stream. PipeWire's thread calls the callbacks with the session's lock.
struct PipewireCapture::Stream {
  Stream(const std::string& url, const std::string& where_, const Request& request, const StopFlags& stop,
         int64_t timeout_ns, CameraMonitor& counters);
  ~Stream();

  void connect(const Request& request);
  void wait_for_format(const StopFlags& stop, int64_t timeout_ns);
  bool shares_screen() const { return access && access->node(); }
  bool may_be_silent() const;
  bool ready(int64_t now);
  void request_first_picture(int64_t now);
  int copy(AVFrame& frame, PictureAllocator& allocator);
  void accept(const spa_pod* format);
  void lose(const std::string& reason);
  void lose_node();
  void notify();

  static void state_changed(void* data, pw_stream_state, pw_stream_state state, const char* error);
  static void param_changed(void* data, uint32_t id, const spa_pod* param);
  static void remove_buffer(void* data, pw_buffer* buffer);
  static void process(void* data);
  static void removed(void* data, uint32_t id);

  const std::string where;
  const std::shared_ptr<PortalGrant> grant;  ///< null if the source is not the portal's
  std::optional<PortalAccess> access;
  const PipewireNode node;
  KeptPicture kept;  ///< used by the reading thread only

  std::mutex mutex;
  std::condition_variable changed;
  bool signalled = false;  ///< guarded by `mutex`

  PipewireSession session;
  // Guarded by the session's lock.
  pw_stream* stream = nullptr;
  pw_registry* registry = nullptr;
  spa_hook stream_hook = {}, registry_hook = {};
  std::string lost;  ///< why no more pictures follow; empty: the stream is not lost
  bool streaming = false;
  int64_t streaming_since_ns = 0;
  int64_t picture_wait_ns = kFirstPictureNs;  ///< doubles with each restart
  bool restarting = false;                    ///< see request_first_picture()
  bool node_ended = false;                    ///< the node disappeared, but the connection was intact
  spa_video_info_raw info = {};
  AVPixelFormat pixels = AV_PIX_FMT_NONE;
  Extent size;
  pw_buffer* newest = nullptr;  ///< the newest intact buffer; null: none since the last read()
  SettledSize settled_size;     ///< size of the pictures, which may be parts of the buffers
  uint64_t replaced = 0;
  CameraMonitor& monitor;
  const uint64_t damaged_before = monitor.broken;  ///< damaged pictures of earlier connections
};

PipewireCapture::Stream::Stream(const std::string& url, const std::string& where_, const Request& request,
                                const StopFlags& stop, int64_t timeout_ns, CameraMonitor& counters)
    : where(where_),
      grant(request.grant),
      access(ask_portal(url, where_, grant.get(), stop, timeout_ns)),
      node(access ? node_of(*access) : find_node(pipewire_node_of(url), where_)),
      kept(request.repeat_ns),
      session({.on_lost = [this] { lose("PipeWire ended the connection"); }}),
      monitor(counters) {}

PipewireCapture::Stream::~Stream() {
  const PipewireLock lock(session);
  newest = nullptr;
  if (stream) {
    spa_hook_remove(&stream_hook);
    session.api().stream_destroy(stream);
  }
  if (registry) {
    spa_hook_remove(&registry_hook);
    session.api().proxy_destroy(reinterpret_cast<pw_proxy*>(registry));
  }
  session.disconnect();  // no callbacks follow
  // The user may have stopped the sharing: do not restore it without a dialog.
  if (node_ended && kept.any() && grant) grant->token.clear();
  log::debug("{}: {} pictures were replaced by newer ones, {} were damaged", where, replaced,
             monitor.broken - damaged_before);
}

void PipewireCapture::Stream::connect(const Request& request) {
  static const pw_stream_events events = [] {
    pw_stream_events e = {};
    e.version = PW_VERSION_STREAM_EVENTS;
    e.state_changed = state_changed, e.param_changed = param_changed;
    e.process = process, e.remove_buffer = remove_buffer;
    return e;
  }();
  static const pw_registry_events registry_events = [] {
    pw_registry_events e = {};
    e.version = PW_VERSION_REGISTRY_EVENTS, e.global_remove = removed;
    return e;
  }();
  const PipewireLock lock(session);
  const PipewireApi& api = session.api();
  if (const std::string problem = session.connect(access ? access->take_remote() : UniqueFd());
      !problem.empty())
    throw Error(ExitCode::bad_source, where, problem);
  registry = pw_core_get_registry(session.core(), PW_VERSION_REGISTRY, 0);
  if (!registry) throw Error(ExitCode::bad_source, where, "cannot list the nodes of PipeWire");
  pw_registry_add_listener(registry, &registry_hook, &registry_events, this);
  const bool shared_screen = shares_screen();
  pw_properties* const properties = api.properties_new(
      PW_KEY_MEDIA_TYPE, "Video", PW_KEY_MEDIA_CATEGORY, "Capture", PW_KEY_MEDIA_ROLE,
      shared_screen ? "Screen" : "Camera", PW_KEY_APP_NAME, "lensd", kNodeAsync, "false", nullptr);
  if (!node.serial.empty()) api.properties_set(properties, PW_KEY_TARGET_OBJECT, node.serial.c_str());
  stream = api.stream_new(session.core(), "lensd", properties);
  if (!stream) throw Error(ExitCode::bad_source, where, "PipeWire cannot create a stream");
  api.stream_add_listener(stream, &stream_hook, &events, this);
  std::array<uint8_t, 1024> memory;
  spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory.data(), static_cast<uint32_t>(memory.size()));
  const Extent preferred = request.size.width > 0 ? request.size : Extent{1280, 720};
  // Screens have a variable rate. Its limit is at least 1 frame per second.
  const spa_fraction most =
      shared_screen && request.rate > 0 ? rate_fraction(std::max(request.rate, 1.0)) : spa_fraction{0, 1};
  const spa_pod* formats =
      build_request(builder, preferred, rate_fraction(request.rate > 0 ? request.rate : 30), most);
  const auto flags = static_cast<pw_stream_flags>(PW_STREAM_FLAG_AUTOCONNECT | PW_STREAM_FLAG_MAP_BUFFERS |
                                                  PW_STREAM_FLAG_DONT_RECONNECT);
  // The portal names screens by their ID only.
  const uint32_t target = shared_screen ? node.id : PW_ID_ANY;
  if (api.stream_connect(stream, PW_DIRECTION_INPUT, target, flags, &formats, 1) < 0)
    throw Error(ExitCode::bad_source, where, "PipeWire refuses the stream");
}

void PipewireCapture::Stream::notify() {
  const std::lock_guard lock(mutex);
  signalled = true;
  changed.notify_one();
}

void PipewireCapture::Stream::lose(const std::string& reason) {
  if (lost.empty()) lost = reason;
  notify();
}

void PipewireCapture::Stream::lose_node() {
  if (lost.empty()) node_ended = true;
  lose("the node is gone");
}

void PipewireCapture::Stream::removed(void* data, uint32_t id) {
  Stream& self = *static_cast<Stream*>(data);
  if (id == self.node.id) self.lose_node();
}

void PipewireCapture::Stream::state_changed(void* data, pw_stream_state, pw_stream_state state,
                                            const char* error) {
  Stream& self = *static_cast<Stream*>(data);
  self.streaming = state == PW_STREAM_STATE_STREAMING;
  if (self.streaming) self.streaming_since_ns = now_ns();
  if (state == PW_STREAM_STATE_PAUSED && std::exchange(self.restarting, false))
    self.session.api().stream_set_active(self.stream, true);
  if (state == PW_STREAM_STATE_ERROR) self.lose(error && *error ? error : "PipeWire reports an error");
  if (state == PW_STREAM_STATE_UNCONNECTED) self.lose_node();
}

void PipewireCapture::Stream::param_changed(void* data, uint32_t id, const spa_pod* param) {
  if (id == SPA_PARAM_Format && param) static_cast<Stream*>(data)->accept(param);
}

/// Answers the negotiated format with the kinds of buffers that can be read.
void PipewireCapture::Stream::accept(const spa_pod* format) {
  info = {};
  const bool valid = spa_format_video_raw_parse(format, &info) >= 0 && info.size.width > 0 &&
                     info.size.height > 0 && info.size.width <= kMaxSide && info.size.height <= kMaxSide;
  pixels = valid ? received_pixels(info.format) : AV_PIX_FMT_NONE;
  if (pixels == AV_PIX_FMT_NONE) return lose("the node has no format that lensd reads");
  size = {static_cast<int>(info.size.width), static_cast<int>(info.size.height)};
  // Accept device memory (DMA-BUF) from cameras only, which may have no other memory. Without a negotiated
  // modifier, memory of cameras is linear, but that of compositors may be tiled.
  const int kinds = (1 << SPA_DATA_MemPtr) | (1 << SPA_DATA_MemFd) | (node.camera ? 1 << SPA_DATA_DmaBuf : 0);
  std::array<uint8_t, 1024> memory;
  spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory.data(), static_cast<uint32_t>(memory.size()));
  const spa_pod* const buffers = static_cast<const spa_pod*>(
      spa_pod_builder_add_object(&builder, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers,
                                 SPA_PARAM_BUFFERS_buffers, SPA_POD_CHOICE_RANGE_Int(8, 2, kMaxBuffers),
                                 SPA_PARAM_BUFFERS_dataType, SPA_POD_CHOICE_FLAGS_Int(kinds)));
  const spa_pod* const header = build_header_request(builder);
  const auto [crop, transform] = build_region_requests(builder);
  const std::array<const spa_pod*, 4> params = {buffers, header, crop, transform};
  session.api().stream_update_params(stream, const_cast<const spa_pod**>(params.data()), params.size());
  notify();
}

void PipewireCapture::Stream::remove_buffer(void* data, pw_buffer* buffer) {
  Stream& self = *static_cast<Stream*>(data);
  if (self.newest == buffer) self.newest = nullptr;
}

/// Keeps the newest intact buffer and returns all other buffers to PipeWire. Counts replaced and damaged
/// pictures.
void PipewireCapture::Stream::process(void* data) {
  Stream& self = *static_cast<Stream*>(data);
  const PipewireApi& api = self.session.api();
  while (pw_buffer* const next = api.stream_dequeue_buffer(self.stream)) {
    if (marked_damaged(*next->buffer)) {
      api.stream_queue_buffer(self.stream, next);
      ++self.monitor.broken;
      continue;
    }
    if (self.newest) {
      api.stream_queue_buffer(self.stream, self.newest);
      ++self.replaced;
    }
    self.newest = next;
  }
  self.notify();
}

/// Waits until the format is known. Throws Error(bad_source) if that fails.
void PipewireCapture::Stream::wait_for_format(const StopFlags& stop, int64_t timeout_ns) {
  for (const int64_t deadline = now_ns() + timeout_ns;;) {
    {
      const PipewireLock lock(session);
      if (!lost.empty()) throw Error(ExitCode::bad_source, where, lost);
      if (pixels != AV_PIX_FMT_NONE) return;
    }
    if (stop.raised()) throw Error(ExitCode::bad_source, where, "opening was interrupted");
    if (now_ns() > deadline)
      throw Error(ExitCode::bad_source, where, "PipeWire does not connect to the node",
                  "is a session manager such as WirePlumber running?");
    std::unique_lock lock(mutex);
    changed.wait_for(lock, kPoll, [this] { return std::exchange(signalled, false); });
  }
}

/// Returns true if the node sends pictures only when they change. Call with the session's lock.
bool PipewireCapture::Stream::may_be_silent() const {
  return shares_screen() || info.framerate.num == 0;
}

/// Returns true if there is a picture and its size has settled. Call with the session's lock.
bool PipewireCapture::Stream::ready(int64_t now) {
  return newest && pixels != AV_PIX_FMT_NONE &&
         settled_size.settled(shown_region(*newest->buffer, pixels, size).size, now);
}

/// Restarts a node that sends pictures only when they change if its first picture does not arrive: PipeWire
/// 1.4 loses it in about every second connection, and a node without other receivers sends it again at each
/// start. Call with the session's lock.
void PipewireCapture::Stream::request_first_picture(int64_t now) {
  if (kept.any() || newest || !may_be_silent() || now - streaming_since_ns < picture_wait_ns ||
      picture_wait_ns > kLastPictureWaitNs)
    return;
  restarting = true;
  streaming_since_ns = now, picture_wait_ns *= 2;
  session.api().stream_set_active(stream, false);
}

/// Copies the shown region of the newest picture into `frame` and returns its buffer to PipeWire. Returns 0
/// or an AVERROR: EAGAIN if the picture is incomplete. Call with the session's lock.
int PipewireCapture::Stream::copy(AVFrame& frame, PictureAllocator& allocator) {
  pw_buffer* const filled = std::exchange(newest, nullptr);
  const spa_buffer& buffer = *filled->buffer;
  const MappedBlocks blocks(buffer);
  int error = AVERROR(EAGAIN);
  ReceivedPlanes planes;
  const spa_meta_header* header = header_of(buffer);
  if (find_planes(buffer, blocks.memory(), pixels, size, planes)) {
    const ShownRegion shown = shown_region(buffer, pixels, size);
    crop_planes(pixels, shown, planes);
    frame.format = pixels, frame.width = shown.size.width, frame.height = shown.size.height;
    error = allocator.fill(frame, frame.width, frame.height);
    if (error >= 0) error = set_received_orientation(buffer, frame);
    if (error >= 0) {
      blocks.begin_reading();
      av_image_copy(frame.data, frame.linesize, planes.data.data(), planes.pitch_bytes.data(), pixels,
                    frame.width, frame.height);
      blocks.end_reading();
      set_received_colour(info, frame);
      const spa_fraction aspect = info.pixel_aspect_ratio;  // 0/0: not given
      frame.sample_aspect_ratio = {static_cast<int>(aspect.num),
                                   static_cast<int>(std::max(1u, aspect.denom))};
      const int64_t now = now_ns();
      const int64_t stamp = header ? int64_t{read_once(header->pts)} : INT64_MIN;
      const bool stamped = stamp <= now && stamp > now - kOldestStampNs;
      frame.pts = frame.best_effort_timestamp = kept.after_repetition(stamped ? stamp : now);
      error = kept.update(frame, may_be_silent());
    }
  } else {
    ++monitor.broken;
  }
  session.api().stream_queue_buffer(stream, filled);
  return error;
}

PipewireCapture::PipewireCapture(const std::string& url, const std::string& where, const Request& request,
                                 const StopFlags& stop, int64_t timeout_ns)
    : monitor_(request.monitor ? request.monitor : std::make_shared<CameraMonitor>()),
      stream_(std::make_unique<Stream>(url, where, request, stop, timeout_ns, *monitor_)) {
  stream_->connect(request);
  stream_->wait_for_format(stop, std::min(timeout_ns, kFormatNs));
}

PipewireCapture::~PipewireCapture() = default;

AVPixelFormat PipewireCapture::pixels() const noexcept {
  const PipewireLock lock(stream_->session);
  return stream_->pixels;
}

Extent PipewireCapture::size() const noexcept {
  const PipewireLock lock(stream_->session);
  return stream_->size;
}

bool PipewireCapture::may_be_silent() const noexcept {
  const PipewireLock lock(stream_->session);
  return stream_->may_be_silent();
}

double PipewireCapture::rate() const noexcept {
  const PipewireLock lock(stream_->session);
  const spa_fraction rate = stream_->info.framerate;
  return rate.denom > 0 ? static_cast<double>(rate.num) / rate.denom : 0;
}

int PipewireCapture::read(AVFrame& frame, PictureAllocator& allocator) noexcept {
  for (bool waited = false;; waited = true) {
    {
      const PipewireLock lock(stream_->session);
      if (stream_->ready(now_ns())) return stream_->copy(frame, allocator);
      if (!stream_->lost.empty()) return AVERROR(ENODEV);
      // While the stream is not running, its silence may be a failure.
      if (stream_->streaming && stream_->kept.due()) return stream_->kept.repeat(frame);
      if (stream_->streaming) stream_->request_first_picture(now_ns());
    }
    if (waited) return AVERROR(EAGAIN);
    std::unique_lock lock(stream_->mutex);
    stream_->changed.wait_for(lock, kPoll, [this] { return std::exchange(stream_->signalled, false); });
  }
}

}  // namespace lensd

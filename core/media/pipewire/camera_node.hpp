// The node of a virtual camera in the PipeWire session; see VirtualCamera.
//
//   on_timer(): disconnected ──▶ connect ──▶ [first frame] ──▶ stream ──▶ receivers link to it
//
// The stream is the driver of its graph: each frame starts a cycle, in which receivers take the buffer. A
// frame waits in the stream while the previous cycle runs, if PipeWire reports the ends of cycles.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "core/base/notices.hpp"
#include "core/image/image.hpp"
#include "core/media/pipewire/frame_formats.hpp"
#include "core/media/pipewire/pipewire_session.hpp"
#include "core/media/virtual_camera.hpp"

namespace lensd {

class CameraNode {
 public:
  /// Starts to connect. `dither`: see VirtualCamera. Throws Error(unavailable) as PipewireSession does.
  CameraNode(const std::string& name, bool dither, NoticeList& notices);
  ~CameraNode();

  void write(ConstImageRef image, PixelAspect aspect, double fps);
  VirtualCamera::Status status() const;

 private:
  static void state_changed(void* data, pw_stream_state old, pw_stream_state state, const char* error);
  static void param_changed(void* data, uint32_t id, const spa_pod* param);
  static void cycle_done(void* data);

  void on_timer();
  void connect();
  void connected();
  void lose();
  void open_stream();
  void close_stream();
  void offer();
  void accept(const spa_pod* format);
  pw_buffer* free_buffer();
  void send(bool repeated);
  void start_cycle(int64_t now);
  void reset_cycles();
  bool may_start_cycle(int64_t now) const;
  void set_waiting(const std::string& reason);
  void publish();

  const std::string name_;
  const bool dither_;
  NoticeList& notices_;
  PipewireSession session_;

  // Guarded by the session's lock.
  pw_stream* stream_ = nullptr;
  spa_hook stream_hook_ = {};
  bool answered_ = false, lost_ = false, streaming_ = false, was_connected_ = false;
  std::string reason_ = "connecting";
  OfferedVideo offered_;
  Image newest_;
  int64_t sent_ns_ = 0;  ///< time of the last send()
  spa_video_format format_ = SPA_VIDEO_FORMAT_UNKNOWN;
  ImageFormat negotiated_;      ///< format of the frames that the buffers hold
  int64_t cycle_ns_ = 0;        ///< start of the running cycle; 0: none
  bool ends_reported_ = false;  ///< PipeWire reports the ends of cycles
  bool late_end_ = false;       ///< the next reported end is that of the previous cycle
  int timeouts_ = 0;            ///< consecutive cycles that took too long
  int waiting_ = 0;             ///< filled buffers without a cycle
  uint64_t sequence_ = 0;
  int64_t frames_ = 0;
  uint64_t dropped_ = 0;

  mutable std::mutex status_mutex_;
  VirtualCamera::Status status_;
};

}  // namespace lensd

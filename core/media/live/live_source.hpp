// A source that reconnects until it is closed: network streams, cameras, PipeWire nodes, the screen.
//
//   reader thread   open ── inner Source ── next() ──▶ queue of pictures, the oldest is dropped
//                     ▲ times from LiveStateMachine        │
//   decode thread   next() ◀───────────────────────────────┘ or, while there are none, a placeholder
//
// Only the reader thread blocks on I/O. It may hang in a call that cannot be interrupted (a name server, a
// stopped display). The destructor waits at most half a second for it (core/base/owned_thread.hpp). The
// thread shares ownership of all data that it uses. A source has only one such thread.
//
// The pts follows the monotonic clock across connections and the stream's timestamps within a connection; see
// LiveTimeline. The first picture of a connection or after a placeholder, and the first placeholder after a
// picture, start a new `serial`.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/base/owned_thread.hpp"
#include "core/media/live/live_state_machine.hpp"
#include "core/media/live/live_timeline.hpp"
#include "core/media/live/placeholder.hpp"
#include "core/media/source.hpp"

namespace lensd {

struct LiveReader;

class LiveSource final : public Source {
 public:
  /// Opens one connection, on the reader thread. Throws Error if that fails. Must return soon after `cancel`
  /// is set.
  using Opener = std::function<std::unique_ptr<Source>(const std::atomic<bool>& cancel)>;

  /// Starts the reader thread, then waits for the first picture, a file for take_file(), the failure of the
  /// first attempt, cancellation or the timeout. Throws Error if the first attempt fails permanently.
  LiveSource(const std::string& url, const SourceOptions& options, Opener open, int64_t first_timeout_ns);
  ~LiveSource() override;

  /// Returns the properties of the first connection; if the constructor found none, defaults from the
  /// options.
  const SourceInfo& info() const override { return info_; }
  FrameOutcome next(Picture& out) override;
  using Source::seek;
  /// Throws Error(bad_source): live sources cannot seek.
  void seek(int64_t position_ns, int back) override;
  std::string stream_errors() const override { return {}; }
  LiveStatus live_status() const override;
  PixelAspect pixel_aspect() const override;
  void interrupt() noexcept override;
  std::shared_ptr<const SourceControls> controls(bool keep_fresh) const override;
  std::string set_controls(const ControlValues& values) override;
  std::string set_allowed_controls(const ControlValues& values) override;
  std::string reset_controls(const std::vector<std::string>& names) override;
  std::vector<Notice> take_notices() override;

  /// Returns true if a picture arrived before the constructor returned.
  bool opened() const { return opened_; }
  /// Returns the opened source if it is a file on a server, which should be played as a file; else null. If
  /// it returns a source, do not use this object afterwards.
  std::unique_ptr<Source> take_file();

 private:
  FrameOutcome wait_for_next(Picture& out);
  Picture deliver(Picture picture, int64_t now, bool follows);
  Picture placeholder(const LiveStatus& status, int64_t silent_since, int64_t now);
  int64_t next_placeholder_ns(const LiveStatus& status, int64_t silent_since) const;

  const std::string where_;
  const LiveOptions options_;
  SourceInfo info_;
  bool opened_ = false;
  std::shared_ptr<LiveReader> reader_;
  OwnedThread thread_;

  // Used by the decode thread only.
  const int64_t start_ns_;
  Picture last_;  ///< newest received picture; background of placeholders
  PictureInfo last_info_;
  Placeholder placeholder_;
  bool placeholder_shown_ = false;
  LiveState placeholder_state_ = LiveState::connecting;
  int64_t placeholder_ns_ = 0;
  int64_t placeholder_retry_ns_ = 0;  ///< there was no memory: no placeholder before this time
  uint32_t serial_ = 0, connection_ = 0;
  int64_t index_ = 0;
  LiveTimeline timeline_;
};

}  // namespace lensd

// A source that is watched and opened again for ever: network streams, cameras, the screen.
//
//   reader thread   open ── inner Source ── next() ──▶ mailbox of 2 pictures, the newest wins
//                     ▲ when LiveMachine says so           │
//   decode thread   next() ◀───────────────────────────────┘ or, while none come, a placeholder
//
// Only the reader thread waits for the outside. It may hang where nothing can end it (a name server, a
// display that was stopped): then it is left alone, next() goes on with placeholders, and what it works on is
// owned by itself, so that even the end of the program need not wait. There is never more than one such
// thread a source.
//
// Times: pts runs on the monotonic clock across connections and follows the stream's own times within one; a
// leap in them is smoothed out. A new connection, and a placeholder, begin a new `serial`.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/media/live/live_machine.hpp"
#include "core/media/live/placeholder.hpp"
#include "core/media/source.hpp"

namespace lensd {

class LiveSource final : public Source {
 public:
  /// Opens one connection; throws Error when there is none. Called on the reader thread. What it waits for
  /// ends soon after `cancel` is set, where that is possible at all.
  using Opener = std::function<std::unique_ptr<Source>(const std::atomic<bool>& cancel)>;

  /// Starts the reader, then waits until there is a picture, the first attempt failed, or `patience_ns` went
  /// by.
  LiveSource(const std::string& url, const SourceOptions& options, Opener open, int64_t patience_ns);
  ~LiveSource() override;

  /// What the first connection turned out to be; before that, what the options say.
  const SourceInfo& info() const override { return info_; }
  FrameOutcome next(Picture& out) override;
  /// Throws: live sources cannot seek.
  void seek(int64_t position_ns) override;
  std::string stream_errors() const override { return {}; }
  LiveStatus live_status() const override;
  void interrupt() noexcept override;

  /// True when there was a picture before the constructor returned.
  bool opened() const { return opened_; }
  /// When the source turned out to be a file on a server: the opened source itself, for playing it as a file.
  /// Null otherwise. This object is of no further use then.
  std::unique_ptr<Source> take_file();

 private:
  struct Link;

  Picture deliver(Picture picture, int64_t now);
  Picture placeholder(const LiveStatus& status, int64_t now);
  bool placeholder_due(const LiveStatus& status, int64_t silent_since, int64_t now) const;
  int64_t next_placeholder_ns(const LiveStatus& status, int64_t silent_since) const;

  const std::string where_;
  const LiveOptions options_;
  SourceInfo info_;
  bool opened_ = false;
  std::shared_ptr<Link> link_;

  // Decode thread.
  const int64_t begin_ns_;
  Picture last_;  ///< the newest real picture, ground of placeholders
  PictureInfo last_info_;
  Placeholder placeholder_;
  bool placeholder_shown_ = false;
  LiveState placeholder_state_ = LiveState::connecting;
  int64_t placeholder_ns_ = 0;
  uint32_t serial_ = 0, connection_ = 0;
  int64_t index_ = 0, pts_ns_ = -1;
  int64_t stream_pts_ns_ = 0, arrival_ns_ = 0;  ///< of the picture before
};

}  // namespace lensd

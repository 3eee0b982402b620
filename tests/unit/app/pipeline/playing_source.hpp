// A simulated live source that always plays. Derived classes supply the pictures.
#pragma once

#include <string>
#include <utility>

#include "core/media/source.hpp"

namespace lensd {

class PlayingSource : public Source {
 public:
  explicit PlayingSource(SourceInfo info) : info_(std::move(info)) {
    info_.live = true, info_.seekable = false;
  }
  const SourceInfo& info() const override { return info_; }
  void seek(int64_t, int) override {}
  std::string stream_errors() const override { return {}; }
  LiveStatus live_status() const override {
    LiveStatus status;
    status.live = true, status.state = LiveState::playing;
    return status;
  }
  void interrupt() noexcept override {}

 private:
  SourceInfo info_;
};

}  // namespace lensd

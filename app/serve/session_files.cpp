// What a session writes on demand: snapshots, traces, recordings.
#include <fmt/format.h>

#include <thread>

#include "app/serve/session.hpp"
#include "app/serve/session_answers.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/media/recording.hpp"

namespace lensd {
namespace {

/// How long a recording's first picture, or its end, is waited for before it is answered without.
constexpr int64_t kRecordPatienceNs = 2'000'000'000;

/// Asks 50 times a second until it is so, at most kRecordPatience.
template <class F>
void wait_until(F done) {
  for (const int64_t deadline = now_ns() + kRecordPatienceNs; !done() && now_ns() < deadline;)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

}  // namespace

void Session::snapshot(std::string path, Reply reply) {
  enqueue(files_, std::move(reply), [this, path = std::move(path)] {
    const bool jpeg = path.ends_with(".jpg") || path.ends_with(".jpeg");
    if (!path.empty() && !jpeg && !path.ends_with(".png"))
      return refused(fmt::format("{}: snapshots are written as .png or .jpg", path));
    const auto encoded = picture(jpeg ? PictureType::jpeg : PictureType::png, 0);
    if (!encoded) return refused("there is no frame yet");
    const std::string name = path.empty() ? Captures::file_name(encoded->frame.index, ".png") : path;
    const std::string file = captures_.write(
        name, {reinterpret_cast<const uint8_t*>(encoded->bytes.data()), encoded->bytes.size()});
    return Answer{Status::none, {}, {{"path", file}, {"frame", encoded->frame.index}}};
  });
}

void Session::trace(std::string path, Reply reply) {
  enqueue(files_, std::move(reply), [this, path = std::move(path)] {
    const auto running = pipeline();
    if (!running) return Answer{Status::busy, kNoSourceYet, {}};
    const std::string text = running->timeline().chrome_trace();
    const std::string name = path.empty() ? Captures::file_name(state().frame, ".trace.json") : path;
    const std::string file =
        captures_.write(name, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
    return Answer{Status::none, {}, {{"path", file}}};
  });
}

void Session::record(bool on, StartRecord what, Reply reply) {
  enqueue(files_, std::move(reply),
          [this, on, what = std::move(what)] { return on ? record_now(what) : stop_recording(); });
}

Answer Session::record_now(StartRecord what) {
  const auto running = pipeline();
  if (!running) return {Status::busy, kNoSourceYet, {}};
  if (!what.path.empty()) {
    recording_muxer(what.path);  // refuses what is no video
    recordings_.checked(what.path);
  }
  std::error_code ignored;
  std::filesystem::create_directories(recordings_.folder(), ignored);
  what.beneath = recordings_.folder();
  const uint64_t before = recorder_status(*running).begun;
  {
    const std::lock_guard lock(mutex_);
    record_ = what;
    record_->keep_trying = true;
  }
  if (!post(*record_)) return {Status::busy, "too many commands are waiting", {}};
  SinkStatus now;
  wait_until([&] {
    now = recorder_status(*running);
    return stopped_ || (now.begun > before && (!now.problem.empty() || now.frames > 0));
  });
  if (now.begun > before && !now.problem.empty()) {
    stop_recording();
    return {Status::failed, now.problem, {}};
  }
  const std::lock_guard lock(mutex_);
  if (record_) record_->resumed = true;
  // Paused, or the source is away: the name is made with the first picture.
  if (now.begun == before || now.files == 0) return {Status::none, {}, {{"folder", recordings_.folder()}}};
  return {Status::none, {}, {{"path", now.path}}};
}

Answer Session::stop_recording() {
  {
    const std::lock_guard lock(mutex_);
    record_.reset();
  }
  const auto running = pipeline();
  if (!running) return {};
  const bool any = recorder_status(*running).wanted;
  if (!post(StopRecord{})) return {Status::busy, "too many commands are waiting", {}};
  if (!any) return {};
  SinkStatus done;
  wait_until([&] {
    done = recorder_status(*running);
    return stopped_ || !done.wanted;
  });
  return {Status::none, {}, {{"path", done.path}, {"frames", done.frames}, {"files", done.files}}};
}

/// The newest frame, also while nothing moves; empty before the first one.
Frame Session::newest_frame() {
  const auto running = pipeline();
  const std::lock_guard lock(frame_mutex_);
  if (!running || stopped_) return {};
  if (!options_.load)
    if (Frame frame = running->take_newest()) newest_ = std::move(frame);
  return newest_ ? newest_.share() : Frame();
}

std::shared_ptr<const EncodedPicture> Session::picture(PictureType type, int64_t made_after_ns) {
  const Frame frame = newest_frame();
  if (!frame || frame.info.processed_ns <= made_after_ns) return nullptr;
  if (frame.memory() == MemoryKind::device)
    throw Error(ExitCode::runtime_failure, "picture", "the frames of this run stay on the GPU",
                "take snapshots in the window, or run lensd serve");
  frame.wait_ready();
  auto encoded = std::make_shared<EncodedPicture>();
  Encoder& encoder = type == PictureType::png ? png_ : jpeg_;
  const std::lock_guard lock(encoder.mutex);
  const auto bytes = encoder.still.encode(frame.image());
  encoded->bytes.assign(bytes.begin(), bytes.end());
  encoded->frame = frame.info;
  return encoded;
}

}  // namespace lensd

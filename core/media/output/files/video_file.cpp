#include "core/media/output/files/video_file.hpp"

extern "C" {
#include <libavutil/opt.h>
}

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "core/base/text.hpp"

namespace lensd {
namespace {

constexpr AVRational kNanoseconds = {1, 1'000'000'000};

constexpr struct {
  const char* ending;
  const char* muxer;
} kContainers[] = {
    {".mp4", "mp4"}, {".mov", "mov"}, {".mkv", "matroska"}, {".webm", "webm"}, {".avi", "avi"}};

}  // namespace

std::string muxer_of(const std::string& path) {
  const std::string ending = lower_case(std::filesystem::path(path).extension().string());
  for (const auto& container : kContainers)
    if (ending == container.ending) return container.muxer;
  return {};
}

const AVOutputFormat& output_format_of(const std::string& muxer, const std::string& path) {
  const AVOutputFormat* format = av_guess_format(muxer.c_str(), nullptr, nullptr);
  if (!format) throw Error(ExitCode::runtime_failure, path, "FFmpeg cannot write " + muxer + " files here");
  return *format;
}

VideoFile::VideoFile(const std::string& path, const FileRules& rules, const std::string& muxer,
                     const AVCodecContext& encoder, AudioCopy* audio, int64_t start, bool in_parts)
    : path_(path),
      file_(path, rules),
      place_(rules.beneath.empty() ? path : (std::filesystem::path(rules.beneath) / path).string()),
      made_here_(!rules.overwrite),
      time_base_(encoder.time_base),
      audio_(audio),
      start_(start) {
  AVFormatContext* context = nullptr;
  avformat_alloc_output_context2(&context, &output_format_of(muxer, path), nullptr, path.c_str());
  muxer_.reset(ff::allocated(context));
  muxer_->pb = file_.context();
  muxer_->flags |= AVFMT_FLAG_CUSTOM_IO;
  stream_ = ff::allocated(avformat_new_stream(context, nullptr));
  stream_->time_base = encoder.time_base;
  stream_->avg_frame_rate = stream_->r_frame_rate = encoder.framerate;
  avcodec_parameters_from_context(stream_->codecpar, &encoder);
  if (audio_ && !audio_->add_stream(*context, av_rescale_q(start, time_base_, kNanoseconds)))
    audio_ = nullptr;
  if (in_parts) set_parts(muxer);
  check(avformat_write_header(context, nullptr));
  open_ = true;
  check(file_.flush());
  whole_bytes_ = file_.bytes();
}

VideoFile::~VideoFile() {
  if (!open_) return;
  open_ = false;
  if (audio_) audio_->leave_output();
  av_write_trailer(muxer_.get());
  file_.close();
}

void VideoFile::set_parts(const std::string& muxer) {
  const auto set = [&](const char* key, const std::string& value) {
    return av_opt_set(muxer_->priv_data, key, value.c_str(), 0) >= 0;
  };
  if (muxer == "mp4" || muxer == "mov") {
    // FFmpeg 7.1 turns the fragments into an ordinary file at the end; before, they stay.
    if (!set("movflags", "+hybrid_fragmented+frag_keyframe"))
      set("movflags", "+frag_keyframe+delay_moov+default_base_moof");
    set("frag_duration", fmt::format("{:.0f}", kPartSeconds * 1e6));
  } else if (muxer == "matroska" || muxer == "webm") {
    set("cluster_time_limit", fmt::format("{:.0f}", kPartSeconds * 1e3));
  }
}

void VideoFile::copy_audio(int64_t until) {
  if (audio_) check(audio_->copy_until(av_rescale_q(until, time_base_, kNanoseconds)));
}

void VideoFile::write(const AVPacket& packet) {
  // Interleaved here, audio before the picture: FFmpeg's own interleaving keeps packets back for seconds.
  copy_audio(packet.dts);
  av_packet_unref(packet_.get());
  if (av_packet_ref(packet_.get(), &packet) < 0) fail(AVERROR(ENOMEM));
  packet_->pts -= start_, packet_->dts -= start_;
  av_packet_rescale_ts(packet_.get(), time_base_, stream_->time_base);
  packet_->stream_index = stream_->index;
  check(av_write_frame(muxer_.get(), packet_.get()));
  // What is in the file survives the process, and a full disk is told now.
  check(file_.flush());
  note_whole(frames_);  // a part is written when the first picture behind it comes
  ++frames_;
}

void VideoFile::note_whole(int64_t frames) {
  if (file_.bytes() == whole_bytes_) return;
  whole_bytes_ = file_.bytes();
  whole_frames_ = frames;
}

void VideoFile::finish(int64_t end) {
  if (!open_) return;
  copy_audio(end);
  if (audio_) audio_->leave_output();
  // Everything that was written lies in whole parts now; the index behind them may not fit any more.
  av_write_frame(muxer_.get(), nullptr);
  check(file_.flush());
  note_whole(frames_);
  open_ = false;
  int error = av_write_trailer(muxer_.get());
  if (error >= 0) error = file_.flush();
  check(error);
  check(file_.close());
}

void VideoFile::check(int error) {
  if (error < 0) fail(error);
}

void VideoFile::fail(int error) {
  if (audio_) audio_->leave_output();
  const bool was_open = open_;
  open_ = false;
  file_.cut(whole_bytes_);
  frames_ = whole_frames_;
  if (was_open) av_write_trailer(muxer_.get());  // frees the muxer's memory; its bytes go nowhere
  file_.close();
  // Nothing was lost with a file that never held a picture.
  if (made_here_ && frames_ == 0 && file_.identity().names(place_)) unlink(place_.c_str());
  const bool full = error == AVERROR(ENOSPC) || error == AVERROR(EDQUOT);
  throw Error(ExitCode::runtime_failure, place_, "cannot be written: " + ff::error_text(error),
              full ? fmt::format("free some space; the first {} frames are kept", frames_) : "");
}

}  // namespace lensd

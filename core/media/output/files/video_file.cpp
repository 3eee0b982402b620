#include "core/media/output/files/video_file.hpp"

extern "C" {
#include <libavutil/opt.h>
}

#include <fmt/format.h>
#include <unistd.h>

namespace lensd {

VideoFile::VideoFile(const std::string& path, const FileRules& rules, const std::string& muxer,
                     const EncodedFormat& format, AudioCopy* audio, int64_t start)
    : file_(path, rules),
      muxer_(output_format_of(muxer, path), path, format, audio),
      start_(start),
      time_base_(format.time_base) {
  muxer_.context().pb = file_.context();
  muxer_.context().flags |= AVFMT_FLAG_CUSTOM_IO;
  muxer_.start_at(start);
  set_parts(muxer);
  ff::Options none;
  check(muxer_.write_header(none));
  open_ = true;
  check(file_.flush());
  complete_bytes_ = file_.bytes();
}

VideoFile::~VideoFile() {
  if (!open_) return;
  muxer_.write_trailer();
  file_.close();
}

void VideoFile::set_parts(const std::string& muxer) {
  const auto set = [&](const char* key, const std::string& value) {
    av_opt_set(muxer_.context().priv_data, key, value.c_str(), 0);
  };
  if (muxer == "mp4" || muxer == "mov") {
    // Do not use hybrid_fragmented of FFmpeg 7.1: it writes no edit list, so that pictures come later than
    // the sound by the encoder's reordering delay. Fragmented files have no total frame count.
    set("movflags", "+frag_keyframe+delay_moov+default_base_moof");
    set("frag_duration", fmt::format("{:.0f}", kPartSeconds * 1e6));
  } else if (muxer == "matroska" || muxer == "webm") {
    set("cluster_time_limit", fmt::format("{:.0f}", kPartSeconds * 1e3));
  }
}

void VideoFile::write(const AVPacket& packet) {
  check(muxer_.write(packet));
  // Flush, so that the data survives a crash of this process and a full disk is detected now.
  check(file_.flush());
  note_complete_parts(frames_);  // the muxer writes a part when the next one starts
  ++frames_;
  if (!begun_) write_late_beginning(packet);
}

/// Writes the first parts after some seconds without a packet of the audio, because the muxer waits for one.
void VideoFile::write_late_beginning(const AVPacket& packet) {
  constexpr int64_t kPatienceNs = 2'000'000'000;
  if (ff::to_ns(packet.dts - start_, time_base_) < kPatienceNs) return;
  begun_ = true;
  check(muxer_.write_beginning());
  check(file_.flush());
}

void VideoFile::note_complete_parts(int64_t frames) {
  if (file_.bytes() == complete_bytes_) return;
  complete_bytes_ = file_.bytes();
  begun_ = true;
  complete_frames_ = frames;
}

void VideoFile::complete(int64_t end, AudioEnd audio_end, const std::atomic<bool>* stop) {
  if (!open_) return;
  check(muxer_.complete_audio(end, audio_end, stop));
  // Write the last part now. The index after it may not fit on the disk.
  const int written = av_write_frame(&muxer_.context(), nullptr);
  if (frames_ > 0) check(written);
  check(file_.flush());
  note_complete_parts(frames_);
  open_ = false;
  const int error = muxer_.write_trailer();
  check(error < 0 ? error : file_.flush());
  file_.forget_rules();
}

void VideoFile::finish(int64_t end, AudioEnd audio_end, const std::atomic<bool>* stop) {
  complete(end, audio_end, stop);
  const bool lost = deleted();
  check(close());
  if (lost) throw Error(ExitCode::runtime_failure, path(), "was deleted by another program");
}

void VideoFile::check(int error) {
  if (error < 0) fail(error);
}

void VideoFile::fail(int error) {
  open_ = false;
  file_.cut(complete_bytes_);
  frames_ = complete_frames_;
  muxer_.write_trailer();  // frees the muxer's memory; its bytes are discarded
  file_.close();
  // Delete a file without any picture.
  if (file_.created() && frames_ == 0 && names_file(path(), file_.identity())) unlink(path().c_str());
  const bool full = error == AVERROR(ENOSPC) || error == AVERROR(EDQUOT);
  if (error == AVERROR(EAGAIN)) throw write_error(path(), EAGAIN);
  throw Error(ExitCode::runtime_failure, path(), "cannot be written: " + ff::error_text(error),
              full ? fmt::format("free some space; the first {} frames are kept", frames_) : "");
}

}  // namespace lensd

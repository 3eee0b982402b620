#include "core/media/output/muxer.hpp"

extern "C" {
#include <libavutil/opt.h>
}

#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "core/base/text/text.hpp"
#include "core/media/ffmpeg/hdr_side_data.hpp"
#include "core/media/ffmpeg/picture_info.hpp"
#include "core/media/ffmpeg/side_data.hpp"
#include "core/media/output/encoders/container_support.hpp"
#include "core/media/output/encoders/video_encoder.hpp"

namespace lensd {
namespace {

/// Returns true for errors with which muxers refuse a stream.
bool refuses_stream(int error) {
  return error == AVERROR(EINVAL) || error == AVERROR(ENOSYS) || error == AVERROR_EXPERIMENTAL ||
         error == AVERROR_PATCHWELCOME || error == AVERROR_INVALIDDATA;
}

}  // namespace

std::string muxer_of(const std::string& path) {
  const std::string ending = lower_case(std::filesystem::path(path).extension().string());
  for (const FileType& type : file_types())
    if (ending == type.ending) return type.muxer;
  return {};
}

const AVOutputFormat& output_format_of(const std::string& muxer, const std::string& where) {
  const AVOutputFormat* format = av_guess_format(muxer.c_str(), nullptr, nullptr);
  if (!format) throw Error(ExitCode::runtime_failure, where, "this FFmpeg cannot write " + muxer);
  return *format;
}

EncodedFormat::EncodedFormat(const VideoEncoder& encoder)
    : hdr(encoder.hdr()),
      orientation(encoder.orientation()),
      time_base(encoder.context().time_base),
      frame_rate(encoder.context().framerate) {
  ff::ParametersPtr parameters(ff::allocated(avcodec_parameters_alloc()));
  ff::check_memory(avcodec_parameters_from_context(parameters.get(), &encoder.context()));
  codec = std::move(parameters);
}

void Muxer::ContextFree::operator()(AVFormatContext* p) const noexcept {
  if (!(p->flags & AVFMT_FLAG_CUSTOM_IO) && !(p->oformat->flags & AVFMT_NOFILE)) avio_closep(&p->pb);
  avformat_free_context(p);
}

Muxer::Muxer(const AVOutputFormat& format, const std::string& url, const EncodedFormat& video,
             AudioCopy* audio)
    : video_(video), audio_(audio) {
  make_context(format, url);
  if (audio_ && !audio_->add_stream(*context_)) audio_ = nullptr;
}

void Muxer::make_context(const AVOutputFormat& format, const std::string& url) {
  AVFormatContext* context = nullptr;
  avformat_alloc_output_context2(&context, &format, nullptr, url.c_str());
  context_.reset(ff::allocated(context));
  if (std::string_view(format.name) == "hls") hls_files_.attach(*context);
  stream_ = ff::allocated(avformat_new_stream(context, nullptr));
  ff::check_memory(avcodec_parameters_copy(stream_->codecpar, video_.codec.get()));
  add_hdr_metadata(*stream_, video_.hdr);
  if (video_.orientation != Orientation{}) {
    const auto matrix = display_matrix_of(video_.orientation, {video_.codec->width, video_.codec->height});
    std::memcpy(add_side_data(*stream_, AV_PKT_DATA_DISPLAYMATRIX, sizeof matrix), matrix.data(),
                sizeof matrix);
  }
  stream_->time_base = video_.time_base;
  stream_->sample_aspect_ratio = video_.codec->sample_aspect_ratio;
  stream_->avg_frame_rate = stream_->r_frame_rate = video_.frame_rate;
}

/// Replaces the context with one that has the same I/O and options, but no audio.
void Muxer::remake_without_audio() {
  const auto refused = std::move(context_);
  make_context(*refused->oformat, refused->url);
  context_->pb = std::exchange(refused->pb, nullptr);
  context_->flags = refused->flags;
  context_->interrupt_callback = refused->interrupt_callback;
  if (refused->oformat->priv_class) ff::check_memory(av_opt_copy(context_->priv_data, refused->priv_data));
  audio_->detach();
}

Muxer::~Muxer() {
  write_trailer();
}

int Muxer::write_header(ff::Options& options) {
  if (AVFormatContext* c = context_.get(); !c->pb && !(c->oformat->flags & AVFMT_NOFILE)) {
    const int error = avio_open2(&c->pb, c->url, AVIO_FLAG_WRITE, &c->interrupt_callback, options.get());
    if (error < 0) return error;
  }
  const int error = avformat_write_header(context_.get(), options.get());
  open_ = error >= 0;
  if (!audio_ || !refuses_stream(error)) return error;
  if (context_->pb && avio_seek(context_->pb, 0, SEEK_SET) < 0) return error;
  remake_without_audio();
  AudioCopy& refused = *std::exchange(audio_, nullptr);
  const int second_error = avformat_write_header(context_.get(), options.get());
  open_ = second_error >= 0;
  // If the muxer refuses the video alone too, the audio is not the reason.
  if (open_) refused.detach_unsupported(*context_->oformat);
  return second_error;
}

void Muxer::start_at(int64_t ticks) {
  start_ = ticks;
  if (audio_) audio_->begin_at(ff::to_ns(ticks, video_.time_base));
}

int Muxer::copy_audio(int64_t ticks) {
  return audio_ ? audio_->copy_until(ff::to_ns(ticks, video_.time_base)) : 0;
}

int Muxer::complete_audio(int64_t ticks, AudioEnd end, const std::atomic<bool>* stop) {
  if (!audio_) return 0;
  return audio_->complete(ff::to_ns(ticks, video_.time_base), end, stop);
}

int Muxer::write_beginning() {
  if (!audio_ || !audio_->may_be_silent()) return 0;
  keep_times();  // for audio that begins later
  return av_write_frame(context_.get(), nullptr);
}

/// Makes each stream's next fragment in an mp4 or mov file begin at the time of its first packet. FFmpeg
/// would let it begin at the end of the previous packet. Other files have no fragments.
void Muxer::keep_times() {
  av_opt_set(context_->priv_data, "movflags", "+frag_discont", 0);
}

int Muxer::write(const AVPacket& packet) {
  // Write the audio first. av_interleaved_write_frame() would hold packets back for seconds.
  if (const int error = copy_audio(packet.dts); error < 0) return error;
  av_packet_unref(packet_.get());
  if (const int error = av_packet_ref(packet_.get(), &packet); error < 0) return error;
  packet_->pts -= start_, packet_->dts -= start_;
  av_packet_rescale_ts(packet_.get(), video_.time_base, stream_->time_base);
  packet_->stream_index = stream_->index;
  keep_times();  // after a gap between pictures, during which the audio has ended fragments
  if (const int error = av_write_frame(context_.get(), packet_.get()); error < 0) return error;
  return context_->pb && context_->pb->error < 0 ? context_->pb->error : hls_files_.error();
}

int Muxer::write_trailer() {
  if (audio_) audio_->detach();
  audio_ = nullptr;
  hls_files_.begin_trailer(*context_);
  const int error = std::exchange(open_, false) ? av_write_trailer(context_.get()) : 0;
  const int file_error = hls_files_.end();
  return error < 0 ? error : file_error;
}

}  // namespace lensd

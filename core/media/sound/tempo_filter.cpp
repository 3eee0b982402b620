#include "core/media/sound/tempo_filter.hpp"

extern "C" {
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
}

#include <fmt/format.h>

#include <cstring>

namespace lensd {
namespace {

void check(int error) {
  if (error < 0)
    throw Error(ExitCode::runtime_failure, "atempo",
                "cannot change the speed of the sound: " + ff::error_text(error));
}

}  // namespace

std::string tempo_chain(double speed) {
  std::string chain;
  for (; speed > 2; speed /= 2) chain += "atempo=2,";
  for (; speed < 0.5; speed *= 2) chain += "atempo=0.5,";
  return chain + fmt::format("atempo={:.6f}", speed);
}

int64_t tempo_ahead_ns(double speed) {
  constexpr double kAheadNs = 10e6;
  double ahead = kAheadNs, before = 1;  // before: product of the earlier filters' speeds
  for (; speed > 2; speed /= 2) before *= 2, ahead += kAheadNs * before;
  for (; speed < 0.5; speed *= 2) before *= 0.5, ahead += kAheadNs * before;
  return static_cast<int64_t>(ahead);
}

TempoFilter::TempoFilter(double speed) : graph_(ff::allocated(avfilter_graph_alloc())) {
  AVFilterInOut *inputs = nullptr, *outputs = nullptr;
  try {
    const std::string chain = fmt::format(
        "abuffer=sample_rate={}:sample_fmt=flt:channel_layout=stereo:time_base=1/{},{},"
        "aformat=sample_fmts=flt:channel_layouts=stereo,abuffersink",
        kSoundRate, kSoundRate, tempo_chain(speed));
    graph_->nb_threads = 1;
    check(avfilter_graph_parse2(graph_, chain.c_str(), &inputs, &outputs));
    check(avfilter_graph_config(graph_, nullptr));
    for (unsigned i = 0; i < graph_->nb_filters; ++i) {
      if (!std::strcmp(graph_->filters[i]->filter->name, "abuffer")) input_ = graph_->filters[i];
      if (!std::strcmp(graph_->filters[i]->filter->name, "abuffersink")) output_ = graph_->filters[i];
    }
  } catch (...) {
    avfilter_inout_free(&inputs), avfilter_inout_free(&outputs);
    avfilter_graph_free(&graph_);
    throw;
  }
  avfilter_inout_free(&inputs), avfilter_inout_free(&outputs);
}

TempoFilter::~TempoFilter() {
  avfilter_graph_free(&graph_);
}

void TempoFilter::run(const std::vector<float>& in, std::vector<float>& out) {
  if (in.empty()) {
    check(av_buffersrc_add_frame(input_, nullptr));
  } else {
    frame_->format = AV_SAMPLE_FMT_FLT, frame_->sample_rate = kSoundRate;
    frame_->nb_samples = static_cast<int>(in.size() / kSoundChannels);
    frame_->pts = fed_, fed_ += frame_->nb_samples;
    av_channel_layout_default(&frame_->ch_layout, kSoundChannels);
    ff::check_memory(av_frame_get_buffer(frame_.get(), 0));
    std::memcpy(frame_->data[0], in.data(), in.size() * sizeof(float));
    check(av_buffersrc_add_frame(input_, frame_.get()));
  }
  for (;;) {
    const int error = av_buffersink_get_frame(output_, frame_.get());
    if (error == AVERROR(EAGAIN) || error == AVERROR_EOF) return;
    check(error);
    const auto* samples = reinterpret_cast<const float*>(frame_->data[0]);
    out.insert(out.end(), samples,
               samples + size_t{kSoundChannels} * static_cast<size_t>(frame_->nb_samples));
    av_frame_unref(frame_.get());
  }
}

}  // namespace lensd

// Reads the audio of a file, or of a stream on a server that can be read a second time.
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "core/base/log.hpp"
#include "core/base/owned_work.hpp"
#include "core/media/input/input.hpp"
#include "core/media/output/audio_packets.hpp"
#include "core/media/output/latm_to_adts.hpp"

namespace lensd {
namespace {

/// The input, with the flags that it refers to.
struct Opening {
  explicit Opening(AudioSource from) : source(std::move(from)) {}

  const AudioSource source;
  StopFlags stop;
  std::unique_ptr<Input> input;
  std::string problem = "opening was interrupted";

  void open() noexcept {
    try {
      LiveOptions live;
      live.tls = source.tls, live.extra = source.options;
      input = std::make_unique<Input>(source.address, StreamKind::audio, stop, live, source.track);
    } catch (const std::exception& error) {
      problem = error.what();
    }
  }
};

class AudioFile final : public AudioPackets {
 public:
  explicit AudioFile(std::shared_ptr<Opening> opening) : opening_(std::move(opening)) {
    const AVCodecParameters& codec = *input().stream()->codecpar;
    if (!LatmToAdts::converts(codec)) return;
    latm_.emplace(codec);
    converted_ = LatmToAdts::codec(codec);
  }

  const AVCodecParameters& codec() const override {
    return converted_ ? *converted_ : *input().stream()->codecpar;
  }
  AVRational time_base() const override { return input().stream()->time_base; }
  Outcome read(AVPacket& out) override {
    for (int failed = 0; failed < kMaxFailures && input().read(out) >= 0; ++failed)
      if (!latm_ || latm_->convert(out)) return Outcome::packet;
    return Outcome::end;
  }
  bool seek(const SourceJump&, int64_t source_ns) override {
    return input().seek(ff::to_ticks(source_ns, time_base())) >= 0;
  }

 private:
  static constexpr int kMaxFailures = 1000;  ///< about 20 s of LATM that cannot be converted

  Input& input() const noexcept { return *opening_->input; }

  const std::shared_ptr<Opening> opening_;
  std::optional<LatmToAdts> latm_;
  ff::ParametersPtr converted_;  ///< parameters after the conversion of LATM
};

}  // namespace

std::unique_ptr<AudioPackets> open_audio_file(const AudioSource& source, const std::atomic<bool>* stop) {
  if (!source.repeatable) {
    log::warn("the audio is not copied: {} cannot be read a second time (name a file)",
              display_url(source.address));
    return nullptr;
  }
  const auto opening = std::make_shared<Opening>(source);
  std::error_code ignored;
  if (std::filesystem::is_regular_file(source.address, ignored)) {
    opening->open();
  } else {
    // A name lookup cannot be interrupted.
    if (!run_owned([opening] { opening->open(); }, kNoDeadline, stop)) {
      opening->stop.interrupted = true;
      log::info("the audio is not copied: opening was interrupted");
      return nullptr;
    }
    opening->stop.cancelled = stop;
  }
  if (opening->input) return std::make_unique<AudioFile>(opening);
  log::warn("the audio is not copied: {}", opening->problem);
  return nullptr;
}

}  // namespace lensd

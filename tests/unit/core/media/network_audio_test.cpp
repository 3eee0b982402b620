// Sound that is copied from a server: addresses with secrets, and servers that do not answer.
#include <fmt/format.h>

#include <cstdlib>
#include <thread>

#include "core/base/clock.hpp"
#include "core/media/audio_source.hpp"
#include "core/media/recording.hpp"
#include "core/media/stream_output.hpp"
#include "tests/unit/common/local_server.hpp"
#include "tests/unit/core/media/media_fixture.hpp"

namespace lensd::test {
namespace {

constexpr ImageFormat kSoundFormat{PixelFormat::rgba8, {64, 48}};
constexpr int64_t kSoundSecond = 1'000'000'000;

/// An HTTP server on 127.0.0.1 for one file. It answers only requests that contain `secret`. If `secret` is
/// empty, it accepts connections and never answers.
class SoundServer {
 public:
  SoundServer(std::string content, std::string secret)
      : content_(std::move(content)), secret_(std::move(secret)) {}
  ~SoundServer() { server_.end(); }
  SoundServer(const SoundServer&) = delete;
  SoundServer& operator=(const SoundServer&) = delete;

  std::string url(const std::string& rest) const {
    return fmt::format("http://127.0.0.1:{}/{}", server_.port(), rest);
  }

 private:
  std::string answer(const std::string& request) const {
    if (request.find(secret_) == std::string::npos)
      return "HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n";
    const size_t range = request.find("Range: bytes=");
    const size_t begin =
        range == std::string::npos ? 0 : std::strtoul(request.c_str() + range + 13, nullptr, 10);
    const std::string part = content_.substr(std::min(begin, content_.size()));
    return fmt::format(
               "HTTP/1.1 206 Partial Content\r\nConnection: close\r\nAccept-Ranges: bytes\r\nContent-Range: "
               "bytes {}-{}/{}\r\nContent-Length: {}\r\n\r\n",
               begin, content_.size() - 1, content_.size(), part.size()) +
           part;
  }
  LocalHttpServer::Answer responder() {
    if (secret_.empty()) return nullptr;
    return [this](int client, const std::string& request) { LocalHttpServer::put(client, answer(request)); };
  }

  const std::string content_, secret_;
  LocalHttpServer server_{responder()};
};

std::string wav_of(uint32_t samples) {
  std::string out = "RIFF";
  const auto put = [&out](uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  };
  put(36 + samples * 2, 4);
  out += "WAVEfmt ";
  put(16, 4), put(1, 2), put(1, 2), put(8000, 4), put(16000, 4), put(2, 2), put(16, 2);
  out += "data";
  put(samples * 2, 4);
  for (uint32_t i = 0; i < samples; ++i) put(i * 37 % 2000, 2);
  return out;
}

class NetworkAudioTest : public MediaTest {
 protected:
  /// Records with.mkv, whose audio is from a.wav. Returns the options of the recording.
  RecorderOptions record_with_sound() const {
    put("a.wav", wav_of(16000));
    RecorderOptions options;
    options.audio_from = file("a.wav");
    record(file("with.mkv"), kSoundFormat, 50, options);
    return options;
  }
};

TEST_F(NetworkAudioTest, SecretsOfTheAddressDoNotLoseTheSound) {
  RecorderOptions options = record_with_sound();
  const SoundServer server(get("with.mkv"), "token=secret");
  SourceOptions source_options;
  source_options.live.must_open = true;
  const auto source = open_source(server.url("with.mkv?token=secret"), source_options);
  EXPECT_EQ(source->info().url.find("secret"), std::string::npos);
  ASSERT_TRUE(source->info().has_audio);
  options.audio_from = source->info().address;
  record(file("copy.mkv"), kSoundFormat, 50, options);
  EXPECT_TRUE(open_source(file("copy.mkv"), {})->info().has_audio);
}

TEST_F(NetworkAudioTest, OptionsOfTheSourceDoNotLoseTheSound) {
  RecorderOptions options = record_with_sound();
  const SoundServer server(get("with.mkv"), "X-Key: secret");
  SourceOptions source_options;
  source_options.live.must_open = true;
  source_options.live.extra = {{"headers", "X-Key: secret\r\n"}};
  const auto source = open_source(server.url("with.mkv"), source_options);
  ASSERT_TRUE(source->info().has_audio);
  options.audio_from = audio_of(source->info(), {});
  record(file("copy.mkv"), kSoundFormat, 50, options);
  EXPECT_TRUE(open_source(file("copy.mkv"), {})->info().has_audio);
}

TEST_F(NetworkAudioTest, StoppingARecordingDoesNotWaitForTheServer) {
  const SoundServer silent("", "");
  std::atomic<bool> stop{false};
  Recording recording({}, 25, silent.url("a.mkv"), &stop);
  recording.start({file("x.mkv"), {}});
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop = true;
  });
  const int64_t begin = now_ns();
  for (int i = 0; i < 5; ++i) recording.write(picture(kSoundFormat, i).ref(), at(i));
  recording.stop();
  later.join();
  EXPECT_LT(now_ns() - begin, 3 * kSoundSecond) << "waited for the open timeout";
  EXPECT_TRUE(std::filesystem::exists(file("x.mkv")));
}

TEST_F(NetworkAudioTest, StoppingAStreamDoesNotWaitForTheServer) {
  const SoundServer silent("", "");
  StreamOutput::Options options;
  options.url = "udp://127.0.0.1:45998", options.audio_from = silent.url("a.mkv");
  StreamOutput output(options);
  for (int i = 0; i < 5; ++i) output.write(picture(kSoundFormat, i).ref(), at(i));
  const int64_t begin = now_ns();
  output.finish();
  EXPECT_LT(now_ns() - begin, 2 * kSoundSecond) << "waited for the open timeout";
}

}  // namespace
}  // namespace lensd::test

// HLS playlists: only http and https addresses remain, and what FFmpeg gets reads back equal.
#include <cstdint>
#include <string>

#include "core/base/error.hpp"
#include "core/base/text/text.hpp"
#include "core/media/hls/playlist.hpp"
#include "core/media/url.hpp"
#include "tests/fuzz/common/require.hpp"

namespace lensd::hls {
namespace {

using fuzz::require;

void check_address(const std::string& address) {
  require(address.starts_with("http://") || address.starts_with("https://"), "address '{}'", address);
  require(!has_control_character(address) && address.find_first_of(" \"") == std::string::npos,
          "characters in '{}'", address);
  require(address.size() <= kMaxAddressBytes + 3, "the address has {} bytes", address.size());
}

void check_media(const Playlist& list) {
  for (const Segment& segment : list.segments) check_address(segment.address);
  for (size_t i = 1; i < list.keys.size(); ++i)
    if (!list.keys[i].address.empty()) check_address(list.keys[i].address);
  for (size_t i = 1; i < list.maps.size(); ++i) check_address(list.maps[i].address);
  const std::string text = media_text(list, 0, {});
  if (text.size() > kMaxPlaylistBytes) return;
  const Playlist again = parse(text, "http://elsewhere/a.m3u8");
  require(!again.master && again.segments.size() == list.segments.size(), "{} of {} segments",
          again.segments.size(), list.segments.size());
  require(again.sequence == list.sequence && again.finished == list.finished, "number or end");
  for (size_t i = 0; i < list.segments.size(); ++i) {
    const Segment &a = list.segments[i], &b = again.segments[i];
    require(a.address == b.address, "'{}' becomes '{}'", a.address, b.address);
    require(a.range == b.range, "the range of segment {} changes", i);
    require(list.keys[a.key] == again.keys[b.key], "the key of segment {} changes", i);
    require(list.maps[a.map] == again.maps[b.map], "the initialization section of segment {} changes", i);
  }
}

void check_master(const Playlist& list) {
  for (int track = 0; track <= video_tracks(list); ++track) {
    if (video_tracks(list) == 0) break;
    const Choice choice = choose_video(list, track, track);
    check_address(choice.video);
    if (!choice.audio.empty()) check_address(choice.audio);
    require(track == 0 || choice.video_track == track, "track {} instead of {}", choice.video_track, track);
    const Playlist again = parse(master_text(choice), "http://elsewhere/a.m3u8");
    require(again.variants.size() == 1 && again.variants[0].address == choice.video, "another variant");
  }
  if (!list.variants.empty()) check_address(choose_audio(list, 1).video);
}

}  // namespace
}  // namespace lensd::hls

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lensd::hls;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const Playlist list = parse(text, "https://joe:pass@host:8443/a/b/live.m3u8?token=x");
    list.master ? check_master(list) : check_media(list);
  } catch (const lensd::Error& error) {
    lensd::fuzz::require(error.code() == lensd::ExitCode::bad_source, "error code of '{}'", error.what());
  }
  return 0;
}

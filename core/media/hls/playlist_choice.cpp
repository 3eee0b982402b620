// Chooses what to play from a playlist, and writes the playlists that FFmpeg reads.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"
#include "core/media/hls/playlist.hpp"

namespace lensd::hls {
namespace {

[[noreturn]] void fail_to_choose(const std::string& what) {
  throw Error(ExitCode::bad_source, {}, "its HLS playlist " + what);
}

/// Returns true for Dolby Vision without a base layer, which lensd cannot show.
bool is_dolby_vision(const Variant& variant) {
  return variant.codecs.find("dvh") != std::string::npos || variant.codecs.find("dva") != std::string::npos;
}

/// Returns the indices of the variants with video.
std::vector<size_t> usable(const Playlist& master) {
  std::vector<size_t> out;
  for (size_t i = 0; i < master.variants.size(); ++i)
    if (master.variants[i].has_video) out.push_back(i);
  return out;
}

bool is_larger(const Variant& a, const Variant& b) {
  if (is_dolby_vision(a) != is_dolby_vision(b)) return is_dolby_vision(b);
  if (area(a.size) != area(b.size)) return area(a.size) > area(b.size);
  return a.bits_per_s > b.bits_per_s;
}

size_t largest(const Playlist& master, const std::vector<size_t>& among) {
  size_t best = among.front();
  for (const size_t i : among)
    if (is_larger(master.variants[i], master.variants[best])) best = i;
  return best;
}

/// Returns rendition `track`, from 1, of a group; for 0 the preferred one, or the first if none is preferred.
/// Returns null if there is no such rendition, or if it has no separate playlist.
const Rendition* find_rendition(const Playlist& master, const std::string& group, int track) {
  const Rendition* best = nullptr;
  int count = 0;
  for (const Rendition& one : master.renditions) {
    if (group.empty() || one.group != group) continue;
    ++count;
    if (track > 0 ? count == track : !best || (one.preferred && !best->preferred)) best = &one;
  }
  return best && !best->address.empty() ? best : nullptr;
}

}  // namespace

int video_tracks(const Playlist& master) {
  return static_cast<int>(usable(master).size());
}

std::vector<std::string> describe_variants(const Playlist& master) {
  std::vector<std::string> out;
  for (const size_t i : usable(master)) {
    const Variant& one = master.variants[i];
    std::string text = one.size.width > 0 ? fmt::format("{}×{}", one.size.width, one.size.height) : "video";
    if (one.bits_per_s > 0) text += fmt::format(", {:.3g} Mbit/s", static_cast<double>(one.bits_per_s) / 1e6);
    out.push_back(std::move(text));
  }
  return out;
}

Choice choose_video(const Playlist& master, int track, int audio_track) {
  const std::vector<size_t> all = usable(master);
  if (all.empty()) fail_to_choose("lists no video");
  const size_t chosen = track > 0 && static_cast<size_t>(track) <= all.size()
                            ? all[static_cast<size_t>(track) - 1]
                            : largest(master, all);
  const Variant& variant = master.variants[chosen];
  Choice out;
  out.video = variant.address;
  out.video_track = static_cast<int>(std::ranges::find(all, chosen) - all.begin()) + 1;
  if (const Rendition* audio = find_rendition(master, variant.audio_group, audio_track))
    out.audio = audio->address, out.rendition = true;
  return out;
}

Choice choose_audio(const Playlist& master, int track) {
  if (master.variants.empty()) fail_to_choose("lists no audio");
  std::vector<size_t> all = usable(master);
  if (all.empty()) all.push_back(0);
  if (const Rendition* audio =
          find_rendition(master, master.variants[largest(master, all)].audio_group, track))
    return {audio->address, {}, true, 0};
  size_t lowest = 0;
  for (size_t i = 0; i < master.variants.size(); ++i)
    if (master.variants[i].bits_per_s < master.variants[lowest].bits_per_s) lowest = i;
  return {master.variants[lowest].address, {}, false, 0};
}

std::string master_text(const Choice& choice) {
  std::string out(kBegin);
  if (!choice.audio.empty())
    out += fmt::format("\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"a\",DEFAULT=YES,URI=\"{}\"",
                       choice.audio);
  out += fmt::format("\n#EXT-X-STREAM-INF:BANDWIDTH=1{}\n{}\n", choice.audio.empty() ? "" : ",AUDIO=\"a\"",
                     choice.video);
  return out;
}

std::string media_text(const Playlist& playlist, size_t skip, const Map& map) {
  std::string out = fmt::format("{}\n#EXT-X-TARGETDURATION:{}\n#EXT-X-MEDIA-SEQUENCE:{}\n", kBegin,
                                playlist.target_s, playlist.sequence + static_cast<int64_t>(skip));
  Map listed_map = map;
  size_t listed_key = 0;
  for (size_t i = skip; i < playlist.segments.size(); ++i) {
    const Segment& segment = playlist.segments[i];
    if (segment.key != std::exchange(listed_key, segment.key)) {
      const Key& key = playlist.keys[segment.key];
      out += key.address.empty() ? "#EXT-X-KEY:METHOD=NONE\n"
                                 : fmt::format("#EXT-X-KEY:METHOD=AES-128,URI=\"{}\"{}{}\n", key.address,
                                               key.iv.empty() ? "" : ",IV=", key.iv);
    }
    if (const Map& own = playlist.maps[segment.map]; own != listed_map && !own.address.empty()) {
      out += fmt::format("#EXT-X-MAP:URI=\"{}\"", own.address);
      if (own.range.bytes >= 0) out += fmt::format(",BYTERANGE=\"{}@{}\"", own.range.bytes, own.range.offset);
      out += '\n', listed_map = own;
    }
    out += fmt::format("#EXTINF:{:.6f},\n", segment.duration_s);
    if (segment.range.bytes >= 0)
      out += fmt::format("#EXT-X-BYTERANGE:{}@{}\n", segment.range.bytes, segment.range.offset);
    out += segment.address + '\n';
  }
  if (playlist.finished) out += "#EXT-X-ENDLIST\n";
  return out;
}

}  // namespace lensd::hls

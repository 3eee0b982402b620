// The playlists of HTTP Live Streaming (RFC 8216), as text.
//
//   text of a server ── parse() ──▶ Playlist ── choose() ──▶ Choice
//                                          └── media_text(), master_text() ──▶ text for FFmpeg
//
// FFmpeg never reads a server's playlist. It reads a new one that contains only parsed entries, with absolute
// http and https addresses and within the limits below. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/image/view.hpp"

namespace lensd::hls {

inline constexpr size_t kMaxPlaylistBytes = 8 << 20;
inline constexpr size_t kMaxSegments = 100'000;      ///< 28 hours of segments of one second
inline constexpr size_t kMaxListedBytes = 32 << 20;  ///< total size of all addresses
inline constexpr size_t kMaxEntries = 1000;          ///< variants, renditions, and keys of a playlist
inline constexpr size_t kMaxAddressBytes = 4000;     ///< FFmpeg's limit is 4096 with a prefix
inline constexpr std::string_view kBegin = "#EXTM3U";

/// One version of the video in a master playlist.
struct Variant {
  std::string address, audio_group, codecs;
  Extent size;
  int64_t bits_per_s = 0;
  bool has_video = true;
};

/// An audio rendition of a master playlist. Without an address, its audio is part of the variants.
struct Rendition {
  std::string group, address, name;
  bool preferred = false;
};

/// Part of a file; the whole file if `bytes` is negative.
struct Range {
  int64_t offset = 0, bytes = -1;
  bool operator==(const Range&) const = default;
};

struct Key {
  std::string address, iv;  ///< no address: not encrypted
  bool operator==(const Key&) const = default;
};

/// Initialization data of the segments after it.
struct Map {
  std::string address;  ///< empty: none
  Range range;
  bool operator==(const Map&) const = default;
};

struct Segment {
  std::string address;
  Range range;
  double duration_s = 0;
  size_t key = 0, map = 0;  ///< indices into Playlist::keys and maps
};

struct Playlist {
  bool master = false;
  std::vector<Variant> variants;
  std::vector<Rendition> renditions;

  // Media playlists only.
  std::vector<Segment> segments;
  std::vector<Key> keys{{}};
  std::vector<Map> maps{{}};
  int64_t sequence = 0;  ///< number of the first segment
  int64_t target_s = 1;  ///< announced or real maximum duration of a segment
  bool finished = false;

  int64_t end() const { return sequence + static_cast<int64_t>(segments.size()); }
};

/// Returns the absolute address of `reference` in a document with the address `base`. Throws
/// Error(bad_source) if it is not an http or https address.
std::string resolve(const std::string& base, std::string_view reference);

/// Parses a playlist that was loaded from `base`. Throws Error(bad_source) if it is not a playlist, exceeds a
/// limit, lists an address that is not allowed, or is encrypted in a way that lensd does not support.
Playlist parse(std::string_view text, const std::string& base);

/// The selected streams of a master playlist.
struct Choice {
  std::string video, audio;  ///< addresses of media playlists; `audio` may be empty
  bool rendition = false;    ///< the audio has a separate playlist
  int video_track = 0;       ///< number of the variant among the video variants, from 1; 0: it has no video
};

/// Returns the number of video variants.
int video_tracks(const Playlist& master);
/// Returns a description of each video variant such as "1920×1080, 5.2 Mbit/s".
std::vector<std::string> describe_variants(const Playlist& master);

/// Chooses video variant `track`, from 1, or the largest one if there is none with this number. If its audio
/// is in renditions, also chooses rendition `audio_track`, from 1, or the preferred one for 0. Throws
/// Error(bad_source) if there is no variant with video.
Choice choose_video(const Playlist& master, int track, int audio_track);
/// Chooses a playlist with audio and returns it as Choice::video: rendition `track` of the largest variant
/// or, if there is none, the variant with the lowest rate, because all variants have the same audio.
Choice choose_audio(const Playlist& master, int track);

/// Returns a master playlist for `choice`.
std::string master_text(const Choice& choice);
/// Returns a media playlist without its first `skip` segments. `map`: the map that was loaded last. It is not
/// listed again, because FFmpeg keeps the entry of every reload in memory.
std::string media_text(const Playlist& playlist, size_t skip, const Map& map);

}  // namespace lensd::hls

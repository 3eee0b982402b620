// Errors that decoders only log: PictureAllocator counts them, and detailed_error() contains the last one.

#include <gtest/gtest.h>

#include "core/media/ffmpeg/ffmpeg.hpp"
#include "core/media/ffmpeg/picture_allocator.hpp"

namespace lensd {
namespace {

TEST(DecoderLog, OnlyErrorsOfAttachedDecodersCount) {
  ff::initialize();
  PictureAllocator allocator(MemoryKind::host);
  AVCodecContext* decoder = avcodec_alloc_context3(nullptr);
  AVCodecContext* other = avcodec_alloc_context3(nullptr);
  ASSERT_TRUE(decoder && other);
  allocator.attach(*decoder);
  for (const int level : {AV_LOG_WARNING, AV_LOG_INFO, AV_LOG_DEBUG}) av_log(decoder, level, "no error\n");
  av_log(other, AV_LOG_ERROR, "another context's error\n");
  av_log(nullptr, AV_LOG_ERROR, "an error without a context\n");
  EXPECT_EQ(allocator.logged_errors(), 0);
  av_log(decoder, AV_LOG_ERROR, "an error\n");
  av_log(decoder, AV_LOG_FATAL, "a worse error\n");
  EXPECT_EQ(allocator.logged_errors(), 2);
  avcodec_free_context(&decoder), avcodec_free_context(&other);
}

TEST(DecoderLog, TheLastErrorExplainsAFailureUntilItIsForgotten) {
  ff::initialize();
  ff::forget_log();
  const std::string plain = ff::detailed_error(AVERROR_INVALIDDATA);
  av_log(nullptr, AV_LOG_WARNING, "only a warning\n");
  EXPECT_EQ(ff::detailed_error(AVERROR_INVALIDDATA), plain);
  av_log(nullptr, AV_LOG_ERROR, "moov atom not found\n");
  EXPECT_NE(ff::detailed_error(AVERROR_INVALIDDATA).find("moov atom not found"), std::string::npos);
  ff::forget_log();
  EXPECT_EQ(ff::detailed_error(AVERROR_INVALIDDATA), plain);
}

TEST(DecoderLog, AMessageHasOneLine) {
  ff::initialize();
  av_log(nullptr, AV_LOG_ERROR, "the width is refused\nadd an option\n");
  EXPECT_EQ(ff::detailed_error(AVERROR(EINVAL)), "the width is refused add an option");
  ff::forget_log();
}

TEST(DecoderLog, OnlyPrefixesAreRemoved) {
  ff::initialize();
  const auto logged = [](const char* text) {
    ff::forget_log();
    av_log(nullptr, AV_LOG_ERROR, "%s\n", text);
    return ff::detailed_error(AVERROR_INVALIDDATA);
  };
  const auto ends_with = [&](const char* text, const char* end) {
    const std::string found = logged(text);
    EXPECT_NE(found.find(end), std::string::npos) << found;
    EXPECT_EQ(found.find("@ 0x"), std::string::npos) << found;
  };
  ends_with("[tcp @ 0x55d0] Host [::1] refused the connection", "Host [::1] refused the connection");
  ends_with("[http @ 0x1] [tcp @ 0x2] Port [80] is closed", "Port [80] is closed");
  ends_with("[::1] refused", "[::1] refused");
}

TEST(DecoderLog, TextsOfErrorsBeginInLowerCase) {
  EXPECT_EQ(ff::error_text(AVERROR_INVALIDDATA), "invalid data found when processing input");
  EXPECT_EQ(ff::error_text(AVERROR_EOF), "end of file");
  EXPECT_EQ(ff::error_text(AVERROR(ENOENT)), "no such file or directory");
}

}  // namespace
}  // namespace lensd

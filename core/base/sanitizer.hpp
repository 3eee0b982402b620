// LENSD_ADDRESS_SANITIZER and LENSD_THREAD_SANITIZER: 1 in builds with these sanitizers, otherwise 0.
#pragma once

#ifdef __has_feature  // Clang
#define LENSD_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#define LENSD_THREAD_SANITIZER __has_feature(thread_sanitizer)
#else
#ifdef __SANITIZE_ADDRESS__
#define LENSD_ADDRESS_SANITIZER 1
#else
#define LENSD_ADDRESS_SANITIZER 0
#endif
#ifdef __SANITIZE_THREAD__
#define LENSD_THREAD_SANITIZER 1
#else
#define LENSD_THREAD_SANITIZER 0
#endif
#endif

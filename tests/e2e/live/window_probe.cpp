// Measures the latency of the pictures in the viewer's window, read from the X server:
//
//   lensd_window_probe X Y WIDTH SECONDS
//
// X, Y and WIDTH are the picture's position and width on the root window of $DISPLAY. The probe reads one row
// about 700 times a second. For each new code (time_code.hpp) it records the age directly after the read.
// Prints the number of pictures and p50, p95, p99 and maximum of their ages in milliseconds as JSON.
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>

#include "core/base/clock.hpp"
#include "tests/e2e/live/distribution.hpp"
#include "tests/e2e/live/time_code.hpp"

using namespace lensd;

int main(int argc, char** argv) {
  Display* display = XOpenDisplay(nullptr);
  if (argc != 5 || !display) {
    std::fprintf(stderr, "usage: DISPLAY=… %s X Y WIDTH SECONDS\n", argv[0]);
    return 2;
  }
  const int x = std::atoi(argv[1]), y = std::atoi(argv[2]), width = std::atoi(argv[3]);
  const Window root = DefaultRootWindow(display);
  // Bars have an integer width in the sender's 640 pixels. Scale it, because the displayed picture may be
  // scaled.
  const double bar = width / 640.0 * (640 / time_code::kBars);
  Distribution ages;
  uint64_t last = 0;
  size_t unread = 0;
  const int64_t end = now_ns() + static_cast<int64_t>(std::atof(argv[4]) * 1e9);
  while (now_ns() < end) {
    XImage* row = XGetImage(display, root, x, y + static_cast<int>(bar), static_cast<unsigned>(width), 1,
                            AllPlanes, ZPixmap);
    if (!row) return 1;
    const int64_t now = now_ns();
    const auto us = time_code::read([&](int index) {
      return static_cast<int>(XGetPixel(row, static_cast<int>((index + 0.5) * bar), 0) >> 8 & 0xFF);
    });
    XDestroyImage(row);
    if (!us) {
      ++unread;
    } else if (*us != last) {
      if (last) ages.add(time_code::age_ms(*us, static_cast<uint64_t>(now / 1000)));
      last = *us;
    }
    const timespec nap = {0, 1'200'000};
    nanosleep(&nap, nullptr);
  }
  XCloseDisplay(display);
  if (ages.count() == 0) {
    std::fprintf(stderr, "no picture with a code was seen\n");
    return 1;
  }
  std::printf("{\"frames\":%zu,\"unread\":%zu,", ages.count(), unread);
  ages.print();
  std::printf("}\n");
  return 0;
}

// A fake NVML with one device, for machines without a driver. Contains only the functions that lensd calls.
extern "C" {

int nvmlInit_v2() {
  return 0;
}

int nvmlShutdown() {
  return 0;
}

const char* nvmlErrorString(int) {
  return "Not Found";
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** device) {
  static int the_device = 0;
  for (const char *a = bus, *b = "0000:3b:00.0"; *a || *b; ++a, ++b)
    if (*a != *b) return 6;
  *device = &the_device;
  return 0;
}

int nvmlDeviceGetClockInfo(void* device, int type, unsigned* mhz) {
  if (!device || type != 0) return 2;
  *mhz = 1755;
  return 0;
}
}

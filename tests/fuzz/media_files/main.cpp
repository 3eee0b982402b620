// Plays damaged media files with the real source, under the sanitizers.
//
//   media-files FOLDER FINDINGS COUNT SEED JOBS     plays COUNT damaged copies of the clips in FOLDER
//   media-files FILE                                plays one file
//
// Each job is a process that plays every JOBS-th copy. If the process ends early or needs more than 10 s for
// a file, the copy and the job's messages are stored in FINDINGS, and another process continues with the
// job's next copy.
#include <fcntl.h>
#include <sanitizer/lsan_interface.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/log.hpp"
#include "core/base/whole_file.hpp"
#include "tests/fuzz/common/memory_file.hpp"
#include "tests/fuzz/media_files/mutate.hpp"
#include "tests/fuzz/media_files/play.hpp"

namespace lensd::fuzz {
namespace {

constexpr int64_t kMaxNs = 10'000'000'000;
constexpr size_t kMaxBytes = 1 << 20;  ///< limit for a clip; the rest is ignored
constexpr int kPictures = 8;
constexpr uint64_t kLeakChecks = 500;  ///< runs between two leak checks, which are slow

/// Progress of a job, in memory that the job shares with its parent process.
struct Progress {
  std::atomic<uint64_t> number, runs, opened, pictures, slowest;
  std::atomic<int64_t> started_ns, slowest_ns;
  std::atomic<bool> done;
};

struct Options {
  std::string folder, findings;
  uint64_t count = 0, seed = 0;
  int jobs = 1;
};

void play_number(const std::vector<Clip>& clips, const Options& options, uint64_t number,
                 Progress& progress) {
  const Clip clip = mutated(clips, options.seed, number);
  const MemoryFile file(clip.bytes);
  progress.number = number;
  progress.started_ns = now_ns();
  const Played played = play(file.path(), kPictures);
  const int64_t took_ns = now_ns() - progress.started_ns;
  progress.started_ns = 0;
  ++progress.runs, progress.opened += played.opened ? 1 : 0,
      progress.pictures += static_cast<uint64_t>(played.pictures);
  if (took_ns > progress.slowest_ns) progress.slowest_ns = took_ns, progress.slowest = number;
}

/// Runs a job in its child process, from copy `first` on. Redirects standard error to the file `messages`.
[[noreturn]] void run_job(const std::vector<Clip>& clips, const Options& options, uint64_t first,
                          Progress& progress, const std::string& messages) {
  const int fd = open(messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  dup2(fd, STDERR_FILENO);
  log::set_level("off");
  uint64_t runs = 0;
  for (uint64_t number = first; number < options.count; number += static_cast<uint64_t>(options.jobs)) {
    play_number(clips, options, number, progress);
    if (++runs % kLeakChecks == 0 && __lsan_do_recoverable_leak_check()) _exit(1);
  }
  if (__lsan_do_recoverable_leak_check()) _exit(1);
  progress.done = true;
  _exit(0);
}

class Job {
 public:
  Job(const std::vector<Clip>& clips, const Options& options, int index)
      : clips_(clips),
        options_(options),
        messages_(options.findings + "/job-" + std::to_string(index) + ".log") {
    void* memory = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(memory != MAP_FAILED, "no shared memory");
    progress = new (memory) Progress{};
    start(static_cast<uint64_t>(index));
  }

  /// Stores a finding and starts another process if the process has ended early. Aborts the process if it is
  /// too slow. Returns false when the job is finished or has 100 findings.
  bool poll() {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      if (progress->done && status == 0) {
        std::filesystem::remove(messages_);
        return false;
      }
      return store(slow_ ? "took longer than 10 s" : "ended the program");
    }
    const int64_t started_ns = progress->started_ns;
    if (!slow_ && started_ns > 0 && now_ns() - started_ns > kMaxNs) {
      slow_ = true;
      ++slow;
      kill(pid_, SIGABRT);
    }
    return true;
  }

  Progress* progress;
  int findings = 0, slow = 0;

 private:
  void start(uint64_t first) {
    slow_ = false;
    progress->started_ns = 0;
    pid_ = fork();
    require(pid_ >= 0, "cannot fork");
    if (pid_ == 0) run_job(clips_, options_, first, *progress, messages_);
  }

  bool store(const char* what) {
    ++findings;
    const uint64_t number = progress->number;
    const Clip clip = mutated(clips_, options_.seed, number);
    const std::string path = fmt::format("{}/{}-{}-{}", options_.findings, options_.seed, number, clip.name);
    write_whole_file(path, std::span<const uint8_t>(clip.bytes), Flush::none);
    std::filesystem::rename(messages_, path + ".log");
    fmt::print("finding: {} {}; messages in {}.log\n", path, what, path);
    const uint64_t next = number + static_cast<uint64_t>(options_.jobs);
    if (next >= options_.count || findings >= 100) return false;
    start(next);
    return true;
  }

  const std::vector<Clip>& clips_;
  const Options& options_;
  const std::string messages_;
  pid_t pid_ = -1;
  bool slow_ = false;
};

int run(const Options& options) {
  const std::vector<Clip> clips = load_clips(options.folder, kMaxBytes);
  require(!clips.empty(), "{} has no clips", options.folder);
  fmt::print("playing {} damaged copies of {} clips, seed {}\n", options.count, clips.size(), options.seed);
  std::fflush(stdout);
  const int64_t begin = now_ns();
  std::vector<Job> jobs;
  jobs.reserve(static_cast<size_t>(options.jobs));
  for (int i = 0; i < options.jobs; ++i) jobs.emplace_back(clips, options, i);
  std::vector<Job*> running;
  for (Job& job : jobs) running.push_back(&job);
  while (!running.empty()) {
    std::erase_if(running, [](Job* job) { return !job->poll(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  uint64_t runs = 0, opened = 0, pictures = 0;
  int findings = 0, slow = 0;
  int64_t slowest_ns = 0;
  for (const Job& job : jobs) {
    const Progress& p = *job.progress;
    runs += p.runs, opened += p.opened, pictures += p.pictures, findings += job.findings, slow += job.slow;
    slowest_ns = std::max(slowest_ns, p.slowest_ns.load());
  }
  fmt::print(
      "{} files played in {:.0f} s: {} opened, {} pictures, slowest {:.2f} s, {} over 10 s, {} findings\n",
      runs, to_s(now_ns() - begin), opened, pictures, to_s(slowest_ns), slow, findings);
  return findings > 0 ? 1 : 0;
}

}  // namespace
}  // namespace lensd::fuzz

int main(int argc, char** argv) {
  using namespace lensd::fuzz;
  if (argc == 2) {
    const Played played = play(argv[1], 1000);
    fmt::print("{}, {} pictures\n", played.opened ? "opened" : "refused", played.pictures);
    return 0;
  }
  if (argc != 6) {
    fmt::print(stderr, "usage: media-files FOLDER FINDINGS COUNT SEED JOBS, or media-files FILE\n");
    return 2;
  }
  return run({argv[1], argv[2], std::stoull(argv[3]), std::stoull(argv[4]), std::stoi(argv[5])});
}

// Messages for the user, kept until a consumer takes them.
#pragma once

#include <algorithm>
#include <iterator>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace lensd {

struct Notice {
  bool problem = false;
  std::string text;
};

/// Moves the notices of `more` to the end of `all`.
inline void append(std::vector<Notice>& all, std::vector<Notice> more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

/// A bounded list of notices. Thread-safe.
class NoticeList {
 public:
  /// Adds a notice. Discards it if the list already has 64.
  void add(bool problem, std::string text) {
    const std::lock_guard lock(mutex_);
    if (notices_.size() < 64) notices_.push_back({problem, std::move(text)});
  }
  std::vector<Notice> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(notices_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<Notice> notices_;
};

}  // namespace lensd

// Headers that most files include, precompiled in builds without ccache. Large headers that only some files
// need (JSON, TOML, spdlog) are not here: every file loads the whole precompiled header, so they would cost
// more than they save. Files still include what they use, because builds with ccache have no precompiled
// header.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/graph/filter.hpp"

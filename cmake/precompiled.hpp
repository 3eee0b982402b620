// Headers that most files include, parsed once in builds without ccache. Only those: a precompiled header is
// read whole by every file, so that large ones which some files need (JSON, TOML, spdlog) would cost more
// than they save. Files still include what they use: builds with ccache have none of this.
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

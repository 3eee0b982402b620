// toml++, without its assertions: in debug builds it asserts on text that its parser then refuses with a
// message.
#pragma once

#define TOML_ASSERT(condition) static_cast<void>(0)
#include <toml++/toml.h>

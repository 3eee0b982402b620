// What each command does: arguments that fit the table in, one answer out through the call's reply.
//
// Called by run_command() alone, on any thread; see commands.hpp.
#pragma once

#include "core/control/commands.hpp"

namespace lensd::handlers {

void get(CommandCall& call);
void set(CommandCall& call);
void observe(CommandCall& call);
void unobserve(CommandCall& call);
void list(CommandCall& call);
void graph_get(CommandCall& call);
void graph_set(CommandCall& call);
void load(CommandCall& call);
void seek(CommandCall& call);
void pause(CommandCall& call);
void step(CommandCall& call);
void speed(CommandCall& call);
void snapshot(CommandCall& call);
void trace(CommandCall& call);
void record(CommandCall& call);
void stats(CommandCall& call);
void log_level(CommandCall& call);
void log_lines(CommandCall& call);
void reload(CommandCall& call);
void version(CommandCall& call);
void quit(CommandCall& call);

}  // namespace lensd::handlers

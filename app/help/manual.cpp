#include "app/help/manual.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "app/cli_help.hpp"
#include "app/help/troff.hpp"
#include "core/config/keys.hpp"
#include "core/control/commands.hpp"
#include "core/control/properties.hpp"
#include "ui/keys.hpp"

namespace lensd {
namespace {

constexpr const char* kDescription =
    "lensd processes a video file, image, stream or camera with a graph of filters, on an NVIDIA GPU or on "
    "the CPU with "
    "identical output. A window shows the result beside a panel that tunes the filters and shows the cost of "
    "each. With "
    "--headless or --output it processes everything as fast as possible; lensd serve runs as a daemon "
    "without a window, "
    "controlled by socket and HTTP.";

constexpr const char* kExamples =
    "lensd clip.mp4 --graph median,canny\n"
    "lensd /dev/video0 --record 'cam-%H%M%S.mkv'\n"
    "lensd clip.mp4 --headless --graph median=radius=2 -o out.mp4\n"
    "lensd serve rtsp://camera.local/stream1 -c /etc/lensd/front.toml --http 8080\n"
    "lensd ctl set canny.low 60 canny.high 170";

struct FileHelp {
  const char* path;
  const char* doc;
};
constexpr FileHelp kFiles[] = {
    {"/etc/lensd/lensd.toml", "configuration of the service lensd.service"},
    {"/etc/lensd/NAME.toml", "configuration of the service lensd@NAME.service"},
    {"/var/lib/lensd", "recordings and snapshots of the services"},
    {"/usr/share/lensd", "example configuration, graphs and presets"},
    {"~/.config/lensd/presets", "the user's presets"},
    {"~/.local/state/lensd", "window, recent sources and the last graph of the viewer; traces"},
    {"$XDG_RUNTIME_DIR/lensd/control.sock",
     "the control socket of lensd serve, unless --socket names another"}};

using Page = TroffPage;

std::string head_of(const OptionHelp& option) {
  if (option.positional) return Page::italic(option.names.front());
  std::string head;
  for (const std::string& name : option.names) head += (head.empty() ? "" : ", ") + Page::bold(name);
  if (option.value.empty()) return head;
  return head + (option.attached() ? "" : " ") + Page::italic(option.value);
}

/// Returns true for --help and --version. The page describes them only once.
bool is_common(const OptionHelp& option) {
  return option.group == kInformationGroup;
}

bool has_options(const CommandHelp& command) {
  return command.takes_program_options || std::ranges::any_of(command.options, [](const OptionHelp& option) {
           return !option.positional && !is_common(option);
         });
}

/// Returns " [SOURCE] [FILES]...". Required arguments have no brackets.
std::string arguments_of(const CommandHelp& command) {
  std::string text;
  for (const OptionHelp& option : command.options) {
    if (!option.positional) continue;
    const std::string name = Page::italic(option.names.front());
    text += (option.required ? " " + name : " [" + name + "]") + (option.repeats ? "..." : "");
  }
  return text;
}

void add_synopsis(Page& page, const ProgramHelp& help) {
  page.section("SYNOPSIS");
  page.raw(Page::bold("lensd") + " [" + Page::italic("OPTION") + "]..." + arguments_of(help.program));
  for (const CommandHelp& command : help.commands) {
    std::string line = Page::bold("lensd " + command.name), arguments = arguments_of(command);
    if (command.takes_program_options && arguments.empty()) arguments = " [" + Page::italic("SOURCE") + "]";
    if (has_options(command)) line += " [" + Page::italic("OPTION") + "]...";
    line += arguments;
    if (command.takes_words) line += " " + Page::italic("COMMAND") + " [" + Page::italic("ARGUMENT") + "]...";
    page.raw(".br\n" + line);
  }
}

void add_options(Page& page, const CommandHelp& command) {
  std::string group;
  for (const OptionHelp& option : command.options) {
    if (option.group != group) page.subsection(group = option.group);
    page.entry(head_of(option), option.doc);
  }
}

void add_commands(Page& page, const ProgramHelp& help) {
  page.section("COMMANDS");
  for (const CommandHelp& command : help.commands) {
    page.subsection("lensd " + command.name);
    page.raw(troff_escaped(command.doc) + ".");
    if (!command.note.empty()) page.paragraph(command.note);
    for (const OptionHelp& option : command.options)
      if (!is_common(option)) page.entry(head_of(option), option.doc);
  }
}

void add_control(Page& page) {
  page.section("CONTROL COMMANDS");
  page.raw("Commands of the control socket, of HTTP and of");
  page.raw(Page::bold("lensd ctl") + ":");
  for (const CommandSpec& command : command_table()) {
    std::string doc = command.doc;
    if (command.alias) doc += fmt::format("; also {}", command.alias);
    page.entry(Page::bold(command_usage(command)), doc);
  }
  page.section("PROPERTIES");
  page.raw(
      "The commands get, set and observe take these names, NODE.PARAMETER, NODE.enabled and source.CONTROL:");
  for (const Json& property : describe_properties())
    page.entry(
        Page::bold(property.at("name").get<std::string>()),
        property.at("doc").get<std::string>() + (property.at("settable").get<bool>() ? "; settable" : ""));
}

void add_configuration(Page& page) {
  page.section("CONFIGURATION");
  page.raw("Configuration files are TOML. Besides the following tables they have");
  page.raw(Page::bold("[[node]]") + " for the filters and " + Page::bold("output") + " in " +
           Page::bold("[graph]") + ". Options of the command line override variables, which override files.");
  for (const ConfigTable& table : config_tables()) {
    page.subsection(fmt::format("[{}]: {}", table.name, table.doc));
    for (const ParamSpec& key : table.params) page.entry(Page::bold(key.name), option_doc(key));
    if (table.name == "source")
      page.entry(Page::bold("[source.controls]"),
                 "a table of the camera's controls, NAME = VALUE; lensd doctor lists them");
  }
}

void add_filters(Page& page, const Registry& registry) {
  page.section("FILTERS");
  page.raw(Page::bold("lensd filters") + " " + Page::italic("NAME") +
           " describes the parameters of a filter.");
  for (const FilterEntry& entry : registry.filters)
    page.entry(Page::bold(entry.schema().name), entry.schema().doc);
}

void add_keys(Page& page) {
  page.section("KEYS OF THE VIEWER");
  for (const ui::KeyHelp& line : ui::key_help()) {
    if (line.group) page.subsection(line.group);
    page.entry(Page::bold(line.keys), line.what);
  }
}

}  // namespace

const std::vector<VariableHelp>& variable_help() {
  static const std::vector<VariableHelp> variables{
      {"LENSD_TABLE_KEY", "any key of the configuration, for example LENSD_RECORD_CODEC=ffv1"},
      {"LENSD_GRAPH", "the graph as a chain, as --graph; the option overrides it"},
      {"LENSD_SET", "assignments as for --set, separated by ';'; the options override them"},
      {"LENSD_SOCKET", "the control socket that lensd ctl connects to"},
      {"LENSD_SCALE", "scale of the panels; without it, that of the monitor"},
      {"LENSD_DISPLAY_FPS", "show at most this many frames per second"},
      {"LENSD_SHADER_DIR", "read shaders from this folder instead of the program"},
      {"LENSD_UI_MAP", "write the positions of the panels' widgets to this file, for tests"},
      {"PIPEWIRE_DEBUG", "level of the messages of PipeWire's library, 1 to 5; without it, none"},
      {"SSL_CERT_FILE", "file of root certificates for https and rtmps servers; without it, the system's"},
      {"XDG_CONFIG_HOME", "folder of lensd/presets; without it, ~/.config"},
      {"XDG_STATE_HOME", "folder of lensd's remembered state; without it, ~/.local/state"},
      {"XDG_DATA_DIRS", "folders to search for lensd's example graphs and presets"},
      {"XDG_RUNTIME_DIR", "folder of the control socket"},
      {"RUNTIME_DIRECTORY", "folder of the control socket of a service; set by systemd"},
      {"STATE_DIRECTORY", "folder of recordings and snapshots of a service; set by systemd"},
      {"NOTIFY_SOCKET", "socket that receives the state of a service; set by systemd"},
      {"WATCHDOG_USEC", "the watchdog's period; set by systemd"},
      {"WATCHDOG_PID", "the process that the watchdog watches; set by systemd"},
      {"DISPLAY", "the X11 display of the window and of the source screen:"},
      {"WAYLAND_DISPLAY", "the Wayland display of the window"},
      {"HOME", "the user's home folder"},
      {"http_proxy", "proxy of HTTP sources"}};
  return variables;
}

std::string manual_page(const ProgramHelp& help, const Registry& registry) {
  Page page("lensd", LENSD_VERSION);
  page.section("NAME");
  page.raw("lensd \\- real\\-time video processing with a display, or as a daemon");
  add_synopsis(page, help);
  page.section("DESCRIPTION");
  page.raw(troff_escaped(kDescription));
  page.section("OPTIONS");
  add_options(page, help.program);
  add_commands(page, help);
  add_control(page);
  add_configuration(page);
  add_filters(page, registry);
  add_keys(page);
  page.section("EXIT STATUS");
  for (const ExitCodeHelp& one : exit_code_help()) page.entry(Page::bold(one.code), one.meaning);
  page.section("ENVIRONMENT");
  for (const VariableHelp& variable : variable_help()) page.entry(Page::italic(variable.name), variable.doc);
  page.section("FILES");
  for (const FileHelp& file : kFiles) page.entry(Page::italic(file.path), file.doc);
  page.section("EXAMPLES");
  page.lines(kExamples);
  page.section("SEE ALSO");
  page.raw(Page::bold("ffmpeg") + "(1), " + Page::bold("mpv") + "(1), " + Page::bold("systemd.service") +
           "(5)");
  return page.text();
}

}  // namespace lensd

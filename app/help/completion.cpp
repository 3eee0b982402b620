#include "app/help/completion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/control/commands.hpp"
#include "core/control/properties.hpp"

namespace lensd {
namespace {

struct Word {
  const char* word;
  const char* doc;
};
constexpr Word kSources[] = {{"pipewire:", "the first camera of the PipeWire session, or pipewire:NODE"},
                             {"portal:", "a screen or window, selected in a dialog of the desktop"},
                             {"portal:camera", "a camera, with the desktop's permission"},
                             {"test:demo", "a moving test picture"},
                             {"test:testsrc2", "moving shapes, bars and a clock"},
                             {"test:smptehdbars", "colour bars"},
                             {"rtsp://", "network camera"},
                             {"http://", "network stream"},
                             {"https://", "network stream"},
                             {"udp://", "network stream"},
                             {"srt://", "network stream"},
                             {"rtmp://", "network stream"},
                             {"screen:", "the X11 screen"}};
constexpr Word kReceivers[] = {{"null:", "measure only"},
                               {"rtsp://", "RTSP server"},
                               {"rtmp://", "RTMP server"},
                               {"srt://", "SRT receiver"},
                               {"udp://", "MPEG-TS over UDP"},
                               {"rtp://", "MPEG-TS over RTP"},
                               {"v4l2:/dev/video", "loopback device"}};
constexpr Word kSizes[] = {{"720p", ""}, {"1080p", ""}, {"4k", ""}, {"8k", ""}};
constexpr Word kShells[] = {{"bash", ""}, {"zsh", ""}, {"fish", ""}};
constexpr Word kTraceOn[] = {{"drop", "when a frame is lost"}};

class Completer {
 public:
  explicit Completer(const CompletionContext& context) : context_(context) {}

  Completion run(const std::vector<std::string>& words);

 private:
  /// Member function that adds the candidates for an option's value.
  using Values = void (Completer::*)(const std::string& word);
  static Values values_of(const OptionHelp& option);

  void read(const std::vector<std::string>& words);
  const OptionHelp* find(const std::string& name) const;
  void add_value(const OptionHelp& option, const std::string& word, const std::string& prefix);
  void add_options(const CommandHelp& command);
  void add_positional(const std::string& word);
  void add_control(const std::string& word);

  template <size_t n>
  void add(const Word (&words)[n]) {
    for (const Word& word : words) out_.candidates.push_back({word.word, word.doc});
  }
  void add_filters() {
    for (const FilterEntry& entry : context_.registry.filters)
      out_.candidates.push_back({entry.schema().name, entry.schema().doc});
  }

  void files(const std::string&) { out_.paths = PathKind::files; }
  void folders(const std::string&) { out_.paths = PathKind::folders; }
  void free_text(const std::string&) {}
  void chain(const std::string& word) { complete_chain(context_.registry, word, out_.candidates); }
  void assignment(const std::string& word) {
    complete_assignment(context_.registry, graph_, word, out_.candidates);
  }
  void config(const std::string&) {
    for (const std::string& name : context_.presets) out_.candidates.push_back({name, "preset"});
    out_.paths = PathKind::files;
  }
  void receiver(const std::string&) {
    add(kReceivers);
    out_.paths = PathKind::files;
  }
  void source(const std::string&) {
    add(kSources);
    for (const std::string& camera : context_.cameras) out_.candidates.push_back({camera, "camera"});
    out_.paths = PathKind::files;
  }
  void size(const std::string&) { add(kSizes); }
  void trace_on(const std::string&) { add(kTraceOn); }
  void filter_name(const std::string&) { add_filters(); }
  void shell(const std::string&) { add(kShells); }

  const CompletionContext& context_;
  const CommandHelp* command_ = nullptr;  ///< null: the program itself
  const OptionHelp* pending_ = nullptr;   ///< the option whose value is the last word
  std::vector<std::string> arguments_;    ///< finished words that are neither options nor their values
  std::string graph_;                     ///< value of --graph
  Completion out_;
};

Completer::Values Completer::values_of(const OptionHelp& option) {
  struct Kind {
    const char* value;
    Values values;
  };
  static constexpr Kind kKinds[] = {{"SOURCE", &Completer::source},
                                    {"FILES", &Completer::files},
                                    {"FILE", &Completer::files},
                                    {"PATH", &Completer::files},
                                    {"FOLDER", &Completer::folders},
                                    {"FILE|URL", &Completer::receiver},
                                    {"FILE|PRESET", &Completer::config},
                                    {"CHAIN", &Completer::chain},
                                    {"NODE.PARAM=VALUE", &Completer::assignment},
                                    {"drop|MS", &Completer::trace_on},
                                    {"SIZE", &Completer::size},
                                    {"SHELL", &Completer::shell},
                                    {"FILTER", &Completer::filter_name}};
  if (option.positional && option.value == "NAME") return &Completer::filter_name;
  for (const Kind& kind : kKinds)
    if (option.value == kind.value) return kind.values;
  return &Completer::free_text;
}

const OptionHelp* Completer::find(const std::string& name) const {
  const OptionHelp* found = command_ ? command_->find(name) : nullptr;
  if (!found && (!command_ || command_->takes_program_options)) found = context_.help.program.find(name);
  return found;
}

/// Reads all words before the last one. Finds the command, its arguments, the graph, and the option whose
/// value is the last word.
void Completer::read(const std::vector<std::string>& words) {
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    const OptionHelp* const option = pending_;
    pending_ = nullptr;
    if (option) {
      if (option->value == "CHAIN") graph_ = word;
    } else if (word.size() > 1 && word[0] == '-' &&
               !(command_ && command_->takes_words && !arguments_.empty())) {
      const size_t equals = word.find('=');
      const OptionHelp* const named = find(word.substr(0, equals));
      if (named && equals != std::string::npos && named->value == "CHAIN") graph_ = word.substr(equals + 1);
      if (named && equals == std::string::npos && !named->value.empty() && !named->attached())
        pending_ = named;
    } else if (!command_ && arguments_.empty() && context_.help.find(word)) {
      command_ = context_.help.find(word);
    } else {
      arguments_.push_back(word);
    }
  }
}

void Completer::add_value(const OptionHelp& option, const std::string& word, const std::string& prefix) {
  const size_t first = out_.candidates.size();
  if (option.attached()) {  // "[=inf|no]"
    std::string_view names = std::string_view(option.value).substr(2, option.value.size() - 3);
    while (!names.empty()) {
      const size_t end = std::min(names.find('|'), names.size());
      out_.candidates.push_back({std::string(names.substr(0, end)), ""});
      names.remove_prefix(std::min(end + 1, names.size()));
    }
  }
  for (const std::string& choice : option.choices) out_.candidates.push_back({choice, ""});
  if (option.choices.empty()) (this->*values_of(option))(word);
  for (size_t i = first; i < out_.candidates.size(); ++i) out_.candidates[i].word.insert(0, prefix);
}

void Completer::add_options(const CommandHelp& command) {
  for (const OptionHelp& option : command.options)
    if (!option.positional)
      for (const std::string& name : option.names) out_.candidates.push_back({name, option.doc});
}

void Completer::add_positional(const std::string& word) {
  const CommandHelp& command = command_ ? *command_ : context_.help.program;
  const auto add_from = [&](const CommandHelp& one) {
    for (const OptionHelp& option : one.options)
      if (option.positional && (option.repeats || arguments_.empty())) add_value(option, word, "");
  };
  if (!command_ && arguments_.empty())
    for (const CommandHelp& one : context_.help.commands) out_.candidates.push_back({one.name, one.doc});
  add_from(command);
  const bool has_own = std::ranges::any_of(command.options, &OptionHelp::positional);
  if (command_ && command_->takes_program_options && !has_own) add_from(context_.help.program);
}

/// Adds the candidates for a word after `lensd ctl`.
void Completer::add_control(const std::string& word) {
  if (arguments_.empty()) {
    for (const CommandSpec& command : command_table()) out_.candidates.push_back({command.name, command.doc});
    return;
  }
  const CommandSpec* const command = find_command(arguments_.front());
  if (!command || command->args.empty()) return;
  const size_t index = arguments_.size() - 1;
  if (index >= command->args.size() && !command->args.back().repeats) return;
  const bool pairs = std::strcmp(command->name, "set") == 0;
  const std::string name = command->args[std::min(index, command->args.size() - 1)].name;
  if (pairs ? index % 2 == 0 : name == "name") {
    for (const Json& property : describe_properties())
      if (!pairs || property.at("settable").get<bool>())
        out_.candidates.push_back(
            {property.at("name").get<std::string>(), property.at("doc").get<std::string>()});
  } else if (name == "graph") {
    chain(word);
  } else if (name == "url") {
    source(word);
  } else if (name == "path") {
    files(word);
  } else if (const OptionHelp* level =
                 name == "level" ? context_.help.program.find("--msg-level") : nullptr) {
    add_value(*level, word, "");
  }
}

Completion Completer::run(const std::vector<std::string>& words) {
  const std::string word = words.empty() ? "" : words.back();
  read(words);
  const size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
  if (pending_) {
    add_value(*pending_, word, "");
  } else if (equals != std::string::npos) {
    if (const OptionHelp* option = find(word.substr(0, equals)); option && !option->value.empty())
      add_value(*option, word.substr(equals + 1), word.substr(0, equals + 1));
  } else if (command_ && command_->takes_words && !(word.starts_with("-") && arguments_.empty())) {
    add_control(word);
  } else if (word.starts_with("-")) {
    add_options(command_ ? *command_ : context_.help.program);
    if (command_ && command_->takes_program_options) add_options(context_.help.program);
  } else {
    add_positional(word);
  }
  std::vector<Candidate>& all = out_.candidates;
  std::erase_if(all, [&](const Candidate& candidate) { return !candidate.word.starts_with(word); });
  std::ranges::stable_sort(all, {}, &Candidate::word);
  all.erase(std::unique(all.begin(), all.end(),
                        [](const Candidate& a, const Candidate& b) { return a.word == b.word; }),
            all.end());
  return std::move(out_);
}

}  // namespace

Completion complete(const CompletionContext& context, const std::vector<std::string>& words) {
  return Completer(context).run(words);
}

std::string completion_text(const Completion& completion) {
  std::string text;
  for (const Candidate& candidate : completion.candidates) {
    std::string doc = candidate.doc;
    std::replace_if(
        doc.begin(), doc.end(), [](char c) { return c == '\t' || c == '\n'; }, ' ');
    text += fmt::format("{}\t{}\n", candidate.word, doc);
  }
  if (completion.paths == PathKind::files) text += ":files\n";
  if (completion.paths == PathKind::folders) text += ":folders\n";
  return text;
}

}  // namespace lensd

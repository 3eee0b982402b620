// Completes command lines for bash, zsh and fish.
//
//   shell ─▶ completion_script()'s text ─▶ lensd __complete WORD… ─▶ complete(), completion_text() ─▶ shell
//
// The scripts only pass the words to lensd and offer the candidates that it prints, so all three shells offer
// the same candidates.
#pragma once

#include <string>
#include <vector>

#include "app/help/program_help.hpp"
#include "core/graph/filter.hpp"

namespace lensd {

/// What a completion depends on besides the words.
struct CompletionContext {
  ProgramHelp help;
  const Registry& registry;
  std::vector<std::string> presets;  ///< names for --config
  std::vector<std::string> cameras;  ///< device files
};

struct Candidate {
  std::string word;  ///< replaces the whole last word
  std::string doc;
};

enum class PathKind : uint8_t { none, files, folders };

struct Completion {
  std::vector<Candidate> candidates;
  PathKind paths = PathKind::none;  ///< also offer names of files or folders
};

/// Returns the candidates that start with the last of `words`. `words` are the words after the program's name
/// up to the cursor; the last one may be empty.
Completion complete(const CompletionContext& context, const std::vector<std::string>& words);

/// Returns one candidate per line as "WORD<tab>DOC", then ":files" or ":folders" if paths are allowed.
std::string completion_text(const Completion& completion);

/// Returns the script for "bash", "zsh" or "fish". Throws Error(usage) for another shell.
std::string completion_script(const std::string& shell);

/// Completes a chain such as "median=radius=2,gau". Appends each candidate to `out` as a whole chain,
/// including candidates that do not match; complete() removes those.
void complete_chain(const Registry& registry, const std::string& chain, std::vector<Candidate>& out);
/// Completes NODE.PARAM=VALUE for the nodes of `chain`, or for a node of each filter if `chain` is empty.
/// Appends to `out`.
void complete_assignment(const Registry& registry, const std::string& chain, const std::string& word,
                         std::vector<Candidate>& out);

}  // namespace lensd

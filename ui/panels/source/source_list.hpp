// Computes the lines of the source dialog's list: entries of the folder that match the typed text.
//
//   SourceChoices, text in the box ──▶ source_list() ──▶ lines, chosen line ──▶ open_choice()
//
// Call from the UI thread only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ui/panel.hpp"

namespace lensd::ui {

struct SourceList {
  std::shared_ptr<const SourceChoices> choices;  ///< owns the entries
  std::string folder;                            ///< requested folder, with a trailing slash
  bool there = false;                            ///< `choices` lists `folder`
  bool searching = false;                        ///< further matching names of the folder may follow
  std::vector<const FolderEntry*> lines;         ///< matching entries, best first
  int chosen = -1;                               ///< index of the line that Enter opens; -1: the typed text
};

/// Computes the list. Sets SourceState::listed to the folder, so that SourceFinder reads it. If the folder
/// has too many entries to list all, sets SourceState::listed_part to the typed part of a name.
SourceList source_list(PanelContext& ctx);
/// Handles ↑ and ↓: moves the choice.
void move_choice(SourceState& state, const SourceList& list, Key key);
/// Returns the text with its last part completed. If exactly one name begins with that part, completes to
/// this name. Otherwise completes to the common prefix of the names that begin with it, or to the chosen name
/// if the prefix adds nothing. Returns nullopt if the text is not a path, if nothing matches, or if the
/// prefix adds nothing and no line is chosen.
std::optional<std::string> completed(const SourceList& list, const std::string& text);
/// Opens the chosen line or the typed text.
void open_choice(PanelContext& ctx, ViewerRequests& requests, const SourceList& list);
/// Opens an entry, or lists it if it is a folder.
void take_entry(PanelContext& ctx, ViewerRequests& requests, const SourceList& list,
                const FolderEntry& entry);
/// Makes the list show another folder. Clears the typed text.
void enter_folder(SourceState& state, std::string folder);

}  // namespace lensd::ui

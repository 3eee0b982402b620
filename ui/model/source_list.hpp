// The lines of the source dialog's list: what of the listed folder fits what was typed.
//
//   SourceChoices, text in the box ──▶ source_list() ──▶ lines, chosen one ──▶ open_choice()
//
// UI thread; made anew for each display frame.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ui/panel.hpp"

namespace lensd::ui {

struct SourceList {
  std::shared_ptr<const SourceChoices> choices;  ///< keeps the entries
  std::string folder;                            ///< that is wanted, with a slash at its end
  bool there = false;                            ///< `choices` is of that folder
  std::vector<const FolderEntry*> lines;         ///< best first
  int chosen = -1;                               ///< index of the line that Enter opens; -1: what was typed
};

SourceList source_list(PanelContext& ctx);
/// ↑ and ↓.
void move_choice(SourceState& state, const SourceList& list, Key key);
/// The text with the chosen name, or what all names share, in place of its last part; nothing to add: none.
std::optional<std::string> completed(const SourceList& list, const std::string& text);
/// Opens what is chosen or typed.
void open_choice(PanelContext& ctx, ViewerRequests& requests, const SourceList& list);
/// Opens a line, or goes into it where it is a folder.
void take_entry(PanelContext& ctx, ViewerRequests& requests, const SourceList& list,
                const FolderEntry& entry);
/// Lists another folder.
void enter_folder(SourceState& state, std::string folder);

}  // namespace lensd::ui

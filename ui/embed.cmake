# Embeds files in the binary with the assembler's .incbin, which needs no generator and no large source files.
#
#   lensd_embed(OUT.cpp NAME FILE [NAME FILE]...)   see embedded.hpp to read them
function(lensd_embed out)
  set(blocks "")
  set(rows "")
  set(declarations "")
  set(pairs ${ARGN})
  while(pairs)
    list(POP_FRONT pairs name path)
    string(MAKE_C_IDENTIFIER "lensd_embedded_${name}" symbol)
    string(APPEND blocks
      "__asm__(\".section .rodata\\n.global ${symbol}\\n.global ${symbol}_end\\n.balign 16\\n\"\n"
      "        \"${symbol}:\\n.incbin \\\"${path}\\\"\\n${symbol}_end:\\n.byte 0\\n.previous\\n\");\n")
    string(APPEND declarations "extern const unsigned char ${symbol}[], ${symbol}_end[];\n")
    string(APPEND rows "    {\"${name}\", ${symbol}, ${symbol}_end},\n")
    list(APPEND paths ${path})
  endwhile()
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT [[
// Made by ui/embed.cmake.
#include "ui/embedded.hpp"

@blocks@
extern "C" {
@declarations@}

namespace lensd::ui {

std::span<const unsigned char> embedded(std::string_view name) {
  const struct {
    std::string_view name;
    const unsigned char *begin, *end;
  } rows[] = {
@rows@  };
  for (const auto& row : rows)
    if (row.name == name) return {row.begin, row.end};
  return {};
}

}  // namespace lensd::ui
]])
  set_source_files_properties(${out} PROPERTIES OBJECT_DEPENDS "${paths}")
endfunction()

#include "app/help/troff.hpp"

#include <fmt/format.h>

#include "core/base/text/text.hpp"

namespace lensd {

std::string troff_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool line_start = out.empty() || out.back() == '\n';
    if (line_start && (c == '.' || c == '\'')) out += "\\&";  // otherwise troff reads a request
    if (c == '\\')
      out += "\\(rs";
    else if (c == '-')
      out += "\\-";  // troff may print a plain '-' as a hyphen, which shells do not accept
    else if (c == '\'')
      out += "\\(aq";
    else if (c == '~')
      out += "\\(ti";
    else if (c == '^')
      out += "\\(ha";
    else if (c == '`')
      out += "\\(ga";
    else
      out += c;
  }
  return out;
}

TroffPage::TroffPage(std::string_view name, std::string_view version) {
  text_ = fmt::format(".TH {} 1 \"\" \"{} {}\" \"User commands\"\n", upper_case(name), name, version);
}

void TroffPage::section(std::string_view heading) {
  raw(fmt::format(".SH \"{}\"", troff_escaped(heading)));
}

void TroffPage::subsection(std::string_view heading) {
  raw(fmt::format(".SS \"{}\"", troff_escaped(heading)));
}

void TroffPage::paragraph(std::string_view text) {
  raw(".PP");
  raw(troff_escaped(text));
}

void TroffPage::entry(const std::string& head, std::string_view description) {
  raw(".TP");
  raw(head);
  raw(description.empty() ? "\\&" : troff_escaped(description));
}

void TroffPage::lines(std::string_view text) {
  raw(".PP\n.nf");
  raw(troff_escaped(text));
  raw(".fi");
}

std::string TroffPage::bold(std::string_view text) {
  return text.empty() ? std::string() : fmt::format("\\fB{}\\fR", troff_escaped(text));
}

std::string TroffPage::italic(std::string_view text) {
  return text.empty() ? std::string() : fmt::format("\\fI{}\\fR", troff_escaped(text));
}

}  // namespace lensd

#include "dialects/fsm_loop/signals.h"

#include <array>

#include "base/text.h"

namespace baton::fsm_loop {
namespace {

struct MarkerRow {
  std::string_view marker;
  Signal::Kind kind;
  bool needs_text;
};
constexpr std::array kMarkers = {
    MarkerRow{"CONTEXT_HANDOFF:", Signal::Kind::handoff, true},
    MarkerRow{"FATAL_ERROR:", Signal::Kind::error, true},
    MarkerRow{"LOOP_STOP:", Signal::Kind::stop, false},
};
constexpr std::string_view kBlanks = " \t\r";

Signal of_line(std::string_view line, bool anywhere) {
  for (const MarkerRow& row : kMarkers) {
    const auto at = anywhere ? line.find(row.marker) : line.find_first_not_of(kBlanks);
    if (at == std::string_view::npos || !line.substr(at).starts_with(row.marker))
      continue;
    const std::string_view rest = line.substr(at + row.marker.size());
    const std::string_view text = trimmed(rest);
    // Something has to stand between the marker and its text, lest a word that goes on is one.
    if (text.empty() ? row.needs_text : kBlanks.find(rest.front()) == std::string_view::npos)
      continue;
    return Signal{row.kind, std::string(text)};
  }
  return {};
}

}  // namespace

Signal signal_in(std::string_view output, bool anywhere) {
  // From the end: the last line wins.
  std::size_t end = output.size();
  for (;;) {
    const auto newline = end == 0 ? std::string_view::npos : output.rfind('\n', end - 1);
    const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
    if (Signal signal = of_line(output.substr(begin, end - begin), anywhere);
        signal.kind != Signal::Kind::none)
      return signal;
    if (newline == std::string_view::npos)
      return {};
    end = newline;
  }
}

}  // namespace baton::fsm_loop

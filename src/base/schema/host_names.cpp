// SPDX-License-Identifier: Apache-2.0
#include "base/schema/host_names.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <idn2.h>
#include <unictype.h>

#include "base/schema/pattern.h"
#include "base/text.h"
#include "base/utf8.h"

// libidn2 checks single labels. The rule about the direction of writing (RFC 5893) is about all
// labels together, so it is here, with the tables of libunistring.

namespace baton {
namespace {

constexpr std::size_t kMostBytes = 253;
constexpr std::size_t kMostLabelBytes = 63;

const unsigned char* bytes_of(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.c_str());
}

/// One label as the DNS has it; it is written with letters (`plain`) or as it is there (`encoded`),
/// the other one is "". Nothing: it may not be registered.
std::optional<std::string> registered(const std::string& plain, const std::string& encoded,
                                      int flags) {
  unsigned char* name = nullptr;
  const int code = idn2_register_u8(plain.empty() ? nullptr : bytes_of(plain),
                                    encoded.empty() ? nullptr : bytes_of(encoded), &name, flags);
  if (code != IDN2_OK || name == nullptr)
    return std::nullopt;
  std::string out(reinterpret_cast<const char*>(name));
  idn2_free(name);
  return out;
}

/// The letters of an encoded label; the label itself if it is not encoded.
std::string letters_of(const std::string& label) {
  char* letters = nullptr;
  if (idn2_to_unicode_8z8z(label.c_str(), &letters, 0) != IDN2_OK)
    return label;
  std::string out(letters);
  idn2_free(letters);
  return out;
}

std::vector<int> directions_of(const std::string& label) {
  std::vector<int> out;
  for (std::size_t at = 0, length = 0; at < label.size(); at += length) {
    length = utf8_length(label, at);
    if (length == 0)
      return {};
    out.push_back(uc_bidi_category(utf8_decode(std::string_view(label).substr(at, length))));
  }
  return out;
}

bool is_one_of(int direction, std::initializer_list<int> allowed) {
  return std::find(allowed.begin(), allowed.end(), direction) != allowed.end();
}

/// RFC 5893, section 2: a label of a name that has letters written from right to left.
bool keeps_direction(const std::vector<int>& label) {
  if (label.empty() || !is_one_of(label.front(), {UC_BIDI_L, UC_BIDI_R, UC_BIDI_AL}))
    return false;
  const bool leftwards = label.front() != UC_BIDI_L;
  const bool allowed = std::all_of(label.begin(), label.end(), [&](int each) {
    return is_one_of(each, {UC_BIDI_EN, UC_BIDI_ES, UC_BIDI_CS, UC_BIDI_ET, UC_BIDI_ON, UC_BIDI_BN,
                            UC_BIDI_NSM}) ||
           (leftwards ? is_one_of(each, {UC_BIDI_R, UC_BIDI_AL, UC_BIDI_AN}) : each == UC_BIDI_L);
  });
  const auto has = [&](int wanted) {
    return std::find(label.begin(), label.end(), wanted) != label.end();
  };
  const auto last =
      std::find_if(label.rbegin(), label.rend(), [](int each) { return each != UC_BIDI_NSM; });
  const bool ends = leftwards ? is_one_of(*last, {UC_BIDI_R, UC_BIDI_AL, UC_BIDI_EN, UC_BIDI_AN})
                              : is_one_of(*last, {UC_BIDI_L, UC_BIDI_EN});
  return allowed && ends && !(leftwards && has(UC_BIDI_EN) && has(UC_BIDI_AN));
}

bool keep_directions(const std::vector<std::string>& labels) {
  std::vector<std::vector<int>> all;
  bool leftwards = false;
  for (const std::string& label : labels) {
    all.push_back(directions_of(letters_of(label)));
    leftwards = leftwards || std::any_of(all.back().begin(), all.back().end(), [](int each) {
                  return is_one_of(each, {UC_BIDI_R, UC_BIDI_AL, UC_BIDI_AN});
                });
  }
  return !leftwards || std::all_of(all.begin(), all.end(), keeps_direction);
}

bool is_plain_label(std::string_view label) {
  static const Pattern plain = *Pattern::compile("^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?$");
  return label.size() <= kMostLabelBytes && plain.search(label).match == Pattern::Match::yes;
}

std::optional<std::string> label_in_dns(const std::string& label, int flags) {
  if (!std::all_of(label.begin(), label.end(), is_ascii))
    return registered(label, "", flags);
  if (!is_plain_label(label))
    return std::nullopt;
  if (label.substr(std::min<std::size_t>(label.size(), 2), 2) != "--")
    return label;
  // Case means nothing in an encoded label.
  const std::string encoded = lower(label);
  return encoded.starts_with("xn--") ? registered("", encoded, flags) : std::nullopt;
}

bool is_name(const std::vector<std::string>& labels, int flags) {
  std::size_t bytes = labels.size() - 1;  // the dots
  for (const std::string& label : labels) {
    const auto there = label_in_dns(label, flags);
    if (!there)
      return false;
    bytes += there->size();
  }
  return bytes <= kMostBytes && keep_directions(labels);
}

}  // namespace

bool is_plain_hostname(std::string_view text) {
  if (text.size() > kMostBytes)
    return false;
  const std::vector<std::string> labels = split(text, '.');
  return std::all_of(labels.begin(), labels.end(), is_plain_label);
}

bool is_encoded_hostname(std::string_view text) {
  return is_plain_hostname(text) && is_name(split(text, '.'), 0);
}

bool is_international_hostname(std::string_view text, bool composed) {
  constexpr std::size_t kMostUtf8 = 4;
  if (text.size() > kMostUtf8 * kMostBytes || text.find('\0') != std::string_view::npos)
    return false;
  std::string name(text);
  for (const std::string_view dot : {"\u3002", "\uff0e", "\uff61"})
    replace_all(name, dot, ".");
  return is_name(split(name, '.'), composed ? 0 : IDN2_NFC_INPUT);
}

}  // namespace baton

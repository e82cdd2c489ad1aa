// SPDX-License-Identifier: Apache-2.0
#pragma once

// `baton validate` of the adapters that the configuration names.

#include <cstddef>
#include <string>

#include "workspace/context.h"
#include "workspace/inspection.h"
#include "workspace/kind_choice.h"

namespace baton {

/// Checks the adapters that the configuration names, in the order of their agents, each once.
class AdapterValidation {
 public:
  /// `context` must outlive this, and this the inspections.
  AdapterValidation(const Context& context, std::size_t max_bytes)
      : context_(context), max_bytes_(max_bytes), kind_(KindChoice::of_schema("adapter")) {}

  void all(Inspection& inspection) const;
  /// Checks the file if the configuration names it as an adapter. False: it does not.
  bool named(const std::string& path, Inspection& inspection) const;

 private:
  /// `shown`: the path as the user gave it; empty: the user gave none.
  void check(const std::string& named, const std::string& shown, Inspection& inspection) const;

  const Context& context_;
  std::size_t max_bytes_;
  KindChoice kind_;
};

}  // namespace baton

#include "cli/commands/git_hook_text.h"

#include <doctest/doctest.h>

namespace baton {

TEST_CASE("what is added to a hook is taken out again byte for byte") {
  for (const std::string& hook : {
           std::string("#!/bin/sh\necho hello\n"),
           std::string("#!/bin/sh\necho no newline at the end"),
           std::string("#!/usr/bin/env bash\nset -e\nexec something\n"),
           std::string("#!/bin/sh"),
           std::string("#!/bin/sh\n"),
           std::string("#!/bin/sh\n\n"),
           std::string("#! /usr/bin/env -S bash -eu\r\ntrue\r\n"),
           std::string("#!/bin/sh\t-e\ntrue\n"),
           std::string("#!\t/bin/bash\ntrue\n"),
           std::string("#! \t /usr/bin/env\tbash\ntrue\n"),
           std::string("#!/bin/busybox sh\ntrue\n"),
           std::string("#!/usr/bin/env -S busybox\tash -e\ntrue\n"),
           std::string("#!/usr/bin/env -S -i LANG=C A=/x dash\ntrue\n"),
           std::string("#!/bin/sh -"),
           std::string("echo without a first line"),
           std::string("\n"),
           std::string("#!/bin/sh\n# This hook was made by somebody else.\n"),
       }) {
    CAPTURE(hook);
    const auto with = with_part(hook, "baton validate --staged");
    REQUIRE(with.has_value());
    CHECK(has_part(*with));
    CHECK_FALSE(has_part(hook));
    CHECK(without_part(*with).value_or("(error)") == hook);
    // The interpreter stays, and nothing of the hook comes before the call.
    CHECK(with->substr(0, with->find('\n')) ==
          (hook.starts_with("#!") ? hook.substr(0, hook.find('\n'))
                                  : "# >>> baton >>> `baton hook uninstall` takes this part out"));
    CHECK(with->find("baton validate --staged || exit 1\n") != std::string::npos);
  }
}

TEST_CASE("a hook of ours alone leaves nothing behind") {
  const auto made = with_part("", "baton validate --staged");
  REQUIRE(made.has_value());
  CHECK(made->starts_with("#!/bin/sh\n"));
  CHECK(without_part(*made).value_or("(error)").empty());
  // What somebody added to it stays.
  CHECK(without_part(*made + "echo more\n").value_or("").ends_with("echo more\n"));
}

TEST_CASE("adding twice is adding once, and a new command takes the place of the old") {
  for (const std::string& hook : {std::string(), std::string("#!/bin/sh\ntrue\n")}) {
    CAPTURE(hook);
    const auto once = with_part(hook, "one");
    REQUIRE(once.has_value());
    CHECK(with_part(*once, "one").value_or("") == *once);
    const auto other = with_part(*once, "two");
    REQUIRE(other.has_value());
    CHECK(other->find("one ||") == std::string::npos);
    CHECK(without_part(*other).value_or("(error)") == hook);
  }
}

TEST_CASE("a hook that is no shell script is left alone") {
  struct Row {
    std::string hook;
    std::string_view why;
  };
  for (const Row& row :
       {Row{"#!/usr/bin/env python3\nprint()\n", "is a program for python3, not for a shell"},
        Row{"#!/usr/bin/python3\t-u\n", "is a program for python3, not for a shell"},
        Row{"#!/usr/bin/perl\n", "is a program for perl, not for a shell"},
        Row{"#!/usr/bin/env -S deno run\n", "is a program for deno, not for a shell"},
        Row{"#!/usr/bin/fish\n", "is a program for fish, not for a shell"},
        Row{"#!/bin/busybox awk -f\n", "is a program for awk, not for a shell"},
        Row{"#!/bin/sh\r\ntrue\r\n",
            "ends its first line with a carriage return, so the system does not find its program"},
        Row{std::string("\x7f"
                        "ELF\0\1",
                        6),
            "is a program by itself and no shell script"},
        Row{"#!\n", "has a first line that names no program"},
        Row{"#!/usr/bin/env\n", "has a first line that names no program"},
        Row{"#!/bin/busybox\n", "has a first line that names no program"}}) {
    CAPTURE(row.hook);
    CHECK(no_shell(row.hook).value_or("a shell") == row.why);
    const auto with = with_part(row.hook, "baton");
    REQUIRE_FALSE(with.has_value());
    CHECK(with.error().code == Errc::usage);
  }
}

TEST_CASE("damaged marks are told, not guessed at") {
  const auto made = with_part("#!/bin/sh\ntrue\n", "baton");
  REQUIRE(made.has_value());
  std::string cut = *made;
  cut.erase(cut.find("# <<< baton <<<"), 5);
  CHECK_FALSE(without_part(cut).has_value());
  CHECK_FALSE(with_part(cut, "baton").has_value());
  CHECK_FALSE(without_part(*made + *made).has_value());
}

}  // namespace baton

# SPDX-License-Identifier: Apache-2.0
"""What compiler and linker put into the two programs: positions that cannot be guessed, no memory that is written and
executed, tables that are read-only after the start, and checks of the stack and of sizes.
usage: hardening_test.py BATON SHIM BUILD"""

import json
import os
import platform
import re
import shutil
import subprocess
import sys

from world import check, skip


def readelf(*words):
    return subprocess.run(("readelf", "--wide", *words), check=True, capture_output=True, text=True).stdout


def defined(path):
    """Names of the functions that the program has or takes from a library."""
    return set(re.findall(r"\b(\w+)(?:@\S+)?(?: \(\d+\))?$", readelf("--symbols", path), re.MULTILINE))


def examine(path, is_shim):
    header = readelf("--file-header", path)
    segments = readelf("--program-headers", path)
    dynamic = readelf("--dynamic", path)
    flags = dict(re.findall(r"^\s+(\w+) +0x.*? ([R ][W ][E ]) +0x", segments, re.MULTILINE))
    check(re.search(r"Type:\s+DYN", header), path, "is at a fixed address:", header)
    check("PIE" in re.search(r"FLAGS_1\).*", dynamic).group(), path, "is no PIE:", dynamic)
    check(flags.get("GNU_STACK") == "RW ", path, "has a stack that can be executed:", segments)
    for row in re.findall(r"^\s+LOAD .*? ([R ][W ][E ]) +0x", segments, re.MULTILINE):
        check("W" not in row or "E" not in row, path, "has memory that is written and executed:", segments)
    check("GNU_RELRO" in flags, path, "has tables that stay writable:", segments)
    check("BIND_NOW" in dynamic or "NOW" in re.search(r"FLAGS_1\).*", dynamic).group(), path, "binds late:", dynamic)
    check("TEXTREL" not in dynamic and "RPATH" not in dynamic and "RUNPATH" not in dynamic, path, dynamic)
    check("__stack_chk_fail" in defined(path), path, "does not look after its stack")
    check(("INTERP" in segments) != is_shim and ("NEEDED" in dynamic) != is_shim, path, "is linked otherwise:", dynamic)


def own_code(path):
    """Functions of baton itself, by their names, of which some have to look after the stack."""
    code = subprocess.run(("objdump", "-d", "--no-show-raw-insn", "-C", path), check=True, capture_output=True, text=True).stdout
    looks = 0
    entered = 0
    all_of_it = 0
    for part in code.split("\n\n"):
        name = re.match(r"[0-9a-f]+ <(.*)>:", part)
        if not name or "baton::" not in name.group(1):
            continue
        all_of_it += 1
        looks += "__stack_chk_fail" in part
        entered += "endbr64" in part
    check(all_of_it > 100, "there are no functions of baton in", path)
    check(looks > all_of_it / 20, path, "looks after the stack in", looks, "of", all_of_it)
    if platform.machine() == "x86_64":
        check(entered > all_of_it / 5, path, "marks where it is entered in", entered, "of", all_of_it)
    return f"{looks} of {all_of_it} functions of baton look after the stack"


def compiled(build):
    """Checks of sizes remain only where the compiler does not know the size, so the command has to tell."""
    with open(build + "/compile_commands.json") as file:
        commands = [each["command"] for each in json.load(file)]
    ours = [each for each in commands if re.search(r" -o CMakeFiles/baton(-shim|_base|_core|_io)?\.dir/", each)]
    check(len(ours) > 10, "these are compiled:", commands)
    for command in ours:
        check(command.rfind("-D_FORTIFY_SOURCE=3") > command.rfind("-U_FORTIFY_SOURCE") > 0, command)
        check("-D_GLIBCXX_ASSERTIONS" in command or ".c.o" in command, command)
    print(len(ours), "commands of the compiler ask for checks")


def main():
    for program in ("readelf", "objdump"):
        if shutil.which(program) is None:
            skip("there is no", program)
    compiled(sys.argv[3])
    baton, shim = (os.path.realpath(each) for each in sys.argv[1:3])
    for path, is_shim in ((baton, False), (shim, True)):
        examine(path, is_shim)
        print(os.path.basename(path) + ":", own_code(path), flush=True)


if __name__ == "__main__":
    main()

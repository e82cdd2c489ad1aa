# SPDX-License-Identifier: Apache-2.0

# Writes a C++ file with the bytes of FILES (joined by '|', relative to SRC) as string literals.
# Run as: cmake -DSRC=<dir> -DFILES=a|b -DOUT=<file> -P scripts/embed.cmake
cmake_minimum_required(VERSION 3.25)
string(REPLACE "|" ";" files "${FILES}")
set(table "")
foreach(file IN LISTS files)
  file(READ ${SRC}/${file} hex HEX)
  string(LENGTH "${hex}" length)
  math(EXPR bytes "${length} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" escaped "${hex}")
  # 32 bytes a literal: the compiler joins them, a human can still open the file.
  string(REPEAT "." 128 line)
  string(REGEX REPLACE "(${line})" "\\1\"\n  \"" lines "${escaped}")
  string(APPEND table "  {\"${file}\", std::string_view(\n  \"${lines}\", ${bytes})},\n")
endforeach()
list(LENGTH files count)
file(WRITE ${OUT} "#include \"base/embedded.h\"\n\n#include <array>\n\nnamespace baton {\nnamespace {\nconstexpr std::array<EmbeddedFile, ${count}> kFiles = {{\n${table}}};\n}  // namespace\nstd::span<const EmbeddedFile> embedded_files() { return kFiles; }\n}  // namespace baton\n")

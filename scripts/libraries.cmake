# SPDX-License-Identifier: Apache-2.0

# Writes what is inside, the commit and which versions of which libraries: CPP for `baton --version --json`, and SPDX, an SPDX 2.3 document.
# LIBRARIES: NAME=WHAT=HOW=WHERE, joined by '|'. WHAT is a Debian package or a file of one, HOW is header, static or shared,
# WHERE is the program that has it. Versions are those that dpkg knows when this runs, else `unknown`: with those of Debian one
# sees which security updates are in. Files that would stay the same are not touched.
# Run as: cmake -DLIBRARIES=... -DVERSION=<of baton> -DSOURCE=<folder> -DCPP=<file> -DSPDX=<file> -P scripts/libraries.cmake
cmake_minimum_required(VERSION 3.25)

find_program(DPKG_QUERY dpkg-query)
function(ask_dpkg out)
  set(${out} "" PARENT_SCOPE)
  if(DPKG_QUERY)
    execute_process(COMMAND ${DPKG_QUERY} ${ARGN} OUTPUT_VARIABLE answer RESULT_VARIABLE code ERROR_QUIET
      OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(code EQUAL 0)
      set(${out} "${answer}" PARENT_SCOPE)
    endif()
  endif()
endfunction()

# The package that the file came with, without its architecture.
function(package_of out what)
  if(what MATCHES "^/")
    file(REAL_PATH "${what}" real)
    ask_dpkg(owner --search "${real}")
    string(REGEX REPLACE ":.*" "" what "${owner}")
  endif()
  set(${out} "${what}" PARENT_SCOPE)
endfunction()

function(percent_encoded out text)
  foreach(each "+;2B" ":;3A" "~;7E")
    list(GET each 0 from)
    list(GET each 1 code)
    string(REPLACE "${from}" "%${code}" text "${text}")
  endforeach()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# The commit of a checkout; empty for sources that came without one.
set(commit "")
find_program(GIT git)
if(GIT AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse HEAD OUTPUT_VARIABLE answer RESULT_VARIABLE code ERROR_QUIET
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(code EQUAL 0)
    set(commit "${answer}")
  endif()
endif()

set(distribution debian)
if(EXISTS /etc/os-release)
  file(STRINGS /etc/os-release line REGEX "^ID=")
  string(REGEX REPLACE "^ID=\"?([a-z0-9._-]+)\"?.*" "\\1" distribution "${line}")
endif()

set(rows "")
set(packages "")
set(relations "")
set(count 0)
string(REPLACE "|" ";" libraries "${LIBRARIES}")
foreach(library IN LISTS libraries)
  string(REPLACE "=" ";" parts "${library}")
  list(GET parts 0 name)
  list(GET parts 1 what)
  list(GET parts 2 how)
  list(GET parts 3 where)
  package_of(package "${what}")
  set(version "")
  if(package)
    ask_dpkg(version --show "--showformat=\${Version}\n" "${package}")
    string(REGEX REPLACE "\n.*" "" version "${version}")
  endif()
  set(link "")
  if(version)
    percent_encoded(encoded_version "${version}")
    percent_encoded(encoded_package "${package}")
    set(link "\n      \"externalRefs\": [{\"referenceCategory\": \"PACKAGE-MANAGER\", \"referenceType\": \"purl\",
        \"referenceLocator\": \"pkg:deb/${distribution}/${encoded_package}@${encoded_version}\"}],")
  else()
    set(version unknown)
  endif()
  string(APPEND rows "    {\"${name}\", \"${version}\", \"${package}\", \"${how}\", \"${where}\"},\n")
  string(REGEX REPLACE "[^A-Za-z0-9.-]" "-" id "SPDXRef-${name}-${where}")
  string(APPEND packages ",
    {\"SPDXID\": \"${id}\", \"name\": \"${name}\", \"versionInfo\": \"${version}\",${link}
      \"downloadLocation\": \"NOASSERTION\", \"filesAnalyzed\": false, \"licenseConcluded\": \"NOASSERTION\",
      \"licenseDeclared\": \"NOASSERTION\", \"copyrightText\": \"NOASSERTION\"}")
  set(relation DYNAMIC_LINK)
  if(how STREQUAL "static")
    set(relation STATIC_LINK)
  elseif(how STREQUAL "header")
    set(relation CONTAINS)
  endif()
  string(APPEND relations ",
    {\"spdxElementId\": \"SPDXRef-baton\", \"relationshipType\": \"${relation}\", \"relatedSpdxElement\": \"${id}\"}")
  math(EXPR count "${count} + 1")
endforeach()

function(write_changed path content)
  set(before "")
  if(EXISTS ${path})
    file(READ ${path} before)
  endif()
  if(NOT before STREQUAL content)
    file(WRITE ${path} "${content}")
  endif()
endfunction()

write_changed(${CPP} "#include \"cli/libraries.h\"

#include <array>

namespace baton {
namespace {
constexpr std::array<Library, ${count}> kLibraries = {{
${rows}}};
}  // namespace
std::span<const Library> libraries() { return kLibraries; }
std::string_view commit() { return \"${commit}\"; }
}  // namespace baton
")

# The same content has the same name, and keeps its date.
set(body "  \"packages\": [
    {\"SPDXID\": \"SPDXRef-baton\", \"name\": \"baton\", \"versionInfo\": \"${VERSION}\", \"downloadLocation\": \"NOASSERTION\",
      \"filesAnalyzed\": false, \"licenseConcluded\": \"NOASSERTION\", \"licenseDeclared\": \"NOASSERTION\",
      \"copyrightText\": \"NOASSERTION\", \"primaryPackagePurpose\": \"APPLICATION\"}${packages}
  ],
  \"relationships\": [
    {\"spdxElementId\": \"SPDXRef-DOCUMENT\", \"relationshipType\": \"DESCRIBES\", \"relatedSpdxElement\": \"SPDXRef-baton\"}${relations}
  ]
}
")
string(UUID uuid NAMESPACE 6ba7b811-9dad-11d1-80b4-00c04fd430c8 NAME "${body}" TYPE SHA1)
set(before "")
if(EXISTS ${SPDX})
  file(READ ${SPDX} before)
endif()
string(FIND "${before}" "urn:uuid:${uuid}" same)
if(same EQUAL -1)
  string(TIMESTAMP created "%Y-%m-%dT%H:%M:%SZ" UTC)
  file(WRITE ${SPDX} "{
  \"spdxVersion\": \"SPDX-2.3\",
  \"dataLicense\": \"CC0-1.0\",
  \"SPDXID\": \"SPDXRef-DOCUMENT\",
  \"name\": \"baton-${VERSION}\",
  \"documentNamespace\": \"urn:uuid:${uuid}\",
  \"creationInfo\": {\"created\": \"${created}\", \"creators\": [\"Tool: baton-libraries.cmake\"]},
${body}")
endif()

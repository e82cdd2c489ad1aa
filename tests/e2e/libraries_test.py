# SPDX-License-Identifier: Apache-2.0
"""`baton --version --json` and the SPDX document name the same libraries with the same versions, and none that the build
asks for is missing. usage: libraries_test.py BATON SPDX"""

import json
import os
import re
import subprocess
import sys

from world import check

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
NAMES = {"abseil", "asio", "cli11", "fmt", "glibc", "libgcc", "libidn2", "libstdc++", "libunistring", "nettle", "pcre2", "rapidjson", "spdlog", "sqlite3", "tl-expected",
         "valijson", "xxhash", "yaml-cpp", "zlib"}


def said(exe):
    done = subprocess.run((exe, "--version", "--json"), check=True, capture_output=True, text=True, timeout=600)
    return json.loads(done.stdout)


def known_to_dpkg(package):
    done = subprocess.run(("dpkg-query", "--show", "--showformat=${Version}\n", package), capture_output=True, text=True)
    return done.stdout.split("\n")[0]


def main():
    exe, spdx = sys.argv[1:3]
    version = said(os.path.realpath(exe))
    libraries = version["libraries"]
    check({each["name"] for each in libraries} == NAMES, "these are inside:", libraries)
    for each in libraries:
        check(each["version"] == known_to_dpkg(each["package"]), "dpkg knows another version than", each)
        check((each["program"] == "baton-shim") == (each["name"] == "glibc"), each)
    packages = {each["package"] for each in libraries}
    with open(TOP + "/scripts/packages") as file:
        built_with = set(re.findall(r"^(lib\S+-dev|\S+-dev) +# build:", file.read(), re.MULTILINE)) - {"dpkg-dev"}  # no library
    check(built_with <= packages, "the build uses", built_with - packages, "which is not told")

    with open(spdx) as file:
        document = json.load(file)
    check(document["spdxVersion"] == "SPDX-2.3" and document["dataLicense"] == "CC0-1.0", document)
    check(document["SPDXID"] == "SPDXRef-DOCUMENT" and document["name"], document)
    check(re.fullmatch(r"[a-z]+:[^#\s]+", document["documentNamespace"]), document)
    check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", document["creationInfo"]["created"]), document)
    check(all(re.match("(Tool|Person|Organization): ", each) for each in document["creationInfo"]["creators"]), document)
    ids = [each["SPDXID"] for each in document["packages"]]
    check(len(ids) == len(set(ids)) and all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", each) for each in ids), ids)
    for each in document["packages"]:
        check(each["name"] and each["downloadLocation"] and each["filesAnalyzed"] is False, each)
        for link in each.get("externalRefs", ()):
            check(link["referenceType"] == "purl" and re.fullmatch(r"pkg:deb/[a-z.-]+/[\w.%-]+@[\w.%~-]+", link["referenceLocator"]),
                  link)
    for each in document["relationships"]:
        check({each["spdxElementId"], each["relatedSpdxElement"]} <= {*ids, document["SPDXID"]}, each)
    check(any(each["relationshipType"] == "DESCRIBES" for each in document["relationships"]), document["relationships"])
    listed = {each["name"]: each["versionInfo"] for each in document["packages"]}
    told = {each["name"]: each["version"] for each in libraries} | {"baton": version["version"]}
    check(listed == told, "SPDX:", listed, "baton:", told)


if __name__ == "__main__":
    main()

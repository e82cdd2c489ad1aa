// SPDX-License-Identifier: Apache-2.0

// Gives every file of FOLDER/TARGET to that fuzz target. usage: replay FOLDER

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "fuzz/target.h"

namespace {

constexpr std::pair<const char*, void (*)(std::string_view)> kTargets[] = {
    {"loader", baton::fuzz::fuzz_loader},
    {"pattern", baton::fuzz::fuzz_pattern},
    {"schema", baton::fuzz::fuzz_schema},
    {"yaml", baton::fuzz::fuzz_yaml},
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 2)
    return 2;
  for (const auto& [name, target] : kTargets) {
    std::size_t files = 0;
    const std::filesystem::path folder = std::filesystem::path(arguments[1]) / name;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(in), {}};
      std::printf("%s/%s\n", name, entry.path().filename().c_str());
      std::fflush(stdout);
      target(bytes);
      ++files;
    }
    std::printf("%s: %zu inputs\n", name, files);
    if (files == 0)
      return 1;
  }
  return 0;
}

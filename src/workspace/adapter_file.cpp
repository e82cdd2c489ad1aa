// SPDX-License-Identifier: Apache-2.0
#include "workspace/adapter_file.h"

#include <filesystem>
#include <utility>

#include "adapters/adapter_check.h"
#include "base/embedded.h"
#include "base/schema/schema.h"
#include "base/text.h"
#include "config/config.h"
#include "io/files/disk.h"
#include "io/files/path_trust.h"
#include "io/system/state_folder.h"
#include "workspace/configuration_file.h"
#include "workspace/folders.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSchema = "schemas/adapter.schema.json";
constexpr std::size_t kMaxBytes = 256U << 10U;

std::vector<std::string> pointer(const Value& result, std::string_view name) {
  const auto text = json::text(result, name);
  return text ? std::vector<std::string>{std::string(*text)} : std::vector<std::string>();
}

}  // namespace

Result<std::string> adapter_path(const std::string& named,
                                 const std::string& configuration_folder) {
  const auto folder = real_path(configuration_folder);
  if (!folder)
    return folder;
  const std::string path = fs::path(absolute(named, *folder)).lexically_normal().string();
  // The folder may be reached over a link; what lies in it may not.
  const auto inside = below(*folder, path);
  const auto beside = inside ? inside : below(configuration_folder, path);
  if (!beside)
    return fail(
        Errc::denied,
        "lies outside of " + *folder + ", the folder of the configuration; put the file there",
        path);
  std::string own = *folder + "/" + *beside;
  const auto real = real_path(own);
  if (!real)
    return fail(real.error().code, real.error().message, own);
  if (*real != own)
    return fail(
        Errc::denied,
        "is a link, or lies behind one, and leads to " + *real + "; put the file itself there",
        own);
  return own;
}

Result<Adapter> read_adapter(const std::string& named, const std::string& configuration_folder) {
  const auto place = adapter_path(named, configuration_folder);
  if (!place)
    return tl::unexpected<Error>(place.error());
  const std::string& path = *place;
  if (auto trusted = trusted_file(path); !trusted)
    return pass_on(trusted);
  auto text = read_file(path, kMaxBytes);
  if (!text)
    return pass_on(text);
  auto document = load_document(*std::move(text), Format::yaml);
  if (!document)
    return fail(Errc::parse, describe(document.error().findings.front(), path));
  const std::string_view* const rules = embedded_file(kSchema);
  const auto schema = compile_schema(
      rules == nullptr ? "{}" : *rules, kSchema, [](std::string_view uri) -> Result<std::string> {
        return fail(Errc::not_found, "no such schema", std::string(uri));
      });
  if (!schema)
    return tl::unexpected<Error>(schema.error());
  Findings findings = (*schema)->check(**document);
  if (findings.empty())
    findings = adapter_findings((*document)->root());
  locate(findings, **document);
  if (!findings.empty())
    return fail(Errc::schema, describe(findings.front(), path));
  auto adapter = parse_adapter((*document)->root());
  if (!adapter)
    adapter.error().where = path;
  return adapter;
}

Adapter adapter_of_result(const Value& result) {
  Adapter adapter = embedded_adapter("generic");
  adapter.needs_final = true;
  const std::string success(json::text(result, "success").value_or(""));
  FinalRow final;
  final.match = {{success, Json()}};
  final.ok_if = {{success, Json(true)}};
  final.error = pointer(result, "error");
  adapter.finals = {std::move(final)};
  adapter.answer.clear();
  adapter.usage = {{UsageRow::Of::run, {}, pointer(result, "cost"), pointer(result, "tokens")}};
  adapter.session.id = pointer(result, "session");
  return adapter;
}

}  // namespace baton

#include "workspace/adapter_file.h"

#include <utility>

#include "base/embedded.h"
#include "base/schema/schema.h"
#include "base/text.h"
#include "config/config.h"
#include "io/files/disk.h"

namespace baton {
namespace {

constexpr std::string_view kSchema = "schemas/adapter.schema.json";
constexpr std::size_t kMaxBytes = 256U << 10U;

std::vector<std::string> pointer(const Value& result, std::string_view name) {
  const auto text = json::text(result, name);
  return text ? std::vector<std::string>{std::string(*text)} : std::vector<std::string>();
}

}  // namespace

Result<Adapter> read_adapter(const std::string& path) {
  auto text = read_file(path, kMaxBytes);
  if (!text)
    return pass_on(text);
  auto document = load_document(*std::move(text), Format::yaml);
  if (!document)
    return fail(Errc::parse, describe(document.error().findings.front(), path));
  const std::string_view* const rules = embedded_file(kSchema);
  const auto schema = compile_schema(rules == nullptr ? "{}" : *rules, kSchema,
                                     [](std::string_view uri) -> Result<std::string> {
                                       return fail(Errc::not_found, "no such schema", std::string(uri));
                                     });
  if (!schema)
    return tl::unexpected<Error>(schema.error());
  Findings findings = (*schema)->check(**document);
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

#include "dialects/agent_run/places.h"

#include "dialects/agent_run/files.h"
#include "dialects/agent_run/text.h"

namespace baton::agent_run {

Places::Places(const View& view) : root_(view.env.root), flow_(view.flow.name) {
  constexpr std::string_view kAgents = "/.agents/";
  const std::string path = runs_folder(view.options);
  if (const auto at = ("/" + path + "/").find(kAgents); at != std::string::npos)
    prefix_ = path.substr(0, at);
  repository_ = root_;
  if (!prefix_.empty())
    repository_ += "/" + prefix_.substr(0, prefix_.size() - 1);
  run_ = path + "/" + flow_ + "/";
}

std::string Places::absolute(std::string_view relative) const {
  return root_ + "/" + std::string(relative);
}

std::string Places::relative(const std::string& path) const {
  return path.starts_with('/') && within(path, repository_) && path.size() > repository_.size()
             ? path.substr(repository_.size() + 1)
             : path;
}

std::string Places::name(std::string_view step) const {
  return flow_ + "__" + file_part(step);
}

std::string Places::prompt(std::string_view step) const {
  return run_ + "prompts/" + file_part(step) + ".md";
}

std::string Places::report(std::string_view step) const {
  return reports() + "/" + name(step) + ".json";
}

std::string Places::manual_input(std::string_view step) const {
  return manual_inputs() + "/" + name(step) + ".json";
}

std::string Places::log_name(std::string_view step, std::string_view which) const {
  return name(step) + "__" + std::string(which) + ".log";
}

std::string Places::archived_report(std::string_view step, std::string_view label) const {
  return reports() + "/archive/" + name(step) + "__" + std::string(label) + ".json";
}

std::string Places::archived_input(std::string_view step, std::string_view label) const {
  return manual_inputs() + "/archive/" + name(step) + "__" + std::string(label) + ".json";
}

std::string stamp(Time time) {
  std::string text = iso_time(time, true);
  return text.insert(text.size() - 1, "000");
}

}  // namespace baton::agent_run

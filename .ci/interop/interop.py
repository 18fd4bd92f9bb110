"""Lets engines that share no code with frazil judge its tables: every answer has to equal that of a plain map.

    interop.py TABLES JARS README [--write] [--only STEP,…]     TABLES: the built .ci/interop/tables; JARS: the folder of Spark's jars

What an engine cannot do, or does wrongly, is expected by name (faults.py): the run fails when it does not happen any
more, and when anything else differs. The matrix of engines and features is printed at the end; README holds the same
between two marks, and the run fails when they differ. --write puts the new one there. --only takes the names of engines, and MERGE.
"""
import json
import sys
import threading
import time
import traceback

import checks
import engines
import faults
import matrix
import merge
from program import Program


class Work(threading.Thread):
    """Checks made one after the other beside other such work; Spark, in a process of its own, is half of it."""

    def __init__(self, steps):
        super().__init__()
        self.steps, self.findings, self.broken = steps, [], []

    def run(self):
        for name, step in self.steps:
            began = time.monotonic()
            try:
                found = list(step())
            except BaseException:
                self.broken.append(f"{name} is missing, or ended:\n{traceback.format_exc()}")
                continue
            self.findings += found
            print(f"{name}: {len(found)} answers in {time.monotonic() - began:.0f} s", flush=True)


def reads(name, opened, at):
    engine = opened(name)
    for table in at["Tables"]:
        yield from checks.check(name, engine, table)
    for table in at["Vectors"]:
        yield from checks.check_counted(name, engine, table)


def judge(program, only):
    """All findings, and what kept checks from being made."""
    at, opened = program.document, {}

    def engine(name):
        if name not in opened:
            opened[name] = engines.ENGINES[name](at)
        return opened[name]

    def step(name):
        return name, lambda: reads(name, engine, at)

    others = [n for n in engines.ENGINES if n != "Spark"]
    merges = "MERGE", lambda: merge.check(program, engine("Spark"), engines.IcebergRust(at))
    chosen = lambda steps: [s for s in steps if not only or s[0] in only]
    both = Work(chosen([merges, step("Spark")])), Work(chosen([step(n) for n in others]))
    for w in both:
        w.start()
    for w in both:
        w.join()
    return both[0].findings + both[1].findings, both[0].broken + both[1].broken


def main(tables, jars, readme, *options):
    with Program(tables, jars) as program:
        print(f"{len(program.document['Tables'])} tables", flush=True)
        only = options[options.index("--only") + 1].split(",") if "--only" in options else []
        findings, problems = judge(program, only)
    problems += faults.surprises(findings, bool(problems or only))
    if "--dump" in options:
        with open(".cache/interop.jsonl", "w", encoding="utf-8") as f:
            f.writelines(json.dumps(x.__dict__) + "\n" for x in findings)
    text = matrix.markdown(findings)
    print("\n" + text)
    if not only:
        problems += matrix.keep(readme, text, "--write" in options)
    for p in problems:
        print("FAILED:", p)
    print(f"{len(findings)} answers, {sum(not f.difference for f in findings)} equal the oracle's, {len(problems)} failures")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main(*sys.argv[1:])

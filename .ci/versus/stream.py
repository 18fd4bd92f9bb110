"""Measures how a topic of Debezium's changes gets into a table, by frazil's drain and by Flink, one after the other on this machine.

    stream.py BIN FLINK JARS README [--write] [--only RUNNER,…] [--changes N] [--rows N]

BIN: the folder of the built programs world and drain; FLINK: that of Flink's jars and of classes, its runner's; JARS: that of
Spark's jars. A runner is a process from its start to its end, with which the topic ends; store, catalog and broker are in another
one. Every table has to have the rows that plain SQL makes of the changes. They are read by Spark: others take hours for the
equality deletes that Flink leaves. --write puts the figures between two marks in README.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

import peers
import report
import versus
from peers import COLUMNS, KEY

BEGIN, END = "<!-- stream: made by `make versus` -->\n", "<!-- /stream -->"
PARTITIONS, SET = 12, 50_000
RUNNERS = {"frazil drain v2, 512 MB": ("drain", 2, 512), "frazil drain v3, 512 MB": ("drain", 3, 512), "frazil drain v3, 2 GB": ("drain", 3, 2048), "Flink upsert v2": ("flink", 2, 3072)}
MARK = 8  # times frazil's CPU that Flink takes
FLINK = {"TIMESTAMPTZ": "TIMESTAMP_LTZ(6)", "VARCHAR": "STRING", "INTEGER": "INT"}


class Run(versus.Run):
    reader = staticmethod(peers.spark)

    def __init__(self, binaries, flink, jars, folder, changes, rows):
        self.flink = flink
        super().__init__(binaries, jars, folder, [(SET, False)] * max(1, changes // SET), rows, str(PARTITIONS))
        self.changes = SET * len(self.sets)

    def command(self, kind, table, config, memory):
        if kind == "drain":
            main = config["Catalogs"]["main"]
            document = (f"{{catalogs: {{main: {{uri: '{main['URI']}', warehouse: '{main['Warehouse']}'}}}}, sources: {{main: {{brokers: ['{self.at['Brokers']}']}}}},"
                        f" routes: [{{topics: [{self.at['Topic']}], format: debezium, table: 'main:{table}'}}]}}")
            return [f"{self.binaries}/drain"], {
                "FRAZIL_CONFIG": document, "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(memory), "AWS_ENDPOINT_URL_S3": self.at["Store"],
                "AWS_ACCESS_KEY_ID": self.at["AccessKey"], "AWS_SECRET_ACCESS_KEY": self.at["SecretKey"], "AWS_REGION": self.at["Region"]}
        opens = [f"--add-opens=java.base/java.{p}=ALL-UNNAMED" for p in ("util", "lang", "nio", "time")]
        columns = ", ".join(f"{n} {FLINK.get(t, t)}" for n, t in COLUMNS.items())
        return ["java", f"-Xmx{memory}m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", f"-Daws.region={self.at['Region']}", *opens,
                "-cp", f"{self.flink}/classes:{self.flink}/*", "Upsert"], {
            "CATALOG": self.at["Catalog"], "STORE": self.at["Store"], "ACCESS_KEY": self.at["AccessKey"], "SECRET_KEY": self.at["SecretKey"],
            "REGION": self.at["Region"], "BROKERS": self.at["Brokers"], "TOPIC": self.at["Topic"], "TABLE": table, "COLUMNS": columns, "KEY": KEY}

    def stream(self, name):
        kind, version, memory = RUNNERS[name]
        table = "versus." + "".join(c if c.isalnum() else "_" for c in name)
        config = self.world.ask(Table=table, Version=version, Properties={})["config"]
        command, environment = self.command(kind, table, config, memory)
        self.world.ask()
        began = time.perf_counter()
        process = subprocess.Popen(command, env={"PATH": os.environ["PATH"], **environment}, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        took = time.perf_counter() - began
        counts = self.world.ask()
        if status:
            return None, f"{name} ended with status {status}"
        got = self.checksum.table(table)
        problem = "" if got == self.expected else f"{name}: (rows, checksum) is {got}, has to be {self.expected}"
        million = self.changes / 1e6
        return {"cpu": (used.ru_utime + used.ru_stime) / million, "rate": self.changes / took, "requests": counts["sum"] / million,
                "scan": self.scan(table)}, problem

    def scan(self, table):
        """CPU seconds of a warm scan."""
        return statistics.median([self.counted(self.scanner, With="spark", Table=table)["cpu"] for _ in range(1 + versus.SCANS)][1:])


def table(figures, base):
    rows = [[name, f"{f['cpu']:.1f}", f"{f['rate'] / 1000:.0f}k", f"{f['requests']:.0f}", f"{f['scan'] / base:.1f}"]
            for name, f in figures.items()]
    return report.lines(["", "CPU s per million", "changes/s", "requests per million", "scan afterwards"], rows)


def main(binaries, flink, jars, readme, *options):
    only = versus.option(options, "--only", "")
    chosen = [n for n in RUNNERS if not only or any(n.startswith(o) for o in only.split(","))]
    problems, figures = [], {}
    changes = int(versus.option(options, "--changes", "1000000"))
    with tempfile.TemporaryDirectory() as folder, Run(binaries, flink, jars, folder, changes, versus.option(options, "--rows", "1000000")) as run:
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

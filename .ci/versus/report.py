"""The figures as Markdown."""
import section  # of interop: peers has put it on the path

BEGIN, END = "<!-- versus: made by `make versus` -->\n", "<!-- /versus -->"
MARKS = {"DuckDB": 4, "Spark merge-on-read": 25, "PyIceberg": 80}  # how many times frazil's CPU and time


def short(keys):
    return f"{keys // 1000}k" if keys >= 1000 else str(keys)


def lines(head, rows):
    return "\n".join(f"| {' | '.join(r)} |" for r in [head, ["---"] + ["---:"] * (len(head) - 1)] + rows) + "\n"


def table(figures, base):
    """All figures: medians, of memory the most."""
    rows = []
    for name, f in figures.items():
        for keys, c in f["commits"].items():
            ours = reference(figures, name)
            ratio = [f"{c[k] / ours['commits'][keys][k]:.1f}" if ours else "–" for k in ("seconds", "cpu")]
            rows.append([name, short(keys), f"{c['seconds']:.3f}", f"{c['cpu']:.3f}", *ratio, f"{c['peak']:.0f}", f"{c['sum']:.0f}",
                         f"{c['read'] / 1e6:.1f}", f"{c['written'] / 1e6:.2f}"])
    out = lines(["", "keys", "s", "CPU s", "s, ratio", "CPU, ratio", "peak MB", "requests", "MB read", "MB written"], rows)
    scans = [[name, *(f"{s[e]['cpu']:.2f} ({s[e]['sum']:.0f})" for e in s)]
             for name, s in [("before all changes", base)] + [(n, f["scans"]) for n, f in figures.items()]]
    return out + "\n" + lines(["full scan afterwards: CPU s (requests)", "DuckDB", "iceberg-rust"], scans)


def reference(figures, name):
    """What frazil took on a table of the same format version."""
    return figures.get("frazil v3" if "v3" in name else "frazil v2")


def marks(figures):
    for name, f in figures.items():
        ours = reference(figures, name)
        if not ours or name.startswith("frazil"):
            continue
        for keys, c in f["commits"].items():
            own = ours["commits"][keys]
            for peer, mark in MARKS.items():
                if name.startswith(peer):
                    for k, what in ("seconds", "time"), ("cpu", "CPU"):
                        yield f"  {name}, {short(keys)} keys: {what} {c[k] / own[k]:.1f} times frazil's, mark {mark}"
            if c["sum"] <= own["sum"]:
                yield f"  {name}, {short(keys)} keys: {c['sum']:.0f} requests, frazil {own['sum']:.0f}: not fewer"


def ratios(figures, base):
    """The figures as README has them: frazil's own, and how many times as much the others take."""
    sizes = list(figures["frazil v3"]["commits"])
    head = [""] + [f"{short(k)} keys: time, CPU" for k in sizes] + ["memory", "requests", "scan afterwards"]
    rows = []
    for name, f in figures.items():
        own, commits = reference(figures, name), f["commits"]
        scan = f["scans"]["rust"]["cpu"] / base["rust"]["cpu"]
        if name.startswith("frazil"):
            cells = [f"{c['seconds'] * 1e3:.0f} ms, {c['cpu'] * 1e3:.0f} ms" for c in commits.values()]
            cells += [f"{peak(f):.0f} MB", f"{commits[sizes[0]]['sum']:.0f}"]
        else:
            per = lambda k, keys: f"{commits[keys][k] / own['commits'][keys][k]:.1f}"
            cells = [f"{per('seconds', k)}x, {per('cpu', k)}x" for k in sizes]
            cells += [f"{peak(f) / peak(own):.1f}x", f"{per('sum', sizes[0])}x"]
        rows.append([name, *cells, f"{scan:.2f}"])
    return lines(head, rows)


def peak(f):
    return max(c["peak"] for c in f["commits"].values())


def keep(readme, text, write, begin=BEGIN, end=END):
    """Puts the ratios into README. Without write README only has to have the same runners."""
    old = section.swap(readme, begin, end, text if write else None)
    if old is None:
        return [f"{readme} has no place for the ratios"]
    names = lambda t: [line.split("|")[1].strip() for line in t.splitlines() if line.startswith("|")]
    return [] if write or names(old) == names(text) else [f"{readme} has ratios of others; --write puts the new ones there"]

"""The matrix of engines and features, as Markdown."""
import engines
import section

BEGIN, END = "<!-- interop: made by `make engines` -->\n", "<!-- /interop -->"


def cells(findings):
    """equal, unsupported or wrong, by feature and engine."""
    out = {}
    for f in findings:
        state = "equal" if not f.difference else "unsupported" if f.unsupported else "**wrong**"
        old = out.get((f.feature, f.engine), "equal")
        out[f.feature, f.engine] = max(old, state, key=["equal", "unsupported", "**wrong**"].index)
    return out


def markdown(findings):
    """Features that all engines have alike share a line."""
    all = cells(findings)
    rows = {}
    for feature in sorted({f.feature for f in findings}):
        rows.setdefault(tuple(all.get((feature, e), "–") for e in engines.ENGINES), []).append(feature)
    lines = ["| | " + " | ".join(engines.ENGINES) + " |", "|---" * (len(engines.ENGINES) + 1) + "|"]
    for row, features in sorted(rows.items(), key=lambda r: r[1]):
        lines.append(f"| {listed(features)} | {' | '.join(row)} |")
    return "\n".join(lines) + "\n"


def listed(features):
    """The features, those that begin alike together."""
    groups = {}
    for feature in features:
        head, _, tail = feature.partition(": ")
        groups.setdefault(head, []).append(tail)
    return "<br>".join(f"{head}: {', '.join(tails)}" if all(tails) else head for head, tails in groups.items())


def keep(readme, text, write):
    """Compares with what README holds, or writes it there."""
    old = section.swap(readme, BEGIN, END, text if write else None)
    if old is None:
        return [f"{readme} has no place for the matrix"]
    return [] if write or old == text else [f"{readme} holds another matrix; interop.py --write puts the new one there"]

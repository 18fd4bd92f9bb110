"""Parts of README between two marks, which programs make."""


def swap(readme, begin, end, text=None):
    """What stands between the marks, None where they are not there; with a text, that takes its place."""
    with open(readme, encoding="utf-8") as f:
        whole = f.read()
    before, has_begin, rest = whole.partition(begin)
    old, has_end, after = rest.partition(end)
    if not has_begin or not has_end:
        return None
    if text is not None:
        with open(readme, "w", encoding="utf-8") as f:
            f.write(before + begin + text + end + after)
    return old

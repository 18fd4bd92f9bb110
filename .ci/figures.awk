# Passes the output of `go test -bench` and `wc -c` on, and repeats at its end the figures that have a mark, beside it.
# It only shows: what to make of them is for people.

{ print; fflush() }

function show(what, figure, unit, mark) {
    shown[++n] = sprintf("%-62s %9.2f %-9s mark %s", what, figure, unit, mark)
}

function value(unit,    i) {
    for (i = 3; i <= NF; i++) if ($i == unit) return $(i - 1)
}

# The sub-benchmark's name, without the number of processors.
function variant(    name) {
    name = $1
    sub(/^[^\/]*\//, "", name)
    sub(/-[0-9]+$/, "", name)
    return name
}

/^BenchmarkEvent(-[0-9]+)?[ \t]/ { show("scan, decode and coerce a 6 MB event", value("ns/op") / 1e6, "ms", "40 ms") }
/^BenchmarkPlan(-[0-9]+)?[ \t]/ { show("plan 10k changes", value("ns/op") / 1e6, "ms", "-") }
/^BenchmarkCommit\// { show("commit 1k keys into 1M rows in 10 files, " variant(), value("ns/op") / 1e6, "ms", "-") }
/^BenchmarkMerge\// {
    merge = "merge " variant()
    split(variant(), part, "/")
    m = part[1] "/" part[2] "/" part[5]
    if (part[7] == "0ms") {
        show(merge, value("cpu-ms") / 1e3, "CPU s", m == "1k/1M/warm" ? "0.08 CPU s" : m == "1k/1M/cold" ? "0.3 CPU s" : m == "10k/1M/warm" ? "0.16 CPU s" : m == "100k/1M/warm" ? "0.5 CPU s" : "-")
        if (m == "10k/1M/warm") {
            show(merge, value("ns/op") / 1e9, "s", "0.15 s")
            show(merge, value("MB-above-idle"), "MB", "150 MB above idle")
        }
        if (part[5] == "warm") show(merge, value("requests"), "requests", part[6] == "position-v3" ? "7" : "-")
    } else {
        show(merge, value("rounds"), "rounds", "-")
        show(merge, value("model-ms") / 1e3, "s", m == "1k/10M/cold" || m == "10k/10M/cold" ? "1.5 s" : "-")
    }
}
/^BenchmarkLife\// {
    life = "life " variant() ", after 200 commits: "
    show(life "scan", value("scan-ms@200") / value("scan-ms@0"), "x", variant() ~ /v3/ ? "1.3 x that before" : "1.8 x that before")
    show(life "data files", value("data-files@200"), "files", "-")
    show(life "manifests", value("manifests@200"), "manifests", "-")
    show(life "requests", value("requests@200"), "requests", variant() == "position-v3" ? "7" : "-")
    if (variant() ~ /maintained$/) show(life "maintain, per commit", value("maintain-cpu-ms@200") / 1e3, "CPU s", "-")
    show(life "metadata written", value("metadata-B@200") / value("metadata-B@10"), "x", "1.2 x that of the tenth")
}
/^BenchmarkWriters\// {
    show("writers, " variant(), value("commits/s"), "commits/s", "-")
    show("writers, " variant(), value("conflicts/commit") * 100, "% lost", "-")
    show("writers, " variant(), value("p99-ms"), "ms p99", "-")
    # While one commits, each of the others lands with a chance of commit / window.
    if (variant() ~ /^1-/) show("window for 10 % of conflicts, per further writer, " variant(), value("p50-ms") / 100, "s", "-")
}
/^BenchmarkWrite\// {
    show("write rows, " variant(), value("rows/s") / 1e3, "k rows/s", "-")
    show("write rows, " variant(), value("bytes/row"), "bytes/row", "-")
}
/^BenchmarkDrain(-[0-9]+)?[ \t]/ {
    show("drain Debezium changes, per million", value("cpu-s/M"), "CPU s", "8 CPU s")
    show("drain Debezium changes", value("changes/s") / 1e3, "k/s", "150 k/s on two free cores")
    show("drain Debezium changes, peak", value("peak-MB"), "MB", "512 MB")
}
/^BenchmarkMergeEvents(-[0-9]+)?[ \t]/ { show("merge the same changes in events of 6 MB, per million", value("cpu-s/M"), "CPU s", "12 CPU s") }
/^BenchmarkInitialLoad(-[0-9]+)?[ \t]/ { show("drain a first load, per million rows", value("cpu-s/M"), "CPU s", "-") }
/^BenchmarkCompact\// {
    show("compact " variant() ", per GB read", value("cpu-s/GB"), "CPU s", "-")
    show("compact " variant() ", peak", value("peak-MB"), "MB", "410 MB of 512")
}
/^BenchmarkStart(-[0-9]+)?[ \t]/ { show("start of the process to its first request for an event", value("ms-to-first-next"), "ms", "150 ms") }
/^ *[0-9]+ dist\/.*\.zip$/ { show($2, $1 / 1e6, "MB", "25 MB") }
/^ *[0-9]+ dist\/.*\/bootstrap$/ { show($2, $1 / 1e6, "MB", "-") }

END {
    print "\nFigures and marks:"
    for (i = 1; i <= n; i++) print "  " shown[i]
}

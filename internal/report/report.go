// Package report turns numbers into CloudWatch metrics on their way through the log: a log line in CloudWatch's embedded
// metric format is a log line and a metric at once, and nothing has to be called ("Specification: Embedded metric format"
// in AWS's documentation).
//
// The names below are those of the metrics, of the alarms and of the dashboard in template.yaml. The package reads no
// clock and writes nothing.
package report

import (
	"log/slog"
	"time"
)

// Namespace is that of all metrics.
const Namespace = "frazil"

// Dimension names the attribute that a log line has to have, the table; each metric exists with and without it.
const Dimension = "table"

// Metric is one number of a log line.
type Metric struct {
	name, unit string
	value      int64
}

// The metrics of a commit.

func Records(n int) Metric        { return count("records", n) }
func Inserted(n int) Metric       { return count("inserted", n) }
func Updated(n int) Metric        { return count("updated", n) }
func Deleted(n int) Metric        { return count("deleted", n) }
func UnknownDeletes(n int) Metric { return count("unknown_deletes", n) } // of keys that the table did not have
func Unchanged(n int) Metric      { return count("unchanged", n) }       // rows that the table had as they are
func DeadLetters(n int) Metric    { return count("dead_letters", n) }
func CommitTime(d time.Duration) Metric {
	return milliseconds("commit_ms", d)
}

// Freshness is how old the newest change of a commit was at its source when it was there to be read; Lag, how old it was
// in Kafka.
func Freshness(d time.Duration) Metric { return milliseconds("freshness_ms", d) }
func Lag(d time.Duration) Metric       { return milliseconds("lag_ms", d) }

// The metrics of what else may happen.

func Conflicts(n int) Metric       { return count("conflicts", n) }        // commits that lost against another writer
func UnknownOutcomes(n int) Metric { return count("unknown_outcomes", n) } // commits of which nobody knew whether they landed
func Holes(n int) Metric           { return count("holes", n) }            // offsets that were not delivered, each run of them once
func Failed(n int) Metric          { return count("failed", n) }           // deliveries that a table did not take
func Yielded(n int) Metric         { return count("yielded", n) }          // runs of drain that left a table to another one

// The metrics of a table's health, which say what its readers pay.

func DataFiles(n int) Metric      { return count("data_files", n) }
func SmallFiles(n int) Metric     { return count("small_files", n) } // data files far below the target size
func DeleteFiles(n int) Metric    { return count("delete_files", n) }
func DeleteOpenings(n int) Metric { return count("delete_openings", n) } // delete files that a reader opens, for each data file anew
func Manifests(n int) Metric      { return count("manifests", n) }
func MetadataSize(n int64) Metric { return Metric{"metadata_bytes", "Bytes", n} }
func DeadRows(n int64) Metric     { return Metric{"dead_rows_percent", "Percent", n} }
func ScanCost(n int64) Metric     { return Metric{"scan_cost_percent", "Percent", n} } // of that of the compacted table

// The metrics of a run of maintain.

func Compacted(n int) Metric              { return count("files_compacted", n) } // data files that were written again
func Expired(n int) Metric                { return count("snapshots_expired", n) }
func FilesDeleted(n int) Metric           { return count("files_deleted", n) }
func Orphans(n int) Metric                { return count("orphan_files", n) }
func MaintainTime(d time.Duration) Metric { return milliseconds("maintain_ms", d) }

func count(name string, n int) Metric { return Metric{name, "Count", int64(n)} }

func milliseconds(name string, d time.Duration) Metric {
	return Metric{name, "Milliseconds", d.Milliseconds()}
}

// embedded is the format's own member of a line.
type embedded struct {
	Timestamp int64       // milliseconds since 1970
	Metrics   []directive `json:"CloudWatchMetrics"`
}

type directive struct {
	Namespace  string
	Dimensions [][]string
	Metrics    []definition
}

type definition struct{ Name, Unit string }

// Attrs are the attributes that make a JSON log line with the attribute Dimension one of metrics, as of now.
func Attrs(now time.Time, metrics ...Metric) []slog.Attr {
	d := directive{Namespace: Namespace, Dimensions: [][]string{{Dimension}, {}}}
	var attrs []slog.Attr
	for _, m := range metrics {
		attrs = append(attrs, slog.Int64(m.name, m.value))
		d.Metrics = append(d.Metrics, definition{m.name, m.unit})
	}
	return append(attrs, slog.Any("_aws", embedded{now.UnixMilli(), []directive{d}}))
}

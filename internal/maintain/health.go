package maintain

import (
	"github.com/frazil/frazil/internal/locate"
	"github.com/frazil/frazil/internal/report"
)

// Health is what a table's readers pay for its state.
type Health struct {
	DataFiles, SmallFiles, DeleteFiles int
	Rows, DeadRows                     int64 // dead ones as far as manifests tell
	Bytes                              int64 // of data files
	// Openings is how often a delete file is opened for a data file by a reader of the whole table.
	Openings      int
	Manifests     int
	MetadataBytes int64 // of manifests
	// Cost is that of a scan of the whole table in bytes, of which an opened file counts as some; Least that of the same rows in
	// files of the target size, without deletes.
	Cost, Least int64
}

// openCost is the bytes that an opened file counts as: those that a store sends while one is being opened. It is the default of
// Spark's read.split.open-file-cost.
const openCost = 4 << 20

// Measure is the health of a snapshot whose files should be of a target size. It reads nothing, and is a pure function of the
// manifests' entries.
func Measure(live *locate.Snapshot, target int64) Health {
	h := Health{DataFiles: len(live.Data), DeleteFiles: len(live.Deletes) + len(live.Equality), Manifests: len(live.Manifests)}
	alive := map[string]int64{} // bytes, by partition
	for _, f := range measure(live) {
		h.Rows += f.Count()
		h.DeadRows += f.dead
		h.Bytes += f.FileSizeBytes()
		h.Openings += f.deletes
		if f.FileSizeBytes()*100 < target*nearTarget {
			h.SmallFiles++
		}
		alive[f.PartitionKey()] += f.weight()
	}
	h.Cost = h.Bytes + int64(h.DataFiles+h.DeleteFiles)*openCost
	for _, deletes := range [][]locate.File{live.Deletes, live.Equality} {
		for _, d := range deletes {
			size := d.FileSizeBytes()
			if part := d.ContentSizeInBytes(); part != nil {
				size = *part
			}
			h.Cost += size
		}
	}
	for _, bytes := range alive {
		h.Least += bytes + (bytes+target-1)/target*openCost
	}
	for _, m := range live.Manifests {
		h.MetadataBytes += m.Length()
	}
	return h
}

// DeadPercent is the part of the rows that readers read in vain.
func (h Health) DeadPercent() int64 { return 100 * h.DeadRows / max(h.Rows, 1) }

// CostPercent is the cost of a scan, of that of the table when it is compacted.
func (h Health) CostPercent() int64 {
	if h.Least == 0 {
		return 100
	}
	return 100 * h.Cost / h.Least
}

// DeletesPerFile is how many delete files are opened for a data file, on average.
func (h Health) DeletesPerFile() float64 { return float64(h.Openings) / float64(max(h.DataFiles, 1)) }

// Metrics are those of a log line.
func (h Health) Metrics() []report.Metric {
	return []report.Metric{
		report.DataFiles(h.DataFiles), report.SmallFiles(h.SmallFiles), report.DeleteFiles(h.DeleteFiles), report.DeleteOpenings(h.Openings),
		report.DeadRows(h.DeadPercent()), report.Manifests(h.Manifests), report.MetadataSize(h.MetadataBytes), report.ScanCost(h.CostPercent()),
	}
}

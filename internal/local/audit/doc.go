// Package audit says what is wrong with a table, whoever wrote it: it walks the catalog's metadata, the manifests and the
// files behind them with iceberg-go and Parquet's reader, and shares no code with frazil's locate, stage and commit.
//
// An Auditor follows one table through its life and remembers what it has seen: which files were ever part of it, so that
// the rest are orphans, and what each manifest and file holds, since none of them may ever change.
//
// It does not read rows; package lake does. Of other writers' snapshots it does not check the summaries.
package audit

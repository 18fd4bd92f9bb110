// Package source plays Lambda's event source mapping for Kafka: it reads a topic with a consumer group and invokes a
// function with batches of records.
//
// Partitions are read in offset order, one batch at a time; a batch may hold records of several partitions. A batch
// ends at a number of records, at a window of time, or before its event would pass 6 MB. When the function fails, the
// same event is delivered again, with growing delays, until it succeeds; only then are the batch's offsets committed.
// So every record is delivered at least once, and after a crash or on purpose (Mapping.Redeliver) more than once.
//
// A mapping is the only member of its group. It has no filters, partial failure responses, bisection, on-failure
// destinations or record age limits, and waits for the end of transactional topics in vain, whose last offsets belong
// to no record.
package source

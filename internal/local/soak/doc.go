// Package soak lives through many faulted invocations with frazil and compares its tables with plain maps.
//
// It goes in rounds. A round is a world of its own: embedded parts of some profile, one to three tables of random format
// versions, partitions and delete encodings, topics whose events feed several of them, processes that are killed and begin anew,
// drains that read the topics themselves, owners, maintain and other engines that change, compact, expire and roll back what is there. After each step every table has to have the rows
// and the ledger that its oracle has; at the end of a round all its files are audited.
//
// All that a round chooses comes from its seed. What processes do at the same time does not, and must not matter.
package soak

// Package catalog is an Iceberg REST catalog in one process, for local runs and tests.
//
// A Server is an http.Handler that keeps namespaces and table pointers in memory and table metadata as files in a
// Store, over iceberg-go's own metadata types. It is strict where it matters to a committer: every requirement of a
// commit is checked against the current metadata, a commit is atomic, a transaction over several tables is all or
// nothing, and the statuses are those of the reference implementation: 409 CommitFailedException for a requirement
// that does not hold, 400 for an update that cannot be applied or is unknown, 404 for what does not exist and 409
// AlreadyExistsException for what does. It can be told to lose an answer, to refuse or to hang (Fault), and to be as odd as
// catalogs are in production (Profile).
//
// Routes follow the Iceberg REST catalog specification without a prefix. There are no views, functions, server-side
// scan plans, credentials or authentication, a dropped table's files stay, and nothing survives the process but the
// files.
package catalog

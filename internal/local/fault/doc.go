// Package fault plays what goes wrong between frazil and its parts: a request refused, its answer lost or never given, the
// process that sent it gone.
//
// Each process has a Line of its own to an embedded catalog and store, on which it meets the faults that are chosen for it
// in their order, each once, and whatever else runs at the same time meets none. A Life is a process without a binary at the end of a
// line; a function's binary can be at the end of one too. Nothing in frazil knows of any of this: faults are answers.
//
// A request that hangs, hangs until the invocation's deadline. To wait for one takes seconds, so the deadline comes when the
// request does, except where a commit hangs: there the invocation has Patience, for what is left of it then decides
// whether the outcome is learnt.
package fault

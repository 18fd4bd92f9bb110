// Package trial plays a fault in the life of a table, and looks at the table afterwards: the matrices of faults of those who write
// tables are made of it.
//
// A trial has one history of records in three chapters. The second one meets the fault; then all is delivered again, by whoever the trial
// says, and the third one comes. The table has to be what the history makes of it at each of these points, and its files, ledger and dead letters
// what they have to be.
package trial

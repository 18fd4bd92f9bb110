// Package lambda runs a built function binary as AWS Lambda does: as processes that ask a Runtime API for one event
// at a time.
//
// A Function keeps up to Options.Instances processes of one binary. They start when an event needs one, serve events
// one after another while they live, and are replaced when they exit, crash or run out of time. Invoke answers as a
// synchronous invocation of the service does: with the response, or with a FunctionError of the service's types. The
// environment, the deadline, the request id, the payload limits and the shutdown by SIGTERM are the service's.
//
// Memory is not limited, the processor is not shared out by memory size, and the process is not frozen between
// events. There is no sandbox: the function may do what its user may.
package lambda

// Command function is a Lambda function that does what its event says, for the tests of the runtime.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

type handler struct{}

type order struct {
	Do, URL, Text string
	Size          int
}

func (handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	var o order
	if err := json.Unmarshal(payload, &o); err != nil {
		return nil, err
	}
	switch o.Do {
	case "echo":
		return payload, nil
	case "error":
		return nil, errors.New("it went wrong")
	case "panic":
		panic("boom")
	case "exit":
		os.Exit(3)
	case "block":
		select {}
	case "get":
		return get(o.URL)
	case "work":
		work(50 * time.Millisecond)
	case "print":
		fmt.Println(o.Text)
	case "large":
		return []byte(`"` + strings.Repeat("x", o.Size-2) + `"`), nil
	}
	return describe(ctx)
}

func get(url string) ([]byte, error) {
	resp, err := http.Get(url)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

// work takes so much processor time.
func work(cpu time.Duration) {
	used := func() time.Duration {
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it has no way to fail
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	for began := used(); used()-began < cpu; {
	}
}

func describe(ctx context.Context) ([]byte, error) {
	deadline, _ := ctx.Deadline()
	about, _ := lambdacontext.FromContext(ctx)
	return json.Marshal(map[string]any{
		"deadline": deadline.UnixMilli(), "remaining": time.Until(deadline), "id": about.AwsRequestID,
		"arn": about.InvokedFunctionArn, "env": os.Environ(), "pid": os.Getpid(),
	})
}

func main() {
	for _, setting := range os.Environ() {
		if setting == "FAIL_INIT=1" {
			os.Exit(4)
		}
	}
	lambda.StartWithOptions(handler{}, lambda.WithEnableSIGTERM(func() {
		fmt.Println("terminated")
		os.Exit(0)
	}))
}

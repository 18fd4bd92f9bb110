// Rie gives the sample events of localstack/events to a built function behind AWS's Lambda Runtime Interface Emulator
// and checks the answers and, after them, that the seeds' tables have rows.
//
//	go run ./.ci/rie -emulator .cache/bin/aws-lambda-rie -bootstrap dist/merge-amd64/bootstrap
//
// Broker, store and catalog are embedded; everything listens on the loopback interface. The emulator is AWS's own
// implementation of what a function talks to, where internal/local/lambda is frazil's. It takes one event at a time.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/local/lake"
	"github.com/frazil/frazil/internal/local/scenario"
	"github.com/frazil/frazil/internal/local/stack"
	"go.yaml.in/yaml/v3"
)

func main() {
	emulator := flag.String("emulator", "", "the `file` of aws-lambda-rie")
	bootstrap := flag.String("bootstrap", "", "the `file` of the function")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := run(ctx, *emulator, *bootstrap, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "rie:", err)
		os.Exit(1)
	}
}

// sample is an entry of events.yaml.
type sample struct {
	Name  string
	Error struct{ Type, Message string }
}

func run(ctx context.Context, emulator, bootstrap string, out io.Writer) error {
	parts, err := stack.Start(false)
	if err != nil {
		return err
	}
	defer parts.Close()
	l, err := lake.Open(ctx, parts.CatalogConfig())
	if err != nil {
		return err
	}
	seeds, err := readSeeds()
	if err != nil {
		return err
	}
	for _, table := range tables(seeds) {
		if err := l.Create(ctx, table.Spec()); err != nil {
			return err
		}
	}
	document, err := scenario.Document(config.Catalog{URI: parts.Endpoints.Catalog, Warehouse: stack.Warehouse}, "", seeds...)
	if err != nil {
		return err
	}
	f, err := start(ctx, emulator, bootstrap, append(parts.Env(), "FRAZIL_CONFIG="+document))
	if err != nil {
		return err
	}
	defer f.stop()
	if err := f.checkSamples(ctx, out); err != nil {
		return fmt.Errorf("%w\nthe emulator's log:\n%s", err, f.log.String())
	}
	return checkRows(ctx, l, seeds, out)
}

func readSeeds() ([]*scenario.Scenario, error) {
	files, err := filepath.Glob("localstack/seeds/*.yaml")
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no seeds found: %w", err)
	}
	var seeds []*scenario.Scenario
	for _, file := range files {
		s, err := scenario.Read(file)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		seeds = append(seeds, s)
	}
	return seeds, nil
}

func tables(seeds []*scenario.Scenario) (all []scenario.Table) {
	for _, s := range seeds {
		all = append(all, s.Tables...)
	}
	return all
}

// function is a function behind the emulator.
type function struct {
	command *exec.Cmd
	url     string
	log     bytes.Buffer
}

func start(ctx context.Context, emulator, bootstrap string, env []string) (*function, error) {
	front, err := freeAddress()
	if err != nil {
		return nil, err
	}
	api, err := freeAddress()
	if err != nil {
		return nil, err
	}
	bootstrap, err = filepath.Abs(bootstrap)
	if err != nil {
		return nil, err
	}
	f := &function{url: "http://" + front + "/2015-03-31/functions/function/invocations"}
	f.command = exec.CommandContext(ctx, emulator,
		"--runtime-interface-emulator-address", front, "--runtime-api-address", api, bootstrap)
	f.command.Env = append(env, "AWS_LAMBDA_FUNCTION_TIMEOUT=60", "PATH="+os.Getenv("PATH"))
	f.command.Stdout, f.command.Stderr = &f.log, &f.log
	f.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that stop reaches the function too
	if err := f.command.Start(); err != nil {
		return nil, fmt.Errorf("start the emulator: %w", err)
	}
	for dialer := new(net.Dialer); ; {
		conn, err := dialer.DialContext(ctx, "tcp", front)
		if err == nil {
			return f, conn.Close()
		}
		if ctx.Err() != nil {
			f.stop()
			return nil, fmt.Errorf("the emulator does not listen: %w", ctx.Err())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// freeAddress is a loopback address that was free a moment ago.
func freeAddress() (string, error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func (f *function) stop() {
	_ = syscall.Kill(-f.command.Process.Pid, syscall.SIGKILL)
	_ = f.command.Wait() // killed
}

func (f *function) checkSamples(ctx context.Context, out io.Writer) error {
	text, err := os.ReadFile("localstack/events/events.yaml")
	if err != nil {
		return err
	}
	var samples []sample
	if err := yaml.Unmarshal(text, &samples); err != nil {
		return err
	}
	for _, s := range samples {
		event, err := os.ReadFile(filepath.Join("localstack/events", s.Name+".json"))
		if err != nil {
			return err
		}
		if err := f.check(ctx, s, event, out); err != nil {
			return err
		}
	}
	cut := sample{Name: "half an event"}
	cut.Error.Type, cut.Error.Message = "BadEvent", "read event"
	return f.check(ctx, cut, []byte(`{"eventSource":"aws:kafka","records":{"orders-0":[{"topic":"ord`), out)
}

// check gives one event to the function. The emulator always answers 200: the body tells an error.
func (f *function) check(ctx context.Context, s sample, event []byte, out io.Writer) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url, bytes.NewReader(event))
	if err != nil {
		return err
	}
	began := time.Now()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	var answer struct {
		ErrorType         string
		ErrorMessage      string
		BatchItemFailures []json.RawMessage
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return fmt.Errorf("%s: answer %s: %w", s.Name, body, err)
	}
	succeeded := answer.ErrorType == "" && answer.BatchItemFailures != nil && len(answer.BatchItemFailures) == 0
	if s.Error.Type == "" && !succeeded ||
		s.Error.Type != answer.ErrorType || !strings.Contains(answer.ErrorMessage, s.Error.Message) {
		return fmt.Errorf("%s: answer %s, want error %q with %q", s.Name, body, s.Error.Type, s.Error.Message)
	}
	_, err = fmt.Fprintf(out, "ok    %-16s %4d ms  %s\n", s.Name, time.Since(began).Milliseconds(), body)
	return err
}

// checkRows sees that what was answered was also done.
func checkRows(ctx context.Context, l *lake.Lake, seeds []*scenario.Scenario, out io.Writer) error {
	for _, table := range tables(seeds) {
		_, rows, err := l.Rows(ctx, table.Name)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return fmt.Errorf("table %s has no rows, though its events were applied", table.Name)
		}
		if _, err := fmt.Fprintf(out, "ok    %-30s %d rows\n", table.Name, len(rows)); err != nil {
			return err
		}
	}
	return nil
}

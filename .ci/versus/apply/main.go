// Apply is a process of frazil that is measured: it applies change sets to a table, one delivery each, and says what
// that took.
//
//	apply [-library] [-cpuprofile FILE] [-offset N] CONFIG < commands > answers
//
// CONFIG is a configuration as JSON, with one route of one topic. It takes commands, a line of JSON each, and answers
// each with a line, until its input ends. The files are of package shop: records, or JSONL with -library, which has
// iceberg-go alone apply them.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/pprof"
	"time"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/ingest"
	"github.com/frazil/frazil/internal/kafka"
)

func main() {
	library := flag.Bool("library", false, "let iceberg-go alone apply the changes")
	profile := flag.String("cpuprofile", "", "where to write a CPU profile of the deliveries that are no warm-ups")
	offset := flag.Int64("offset", 0, "of the first record")
	flag.Parse()
	p, err := open(flag.Arg(0), *library, *offset)
	if err == nil {
		err = p.serve(os.Stdin, os.Stdout, *profile)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "apply:", err)
		os.Exit(1)
	}
}

// command asks for a file to be applied.
type command struct {
	File   string
	WarmUp bool
}

// answer is what that took, from before the file was opened until the commit was acknowledged.
type answer struct {
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu"`  // seconds
	Peak    float64 `json:"peak"` // MB of resident memory
	Idle    float64 `json:"idle"` // MB before the first delivery
	Error   string  `json:"error"`
}

// process applies files.
type process struct {
	apply func(context.Context, string) error
	idle  float64
}

func open(document string, library bool, offset int64) (p *process, err error) {
	var c config.Config
	if err := json.Unmarshal([]byte(document), &c); err != nil {
		return nil, err
	}
	p = &process{}
	if library {
		p.apply, err = plain(context.Background(), &c)
	} else {
		p.apply, err = frazil(&c, offset)
	}
	if err == nil {
		p.idle, err = resident("VmRSS")
	}
	return p, err
}

func (p *process) serve(in io.Reader, out io.Writer, profile string) error {
	defer pprof.StopCPUProfile()
	answers := json.NewEncoder(out)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var c command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return fmt.Errorf("command: %w", err)
		}
		if profile != "" && !c.WarmUp {
			file, err := os.Create(profile)
			if err != nil {
				return err
			}
			if err := pprof.StartCPUProfile(file); err != nil {
				return err
			}
			profile = ""
		}
		if err := answers.Encode(p.measure(c.File)); err != nil {
			return err
		}
	}
	return lines.Err()
}

func (p *process) measure(file string) answer {
	a := answer{Idle: p.idle}
	err := forgetPeak()
	cpu, began := used(), time.Now()
	if err == nil {
		err = p.apply(context.Background(), file)
	}
	a.Seconds, a.CPU = time.Since(began).Seconds(), (used() - cpu).Seconds()
	if err == nil {
		a.Peak, err = resident("VmHWM")
	}
	if err != nil {
		a.Error = err.Error()
	}
	return a
}

// frazil applies a file as one delivery, as the function does.
func frazil(c *config.Config, offset int64) (func(context.Context, string) error, error) {
	c.Memory.Process = 1769 << 20 // of a function with one processor
	ingest.LimitMemory(c.Memory.Process)
	pipeline, err := ingest.New(c, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	part := &kafka.Partition{Source: kafka.MainSource, Topic: c.Routes[0].Topics[0]}
	return func(ctx context.Context, file string) error {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		records := make([]kafka.Record, 0, bytes.Count(text, []byte("\n"))/2)
		for len(text) > 0 {
			r := kafka.Record{Part: part, Offset: offset, Time: 1767225600000 + offset}
			offset++
			r.Key, text, _ = bytes.Cut(text, []byte("\n"))
			r.Value, text, _ = bytes.Cut(text, []byte("\n"))
			if len(r.Value) == 0 {
				r.Value = nil
			}
			records = append(records, r)
		}
		return pipeline.Deliver(ctx, records)
	}, nil
}

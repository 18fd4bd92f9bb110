// Localstack runs frazil on one machine: a demo, a stack to play with, and scenarios.
//
//	go run ./localstack <demo|up|produce|rows|snapshots|health|ledger|dead-letters|verify|scenario|soak> [-h]
package main

import (
	"bufio"
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/frazil/frazil/internal/local/demo"
	"github.com/frazil/frazil/internal/local/owner"
	"github.com/frazil/frazil/internal/local/scenario"
	"github.com/frazil/frazil/internal/local/stack"
)

//go:embed seeds/*.yaml
var seedFiles embed.FS

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	slog.SetDefault(slog.New(slog.DiscardHandler)) // what libraries warn of is no part of a command's output
	if err := run(ctx, os.Args[1:], os.Stdin, os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		if !errors.Is(err, errReported) {
			fmt.Fprintln(os.Stderr, "localstack:", err)
		}
		os.Exit(1)
	}
}

// errReported is a failure that the command has printed already.
var errReported = errors.New("reported")

// command is one of localstack's commands. It defines its flags on f, and run gets the arguments that are none.
type command struct {
	name, args, help string
	run              func(ctx context.Context, o demo.Options, in io.Reader, f *flag.FlagSet, args []string) error
}

var commands = []command{
	{"demo", "", "run the seeds through the function and check the tables", runDemo},
	{"up", "[FILE…]", "keep broker, store, catalog and function running, for the seeds' tables or those of scenario files", runUp},
	{"produce", "SEED|FILE… | -topic TOPIC", "send the records of a seed (financial, orders, retail) or a scenario file, or lines KEY<TAB>VALUE", runProduce},
	{"rows", "TABLE", "print a table's rows", show("rows")},
	{"snapshots", "TABLE", "print a table's snapshots", show("snapshots")},
	{"health", "TABLE", "print what a table's readers pay for its small files and deletes, and how an engine compacts it", runHealth},
	{"ledger", "[set|accept] TABLE …", "print which offsets a table holds; set TABLE [SOURCE/]TOPIC PARTITION=OFFSET…, or accept TABLE what a roll-back took", runLedger},
	{"dead-letters", "", "list the records that could not be applied by reason, or show one", runDeadLetters},
	{"verify", "TABLE", "compare a table with a replay of its topics into an empty one, or with the table of a database that it mirrors", runVerify},
	{"scenario", "FILE…", "run scenario files and say how they differ", runScenarios},
	{"soak", "", "live through random faults and compare the tables with plain maps", runSoak},
}

func run(ctx context.Context, args []string, in io.Reader, out *os.File) error {
	if len(args) > 0 {
		i := slices.IndexFunc(commands, func(c command) bool { return c.name == args[0] })
		if i >= 0 {
			c := commands[i]
			f := flag.NewFlagSet("localstack "+c.name, flag.ContinueOnError)
			f.Usage = func() {
				fmt.Fprintf(f.Output(), "usage: go run ./localstack %s %s\n%s\n", c.name, c.args, c.help)
				f.PrintDefaults()
			}
			return c.run(ctx, demo.Options{Out: out, Colour: isTerminal(out)}, in, f, args[1:])
		}
	}
	usage(out)
	switch {
	case len(args) == 0:
		return errReported
	case slices.Contains([]string{"-h", "-help", "--help", "help"}, args[0]):
		return nil
	}
	return fmt.Errorf("there is no command %s", args[0])
}

func usage(out io.Writer) {
	fmt.Fprintln(out, "usage: go run ./localstack COMMAND [-h]")
	for _, c := range commands {
		fmt.Fprintf(out, "  %-12s %-26s %s\n", c.name, c.args, c.help)
	}
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("NO_COLOR") == ""
}

// seeds are the scenario files that localstack ships with, by name.
func seeds() ([]demo.Seed, error) {
	files, err := seedFiles.ReadDir("seeds")
	if err != nil {
		return nil, err
	}
	var out []demo.Seed
	for _, f := range files {
		text, err := seedFiles.ReadFile(path.Join("seeds", f.Name()))
		if err != nil {
			return nil, err
		}
		s, err := scenario.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("seed %s: %w", f.Name(), err)
		}
		out = append(out, demo.Seed{Name: strings.TrimSuffix(f.Name(), ".yaml"), Scenario: s})
	}
	return out, nil
}

// named are the seeds, or else the scenario files, of these names.
func named(names []string) ([]demo.Seed, error) {
	known, err := seeds()
	if err != nil {
		return nil, err
	}
	var out []demo.Seed
	for _, name := range names {
		if i := slices.IndexFunc(known, func(s demo.Seed) bool { return s.Name == name }); i >= 0 {
			out = append(out, known[i])
			continue
		}
		s, err := scenario.Read(name)
		if err != nil {
			return nil, fmt.Errorf("%s is none of the seeds (financial, orders, retail); as a scenario file: %w", name, err)
		}
		out = append(out, demo.Seed{Name: name, Scenario: s})
	}
	return out, nil
}

// parse reads a command's flags and refuses arguments where it has none.
func parse(f *flag.FlagSet, args []string, takes bool) error {
	if err := f.Parse(args); err != nil {
		return err
	}
	if !takes && f.NArg() > 0 {
		return fmt.Errorf("%s takes no argument %s", f.Name(), f.Arg(0))
	}
	return nil
}

func runDemo(ctx context.Context, o demo.Options, _ io.Reader, f *flag.FlagSet, args []string) (err error) {
	f.StringVar(&o.Bootstrap, "bootstrap", "", "a built functions/merge to run (default: build it)")
	if err := parse(f, args, false); err != nil {
		return err
	}
	if o.Seeds, err = seeds(); err != nil {
		return err
	}
	return demo.Run(ctx, o)
}

func runUp(ctx context.Context, o demo.Options, _ io.Reader, f *flag.FlagSet, args []string) (err error) {
	f.StringVar(&o.Bootstrap, "bootstrap", "", "a built functions/merge to run (default: build it)")
	f.StringVar(&o.Document, "document", "", "write the configuration of the tables to this `FILE`, for drain, maintain and the commands that take -config")
	fill := f.Bool("seeds", false, "produce the seeds' records once")
	compose := f.Bool("compose", false, "use the parts of localstack/compose.yaml, which are running, in place of embedded ones")
	if err := f.Parse(args); err != nil {
		return err
	}
	if o.Seeds, err = seeds(); f.NArg() > 0 {
		o.Seeds, err = named(f.Args())
	}
	if err != nil {
		return err
	}
	return demo.Up(ctx, o, *compose, *fill)
}

// endpoints defines the flags for where the store and catalog of `up` are.
func endpoints(f *flag.FlagSet) *stack.Endpoints {
	e := stack.Fixed()
	f.StringVar(&e.Store, "store", e.Store, "the S3 endpoint")
	f.StringVar(&e.Catalog, "catalog", e.Catalog, "the catalog's address")
	return &e
}

func runProduce(ctx context.Context, o demo.Options, in io.Reader, f *flag.FlagSet, args []string) error {
	at := stack.Fixed()
	f.StringVar(&at.Kafka, "kafka", at.Kafka, "the broker's address")
	topic := f.String("topic", "", "send standard input's lines to this topic; nothing before the tab is a null key, nothing behind it a null value")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *topic != "" && f.NArg() > 0 {
		return errors.New("produce: either seeds and files or -topic")
	}
	if *topic != "" {
		var lines []string
		s := bufio.NewScanner(in)
		for s.Buffer(nil, 16<<20); s.Scan(); {
			lines = append(lines, s.Text())
		}
		if s.Err() != nil {
			return s.Err()
		}
		return demo.ProduceLines(ctx, o, at, *topic, lines)
	}
	if f.NArg() == 0 {
		f.Usage()
		return errReported
	}
	send, err := named(f.Args())
	if err != nil {
		return err
	}
	for _, seed := range send {
		if err := demo.Produce(ctx, o, at, seed); err != nil {
			return err
		}
	}
	return nil
}

func show(what string) func(context.Context, demo.Options, io.Reader, *flag.FlagSet, []string) error {
	return func(ctx context.Context, o demo.Options, _ io.Reader, f *flag.FlagSet, args []string) error {
		at, file := configured(f)
		if err := f.Parse(args); err != nil {
			return err
		}
		if f.NArg() != 1 {
			f.Usage()
			return errReported
		}
		c, err := owner.Configuration(*file, *at)
		if err != nil {
			return err
		}
		return demo.Show(ctx, o, c, what, owner.TableName(f.Arg(0)))
	}
}

// configured defines the flags that say where the tables are.
func configured(f *flag.FlagSet) (at *stack.Endpoints, file *string) {
	file = f.String("config", "", "the `FILE` of a configuration document whose catalogs have the TABLE, [CATALOG:]NAMESPACE.NAME, of main if it names none (default: the catalog of localstack up)")
	return endpoints(f), file
}

func runScenarios(ctx context.Context, o demo.Options, _ io.Reader, f *flag.FlagSet, args []string) error {
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() == 0 {
		f.Usage()
		return errReported
	}
	failed, err := scenario.RunFiles(ctx, o.Out, f.Args())
	if err == nil && failed > 0 {
		err = errReported
	}
	return err
}

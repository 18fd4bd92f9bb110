package scenario

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// RunFiles runs scenario files in order and prints, for each, `ok FILE` or `differs FILE` with what differs, and at the
// end `N passed, N failed`.
func RunFiles(ctx context.Context, out io.Writer, files []string) (failed int, err error) {
	for _, file := range files {
		if ctx.Err() != nil {
			return failed, ctx.Err()
		}
		differences := runFile(ctx, file)
		if len(differences) == 0 {
			_, err = fmt.Fprintf(out, "ok %s\n", file)
		} else {
			failed++
			_, err = fmt.Fprintf(out, "differs %s\n", file)
		}
		for _, d := range differences {
			_, err = fmt.Fprintf(out, "  %s\n", strings.ReplaceAll(d, "\n", "\n  "))
		}
		if err != nil {
			return failed, err
		}
	}
	_, err = fmt.Fprintf(out, "%d passed, %d failed\n", len(files)-failed, failed)
	return failed, err
}

func runFile(ctx context.Context, file string) []string {
	s, err := Read(file)
	if err != nil {
		return []string{err.Error()}
	}
	differences, err := Run(ctx, s)
	if err != nil {
		return append(differences, err.Error())
	}
	return differences
}

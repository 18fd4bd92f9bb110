// Zip packs a Lambda function as it is released: the bootstrap, frazil's licence and notice, and the licences and
// notices of everything that the bootstrap links.
//
//	go run ./.ci/zip -o dist/merge-arm64.zip dist/merge-arm64/bootstrap
//
// It runs in the module's root. The same bootstrap always gives the same zip, byte for byte. Modules are those that
// the Go linker recorded in the bootstrap, so nothing that is linked can be forgotten; of each module every licence
// and notice file is taken, also those of folders that are not linked. A module without any is an error, and so is
// a zip above the size limit.
package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

// limit is the most bytes that a zip may have.
const limit = 25_000_000

func main() {
	out := flag.String("o", "", "the `zip` to write")
	flag.Parse()
	if *out == "" || flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: zip -o ZIP BOOTSTRAP")
		os.Exit(2)
	}
	if err := run(*out, flag.Arg(0), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "zip:", err)
		os.Exit(1)
	}
}

func run(out, bootstrap string, log io.Writer) error {
	binary, err := os.ReadFile(bootstrap)
	if err != nil {
		return err
	}
	license, err := os.ReadFile("LICENSE")
	if err != nil {
		return err
	}
	notice, err := os.ReadFile("NOTICE")
	if err != nil {
		return err
	}
	third, err := thirdParty(bootstrap)
	if err != nil {
		return err
	}
	packed, err := pack([]entry{
		{"bootstrap", 0o755, binary},
		{"LICENSE", 0o644, license},
		{"NOTICE", 0o644, notice},
		{"THIRD_PARTY_LICENSES", 0o644, third},
	})
	if err != nil {
		return err
	}
	if len(packed) > limit {
		return fmt.Errorf("%s would have %d bytes, the limit is %d", out, len(packed), limit)
	}
	if err := os.WriteFile(out, packed, 0o644); err != nil {
		return err
	}
	_, err = fmt.Fprintf(log, "%s: %.1f MB (bootstrap %.1f MB)\n", out, megabytes(packed), megabytes(binary))
	return err
}

func megabytes(b []byte) float64 { return float64(len(b)) / 1e6 }

type entry struct {
	name string
	mode os.FileMode
	data []byte
}

// modified is the time of every entry, the oldest that a zip can hold.
var modified = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

func pack(entries []entry) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: modified}
		h.SetMode(e.mode)
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write(e.data)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("pack %s: %w", e.name, err), z.Close())
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

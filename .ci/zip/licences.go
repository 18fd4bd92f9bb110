package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

// licenceFile is a file with a licence, or a notice that a licence wants carried along.
var licenceFile = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|notice|patents|copyright)([-._].*)?$`)

// sourceFile is a file of code that has such a name.
var sourceFile = regexp.MustCompile(`\.(go|py|sh|js)$`)

// thirdParty is the text of all licences and notices of the modules that a Go binary links and of Go itself, each
// text once, under the names of the files that have it.
func thirdParty(binary string) ([]byte, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, fmt.Errorf("read the modules of %s: %w", binary, err)
	}
	owners := map[string][]string{} // by text
	if err := goLicence(info.GoVersion, owners); err != nil {
		return nil, err
	}
	dirs, err := moduleDirs(info.Deps)
	if err != nil {
		return nil, err
	}
	for _, m := range slices.Sorted(maps.Keys(dirs)) {
		found, err := collect(m, dirs[m], owners)
		if err != nil {
			return nil, fmt.Errorf("collect the licences of %s: %w", m, err)
		}
		if !found {
			return nil, fmt.Errorf("module %s has no licence file", m)
		}
	}
	return render(owners), nil
}

// goLicence adds the licence of Go's runtime and standard library.
func goLicence(version string, owners map[string][]string) error {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "LICENSE"))
	if err != nil {
		return err
	}
	owners[string(text)] = append(owners[string(text)], "Go, "+version+": LICENSE")
	return nil
}

// moduleDirs finds the source of each module, by path@version.
func moduleDirs(modules []*debug.Module) (map[string]string, error) {
	args := []string{"mod", "download", "-json"}
	for _, m := range modules {
		if m.Replace != nil {
			m = m.Replace
		}
		args = append(args, m.Path+"@"+m.Version)
	}
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("go mod download: %w", err)
	}
	dirs := map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var m struct{ Path, Version, Dir string }
		switch err := dec.Decode(&m); {
		case errors.Is(err, io.EOF):
			return dirs, nil
		case err != nil:
			return nil, fmt.Errorf("go mod download: %w", err)
		}
		dirs[m.Path+"@"+m.Version] = m.Dir
	}
}

// collect adds the licence files of one module, wherever in it they lie.
func collect(module, dir string, owners map[string][]string) (found bool, err error) {
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") && name != "." {
			return fs.SkipDir // of the module's workflows and editors
		}
		if err != nil || d.IsDir() || !licenceFile.MatchString(path.Base(name)) || sourceFile.MatchString(name) {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		found = true
		owners[string(text)] = append(owners[string(text)], module+": "+name)
		return nil
	})
	return found, err
}

// render sorts texts by their first owner.
func render(owners map[string][]string) []byte {
	texts := slices.SortedFunc(maps.Keys(owners), func(a, b string) int {
		return strings.Compare(owners[a][0], owners[b][0])
	})
	var b bytes.Buffer
	b.WriteString("Licences and notices of what the bootstrap in this zip links.\n")
	for _, text := range texts {
		fmt.Fprintf(&b, "\n%s\n", strings.Repeat("=", 78))
		for _, owner := range owners[text] {
			fmt.Fprintln(&b, owner)
		}
		fmt.Fprintf(&b, "%s\n\n%s\n", strings.Repeat("-", 78), strings.TrimSpace(text))
	}
	return b.Bytes()
}

package warehouse

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// bounds are the prefixes that may be written under: the locations of the tables that were loaded, and what the
// configuration names besides.
type bounds struct {
	configured []string // where tables may be; empty: anywhere
	others     []string // what is no table's

	mu       sync.RWMutex
	prefixes []string
}

func newBounds(locations, prefixes []string) (*bounds, error) {
	configured, err := folders(locations)
	if err != nil {
		return nil, err
	}
	others, err := folders(prefixes)
	return &bounds{configured: configured, others: others, prefixes: slices.Clone(others)}, err
}

func folders(locations []string) (out []string, err error) {
	for _, location := range locations {
		f, err := folder(location)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// admit takes a table's location in, unless the configuration does not let tables be there or names a prefix inside of it
// for something else.
func (b *bounds) admit(location string) error {
	folder, err := folder(location)
	if err != nil {
		return err
	}
	if len(b.configured) > 0 && !slices.ContainsFunc(b.configured, func(c string) bool { return strings.HasPrefix(folder, c) }) {
		return fmt.Errorf("its location %s is under none of the catalog's locations", location)
	}
	for _, other := range b.others {
		if strings.HasPrefix(other, folder) {
			return fmt.Errorf("%s is inside of its location %s: who cleans the table of orphan files would delete what is kept there", other, location)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Contains(b.prefixes, folder) {
		b.prefixes = append(b.prefixes, folder)
	}
	return nil
}

// check refuses an object elsewhere.
func (b *bounds) check(path string) error {
	path, err := plain(path)
	if err != nil {
		return err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	if !slices.ContainsFunc(b.prefixes, func(p string) bool { return strings.HasPrefix(path, p) }) {
		return fmt.Errorf("%s is under no table's location: it is neither written nor deleted", path)
	}
	return nil
}

// folder is an address with a slash at its end, so that s3://lake-other is not under s3://lake.
func folder(location string) (string, error) {
	path, err := plain(location)
	return strings.TrimRight(path, "/") + "/", err
}

// plain is an address under S3's own scheme; Hadoop has two more for it. S3 keeps dots as they are, others walk them.
func plain(path string) (string, error) {
	scheme, rest, ok := strings.Cut(path, "://")
	steps := strings.Split(rest, "/")
	if !ok || steps[0] == "" || scheme != "s3" && scheme != "s3a" && scheme != "s3n" {
		return "", fmt.Errorf("%q is no s3:// address", path)
	}
	if slices.Contains(steps, "..") || slices.Contains(steps, ".") {
		return "", fmt.Errorf("%q has steps of dots", path)
	}
	return "s3://" + rest, nil
}

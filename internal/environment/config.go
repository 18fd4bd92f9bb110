// Package environment makes the configuration of a function from the environment of its process, or from what that names. The
// environment is handed in; the package reads none itself.
package environment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/warehouse"
)

// Config takes the configuration from a process's environment, with the memory that Lambda gave the function. read reads the
// document where FRAZIL_CONFIG is an address.
func Config(environ []string, read func(string) ([]byte, error)) (*config.Config, error) {
	c, err := configuration(environ, read)
	if err != nil {
		return nil, err
	}
	c.Memory.Process, err = processMemory(environ)
	return c, err
}

// processMemory is in bytes; 0 where nobody says.
func processMemory(environ []string) (int64, error) {
	for _, variable := range environ {
		text, ok := strings.CutPrefix(variable, "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=")
		if !ok || text == "" {
			continue
		}
		megabytes, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return 0, errors.New("AWS_LAMBDA_FUNCTION_MEMORY_SIZE: must be a number of megabytes, as 1024")
		}
		return int64(megabytes) << 20, nil
	}
	return 0, nil
}

// configuration takes the configuration from FRAZIL_CONFIG, which is the document itself or says where it is, or from the
// six variables of the one-table case.
func configuration(environ []string, read func(string) ([]byte, error)) (*config.Config, error) {
	values := map[string]string{}
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "FRAZIL_") && name != "FRAZIL_CONFIG" && !slices.Contains(config.Variables, name) {
			return nil, fmt.Errorf("%s: there is no such variable; there are FRAZIL_CONFIG, %s", name, strings.Join(config.Variables, ", "))
		}
		values[name] = value
	}
	getenv := func(name string) string { return values[name] }
	text := getenv("FRAZIL_CONFIG")
	if text == "" {
		return config.FromVariables(getenv)
	}
	for _, name := range config.Variables {
		if getenv(name) != "" {
			return nil, fmt.Errorf("FRAZIL_CONFIG and %s are both set: one of them would be ignored", name)
		}
	}
	if isDocument(text) {
		return config.Parse([]byte(text))
	}
	document, err := read(text)
	if err != nil {
		return nil, fmt.Errorf("read the configuration that FRAZIL_CONFIG names: %w", err)
	}
	return config.Parse(document)
}

// readTime bounds the reading of a document. Lambda gives a start ten seconds.
const readTime = 8 * time.Second

// ReadDocument reads s3://BUCKET/KEY, ssm:/PARAMETER, or a file that the function ships with.
func ReadDocument(address string) ([]byte, error) {
	if !strings.HasPrefix(address, "s3://") && !strings.HasPrefix(address, "ssm:") {
		return os.ReadFile(address)
	}
	ctx, cancel := context.WithTimeout(context.Background(), readTime)
	defer cancel()
	document, err := warehouse.ReadDocument(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return document, nil
}

// isDocument tells YAML from an address: a document of frazil's has several lines, or is one map in braces. What else has
// a key is a document too, if a wrong one: reading it as a file would print it, with what secrets it may hold.
func isDocument(text string) bool {
	return strings.Contains(text, "\n") || strings.Contains(text, ": ") || strings.HasPrefix(strings.TrimSpace(text), "{")
}

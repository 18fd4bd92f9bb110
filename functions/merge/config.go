package main

import (
	"fmt"
	"strings"

	"github.com/frazil/frazil/internal/config"
)

// readConfig takes the configuration from FRAZIL_CONFIG, which is the document itself or the path of a file that
// the function ships with, or from the six variables of the one-table case.
func readConfig(getenv func(string) string, readFile func(string) ([]byte, error)) (*config.Config, error) {
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
	file, err := readFile(text)
	if err != nil {
		return nil, fmt.Errorf("read the configuration that FRAZIL_CONFIG names: %w", err)
	}
	return config.Parse(file)
}

// isDocument tells YAML from a path: a document of frazil's has several lines, or is one map in braces.
func isDocument(text string) bool {
	return strings.Contains(text, "\n") || strings.HasPrefix(strings.TrimSpace(text), "{")
}

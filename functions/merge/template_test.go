package main

import (
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/config"
	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

type template struct {
	Parameters map[string]struct {
		AllowedValues []string `yaml:"AllowedValues"`
	} `yaml:"Parameters"`
	Resources map[string]struct {
		Properties struct {
			Environment struct {
				Variables map[string]yaml.Node `yaml:"Variables"`
			} `yaml:"Environment"`
		} `yaml:"Properties"`
	} `yaml:"Resources"`
}

func templateText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func readTemplate(t *testing.T) template {
	t.Helper()
	var parsed template
	if err := yaml.Unmarshal([]byte(templateText(t)), &parsed); err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestTemplateSetsTheVariablesThatTheFunctionReads(t *testing.T) {
	t.Parallel()
	set := readTemplate(t).Resources["Merge"].Properties.Environment.Variables
	want, got := slices.Sorted(slices.Values(append([]string{"FRAZIL_CONFIG"}, config.Variables...))), slices.Sorted(maps.Keys(set))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("variables (-read by the function +set by template.yaml):\n%s", diff)
	}
}

func TestTemplateOffersTheFormatsThatWork(t *testing.T) {
	t.Parallel()
	got := readTemplate(t).Parameters["Format"].AllowedValues
	if diff := cmp.Diff(config.Formats(), got); diff != "" {
		t.Errorf("formats (-known +offered by template.yaml):\n%s", diff)
	}
}

func TestBinaryLinksNothingOfTheLocalRunner(t *testing.T) {
	t.Parallel()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-tags", "lambda.norpc", ".")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, "github.com/frazil/frazil/internal/ingest") {
		t.Fatal("the list of dependencies is not that of the function")
	}
	for prefix, reason := range map[string]string{
		"github.com/frazil/frazil/internal/local": "it is for tests and demonstrations",
		"github.com/twmb/franz-go/pkg/kfake":      "it is for tests and demonstrations",
		"github.com/compose-spec":                 "it checks a file of the repository",
		"github.com/google/go-cmp":                "it is for tests",
		"gocloud.dev":                             "it brings the clients of all clouds, 27 MB",
		"net/rpc":                                 "the tag lambda.norpc leaves it out",
	} {
		for _, dep := range deps {
			if dep == prefix || strings.HasPrefix(dep, prefix+"/") {
				t.Errorf("the function links %s: %s", dep, reason)
			}
		}
	}
}

package main_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/frazil/frazil/internal/local/stack"
	"github.com/google/go-cmp/cmp"
)

// composeProject loads compose.yaml as `docker compose config` does: schema, references, every profile.
func composeProject(t *testing.T) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{"compose.yaml"}, cli.WithProfiles([]string{"*"}), cli.WithResolvedPaths(false))
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return project
}

func TestComposePublishesThePortsOfUp(t *testing.T) {
	t.Parallel()
	published := map[string]string{}
	for name, service := range composeProject(t).Services {
		for _, p := range service.Ports {
			published[name] = p.HostIP + ":" + p.Published
		}
	}
	want := map[string]string{
		"redpanda":   stack.KafkaAddr,
		"localstack": stack.StoreAddr,
		"catalog":    stack.CatalogAddr,
		"console":    "127.0.0.1:8080",
	}
	if diff := cmp.Diff(want, published); diff != "" {
		t.Errorf("published addresses (-want +got):\n%s", diff)
	}
}

func TestComposeBrokerAdvertisesWhatItPublishes(t *testing.T) {
	t.Parallel()
	command := composeProject(t).Services["redpanda"].Command
	if want := "external://" + stack.KafkaAddr; !slices.ContainsFunc(command, func(arg string) bool {
		return strings.HasPrefix(arg, "--advertise-kafka-addr=") && strings.HasSuffix(arg, want)
	}) {
		t.Errorf("redpanda does not advertise %s: %q", want, command)
	}
}

func TestComposeHasTheBucketAndWarehouseOfUp(t *testing.T) {
	t.Parallel()
	project := composeProject(t)
	env := project.Services["catalog"].Environment
	if got := env["CATALOG_WAREHOUSE"]; got == nil || *got != stack.Warehouse {
		t.Errorf("the catalog's warehouse is not %s", stack.Warehouse)
	}
	if got := env["AWS_REGION"]; got == nil || *got != stack.Region {
		t.Errorf("the catalog's region is not %s", stack.Region)
	}
	if script := project.Configs["create-bucket"].Content; !strings.Contains(script, "mb s3://"+stack.Bucket+"\n") {
		t.Errorf("no bucket %s is made: %q", stack.Bucket, script)
	}
	check := project.Services["localstack"].HealthCheck.Test
	if !slices.ContainsFunc(check, func(s string) bool { return strings.HasSuffix(s, "--bucket "+stack.Bucket) }) {
		t.Errorf("the health check waits for another bucket than %s: %q", stack.Bucket, check)
	}
}

func TestReadmeNamesTheAddressesOfUp(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{stack.KafkaAddr, stack.StoreAddr, stack.CatalogAddr, stack.Warehouse} {
		if !strings.Contains(string(readme), want) {
			t.Errorf("README.md does not mention %s", want)
		}
	}
}

package environment_test

import (
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/environment"
	"github.com/frazil/frazil/internal/local/objects"
	"github.com/google/go-cmp/cmp"
)

const document = `
catalogs:
  main: {uri: "http://catalog.example.com:8181", warehouse: lake}
routes:
  - {topics: [orders], format: flat, table: "main:shop.orders", key: [id]}
`

// variables are the six variables that say the same as document.
func variables() map[string]string {
	return map[string]string{
		"FRAZIL_CATALOG_URI": "http://catalog.example.com:8181",
		"FRAZIL_WAREHOUSE":   "lake",
		"FRAZIL_TOPICS":      "orders",
		"FRAZIL_TABLE":       "shop.orders",
		"FRAZIL_FORMAT":      "flat",
		"FRAZIL_KEY":         "id",
	}
}

func env(values map[string]string) []string {
	out := []string{"PATH=/usr/bin", "AWS_REGION=eu-west-1"}
	for name, value := range values {
		out = append(out, name+"="+value)
	}
	return out
}

func TestConfigRefusesAVariableThatNobodyReads(t *testing.T) {
	t.Parallel()
	values := variables()
	values["FRAZIL_KEYS"] = "id"
	if _, err := environment.Config(env(values), noFiles); err == nil || !strings.Contains(err.Error(), "FRAZIL_KEYS: there is no such variable") {
		t.Errorf("got %v", err)
	}
}

func noFiles(name string) ([]byte, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func mustRead(t *testing.T, values map[string]string, readFile func(string) ([]byte, error)) *config.Config {
	t.Helper()
	c, err := environment.Config(env(values), readFile)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConfigIsTheSameAsTextAsFileAndFromVariables(t *testing.T) {
	t.Parallel()
	want := mustRead(t, map[string]string{"FRAZIL_CONFIG": document}, noFiles)
	file := func(name string) ([]byte, error) {
		if name != "config/frazil.yaml" {
			return noFiles(name)
		}
		return []byte(document), nil
	}
	oneLine := `{catalogs: {main: {uri: "http://catalog.example.com:8181", warehouse: lake}}, ` +
		`routes: [{topics: [orders], format: flat, table: "main:shop.orders", key: [id]}]}`
	for name, got := range map[string]*config.Config{
		"file":      mustRead(t, map[string]string{"FRAZIL_CONFIG": "config/frazil.yaml"}, file),
		"one line":  mustRead(t, map[string]string{"FRAZIL_CONFIG": oneLine}, noFiles),
		"variables": mustRead(t, variables(), noFiles),
	} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-text +%s):\n%s", name, name, diff)
		}
	}
}

func TestConfigBesideAVariableIsAnError(t *testing.T) {
	t.Parallel()
	for name, value := range variables() {
		_, err := environment.Config(env(map[string]string{"FRAZIL_CONFIG": document, name: value}), noFiles)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s beside FRAZIL_CONFIG: error %v, want one that names it", name, err)
		}
	}
}

func TestConfigErrorsNameWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		env  map[string]string
		want []string
	}{
		"nothing set":  {nil, []string{"FRAZIL_CATALOG_URI", "FRAZIL_TOPICS", "FRAZIL_TABLE", "FRAZIL_FORMAT"}},
		"no such file": {map[string]string{"FRAZIL_CONFIG": "frazil.yaml"}, []string{"FRAZIL_CONFIG", "frazil.yaml"}},
		"wrong variables": {
			map[string]string{"FRAZIL_CATALOG_URI": "x", "FRAZIL_TOPICS": "a,a", "FRAZIL_TABLE": "orders", "FRAZIL_FORMAT": "csv", "FRAZIL_KEY": "id,id"},
			[]string{"FRAZIL_CATALOG_URI: is not", "FRAZIL_TOPICS: names a", "FRAZIL_TABLE: must be namespace.table", "FRAZIL_FORMAT: must be", "FRAZIL_KEY: names id"},
		},
		"three mistakes": {
			map[string]string{"FRAZIL_CONFIG": strings.NewReplacer("flat", "csv", "key:", "keys:", "http:", "ftp:").Replace(document)},
			[]string{"routes[0].format", "unknown key keys", "catalogs.main.uri"},
		},
		"memory in other words":     {map[string]string{"FRAZIL_CONFIG": document, "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "2GB"}, []string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE: must be"}},
		"a document without braces": {map[string]string{"FRAZIL_CONFIG": "catalogs: p4ss"}, []string{"line 1: must be a map of keys"}},
	} {
		_, err := environment.Config(env(test.env), noFiles)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not mention %s", name, err, want)
			}
		}
	}
}

// Where S3 and Parameter Store are the environment says, so the test cannot run beside others.
func TestConfigIsReadFromS3AndParameterStore(t *testing.T) {
	store := objects.New("settings")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Amz-Target") != "AmazonSSM.GetParameter" {
			store.ServeHTTP(w, r)
			return
		}
		asked, _ := io.ReadAll(r.Body)
		if !strings.Contains(string(asked), `"Name":"/frazil/config"`) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"__type":"ParameterNotFound"}`)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"Parameter": map[string]string{"Value": document}})
	}))
	t.Cleanup(server.Close)
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": server.URL, "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "eu-west-1"} {
		t.Setenv(name, value)
	}
	put, err := http.NewRequestWithContext(t.Context(), http.MethodPut, server.URL+"/settings/merge.yaml", strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := http.DefaultClient.Do(put); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", answer, err)
	}
	want := mustRead(t, map[string]string{"FRAZIL_CONFIG": document}, noFiles)
	for _, address := range []string{"s3://settings/merge.yaml", "ssm:/frazil/config"} {
		if diff := cmp.Diff(want, mustRead(t, map[string]string{"FRAZIL_CONFIG": address}, environment.ReadDocument)); diff != "" {
			t.Errorf("%s: %s", address, diff)
		}
	}
	for address, want := range map[string]string{"s3://settings/other.yaml": "NoSuchKey", "s3://settings": "address of an object", "ssm:/frazil/other": "ParameterNotFound", "ssm:frazil": "must be s3:"} {
		if _, err := environment.Config(env(map[string]string{"FRAZIL_CONFIG": address}), environment.ReadDocument); err == nil || !strings.Contains(err.Error(), address+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want the address and %s", address, err, want)
		}
	}
}

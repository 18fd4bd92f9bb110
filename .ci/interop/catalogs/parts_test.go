package catalogs_test

import (
	"flag"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"testing"

	"github.com/frazil/frazil/.ci/interop/parts"
	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/local/objects"
)

// Where the parts are, which the Makefile installs.
var (
	fixtureJars = flag.String("fixture", "", "the folder of the jars of Apache's REST catalog and what it needs")
	nessieJar   = flag.String("nessie", "", "the jar of Nessie's server")
	java21      = flag.String("java21", "", "a java of version 21 or newer, which Nessie needs")
	weedBinary  = flag.String("weed", "", "SeaweedFS")
	motoServer  = flag.String("moto", "", "moto_server")
)

const region, accessKey, secretKey = "us-east-1", "test", "testtest"

// bucket is where the catalogs keep tables.
const bucket = "lake"

// store is the embedded object store, and its address.
func store(t *testing.T) string {
	t.Helper()
	web := httptest.NewServer(objects.New(bucket))
	t.Cleanup(web.Close)
	return web.URL
}

// start runs a program until the test ends, and waits until it answers at an address.
func start(t *testing.T, answers string, environment []string, program string, args ...string) {
	t.Helper()
	c := exec.Command(program, args...)
	c.Env = append([]string{"AWS_REGION=" + region, "AWS_ACCESS_KEY_ID=" + accessKey, "AWS_SECRET_ACCESS_KEY=" + secretKey}, environment...)
	parts.Start(t, c, parts.Answers(answers))
}

// proxied is a proxy that answers wrongly when it is told to, and its address in place of the catalog's.
func proxied(t *testing.T, uri string) (string, *catalog.Proxy) {
	t.Helper()
	at, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	path := at.Path
	at.Path = ""
	p := catalog.NewProxy(at)
	web := httptest.NewServer(p)
	t.Cleanup(web.Close)
	return web.URL + path, p
}

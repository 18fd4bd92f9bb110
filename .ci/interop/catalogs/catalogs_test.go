// Package catalogs_test has frazil commit to catalogs that nobody here wrote. The parts come from flags; a test whose part
// is missing fails.
package catalogs_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/frazil/frazil/.ci/interop/parts"
	"github.com/frazil/frazil/internal/athena"
	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/local/conformance"
	"github.com/frazil/frazil/internal/warehouse"
)

// at is the configuration of a catalog with a store.
func at(uri, warehouse, store string, auth config.Auth) config.Catalog {
	return config.Catalog{URI: uri, Warehouse: warehouse, Auth: auth, Properties: map[string]string{
		"s3.endpoint": store, "s3.region": region, "s3.access-key-id": accessKey, "s3.secret-access-key": secretKey,
	}}
}

// Apache Iceberg's own, which its clients are tested against.
func TestFixture(t *testing.T) {
	s3, port := store(t), parts.Ports(t, 1)
	uri := fmt.Sprintf("http://127.0.0.1:%d", port)
	start(t, uri+"/v1/config", []string{
		fmt.Sprint("CATALOG_REST_PORT=", port), "CATALOG_CATALOG__NAME=demo", "CATALOG_WAREHOUSE=s3://" + bucket + "/wh",
		"CATALOG_IO__IMPL=org.apache.iceberg.aws.s3.S3FileIO", "CATALOG_S3_ENDPOINT=" + s3, "CATALOG_S3_PATH__STYLE__ACCESS=true",
		"CATALOG_URI=jdbc:sqlite:" + t.TempDir() + "/catalog.db?journal_mode=WAL&busy_timeout=10000&synchronous=OFF",
		"CATALOG_JDBC_USER=u", "CATALOG_JDBC_PASSWORD=p",
	}, "java", "-Xmx256m", "-Dorg.slf4j.simpleLogger.logFile=System.out", "-cp", *fixtureJars+"/*", "org.apache.iceberg.rest.RESTCatalogServer")
	uri, p := proxied(t, uri)
	conformance.Run(t, conformance.Subject{Config: at(uri, "", s3, config.Auth{Type: "none"}), SetFault: p.SetFault})
}

// Nessie 0.99, the newest whose server can be had as a jar.
func TestNessie(t *testing.T) {
	s3, port := store(t), parts.Ports(t, 2)
	uri := fmt.Sprintf("http://127.0.0.1:%d/iceberg", port)
	start(t, uri+"/v1/config", nil, *java21, "-Xmx512m", "-Dquarkus.http.host=127.0.0.1", fmt.Sprint("-Dquarkus.http.port=", port),
		"-Dquarkus.management.host=127.0.0.1", fmt.Sprint("-Dquarkus.management.port=", port+1),
		"-Dnessie.version.store.type=IN_MEMORY", "-Dnessie.server.authentication.enabled=false", "-Dquarkus.oidc.tenant-enabled=false", "-Dquarkus.otel.sdk.disabled=true",
		"-Dnessie.catalog.default-warehouse=wh", "-Dnessie.catalog.warehouses.wh.location=s3://"+bucket+"/wh",
		"-Dnessie.catalog.service.s3.default-options.endpoint="+s3+"/", "-Dnessie.catalog.service.s3.default-options.path-style-access=true",
		"-Dnessie.catalog.service.s3.default-options.region="+region, "-Dnessie.catalog.service.s3.default-options.request-signing-enabled=false",
		"-Dnessie.catalog.service.s3.default-options.access-key=urn:nessie-secret:quarkus:keys", "-Dkeys.name="+accessKey, "-Dkeys.secret="+secretKey,
		"-jar", *nessieJar)
	uri, p := proxied(t, uri)
	known := map[string]string{
		"a requirement that does not hold is a conflict": "no snapshot of main: it is accepted",
		"of two first commits none is lost":              "the table has the rows", // which follows
		"a snapshot id is taken once":                    "it is accepted",
		"a table of version 3 is made as one":            "the version is 2",
		"snapshots stay until they are expired":          "the number of snapshots is 1",
		"main can be taken back":                         "no snapshot 1 steps back",
		"a tag and main's retention stay":                "main is now",
		"a schema can be changed":                        "400",
	}
	conformance.Run(t, conformance.Subject{Config: at(uri, "wh", s3, config.Auth{Type: "none"}), SetFault: p.SetFault, Known: known})
}

// SeaweedFS is catalog and store in one, and asks who is there: by OAuth2 or by AWS's signature.
func TestSeaweedFS(t *testing.T) {
	port := parts.Ports(t, 9)
	uri, s3 := fmt.Sprintf("http://127.0.0.1:%d", port+1), fmt.Sprintf("http://127.0.0.1:%d", port)
	args := []string{"mini", "-dir=" + t.TempDir(), "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-s3.port.lance=0", "-webdav=false", "-admin.ui=false",
		"-master.telemetry=false", "-bucket=" + bucket, "-tableBucket=lakehouse"}
	for i, name := range []string{"s3.port", "s3.port.iceberg", "s3.port.grpc", "master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port", "filer.port.grpc"} {
		args = append(args, fmt.Sprintf("-%s=%d", name, port+i))
	}
	start(t, uri+"/v1/config?warehouse=lakehouse", nil, *weedBinary, args...)
	auth := config.Auth{Type: "oauth2", Credential: accessKey + ":" + secretKey, Scope: "catalog"}
	parts.Await(t, "the table bucket of SeaweedFS", func(ctx context.Context) error {
		w, err := warehouse.Open(ctx, "main", at(uri, "lakehouse", s3, auth))
		if err == nil {
			_, err = w.Catalog().ListNamespaces(ctx, nil)
		}
		return err
	})
	t.Run("OAuth2", func(t *testing.T) {
		through, p := proxied(t, uri)
		conformance.Run(t, conformance.Subject{Config: at(through, "lakehouse", s3, auth), SetFault: p.SetFault})
	})
	t.Run("SigV4", func(t *testing.T) {
		t.Setenv("AWS_ACCESS_KEY_ID", accessKey)
		t.Setenv("AWS_SECRET_ACCESS_KEY", secretKey)
		conformance.Run(t, conformance.Subject{Config: at(uri, "lakehouse", s3, config.Auth{Type: "sigv4", Service: "s3tables", Region: region})})
	})
}

// moto plays AWS until the test ends.
func moto(t *testing.T) aws.Config {
	t.Helper()
	port := parts.Ports(t, 1)
	address := fmt.Sprintf("http://127.0.0.1:%d", port)
	start(t, address+"/moto-api/", nil, *motoServer, "-H", "127.0.0.1", "-p", fmt.Sprint(port))
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": address, "AWS_REGION": region, "AWS_ACCESS_KEY_ID": accessKey, "AWS_SECRET_ACCESS_KEY": secretKey,
	} {
		t.Setenv(name, value)
	}
	cfg, err := awsconfig.LoadDefaultConfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// An engine that shares no code with the one of package maintain's tests.
func TestAthenaOfMoto(t *testing.T) {
	cfg := moto(t)
	made := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	if _, err := made.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String(bucket)}); err != nil {
		t.Fatal(err)
	}
	c, err := athena.Open(t.Context(), config.Catalog{Auth: config.Auth{Region: region}}, config.Athena{Workgroup: "primary", Output: "s3://" + bucket + "/results/", Catalog: "AwsDataCatalog"})
	if err != nil {
		t.Fatal(err)
	}
	query, err := c.Start(t.Context(), "shop", `OPTIMIZE "shop"."orders" REWRITE DATA USING BIN_PACK`, strings.Repeat("t", 64))
	if err != nil || query == "" {
		t.Fatalf("query %q, %v", query, err)
	}
	var s athena.State
	for s.Outcome == "" && err == nil {
		s, err = c.State(t.Context(), query)
	}
	if err != nil || s.Outcome != "succeeded" || s.Running {
		t.Errorf("%+v, %v", s, err)
	}
}

// moto is Secrets Manager and the Parameter Store.
func TestSecretsOfMoto(t *testing.T) {
	cfg := moto(t)
	const document = "catalogs: {main: {uri: \"http://127.0.0.1:1\"}}\n"
	_, err := ssm.NewFromConfig(cfg).PutParameter(t.Context(), &ssm.PutParameterInput{Name: aws.String("/frazil/config"), Value: aws.String(document), Type: types.ParameterTypeSecureString})
	if err != nil {
		t.Fatal(err)
	}
	_, err = secretsmanager.NewFromConfig(cfg).CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{Name: aws.String("frazil/catalog"), SecretString: aws.String(`{"token":"let me in"}`)})
	if err != nil {
		t.Fatal(err)
	}
	text, err := warehouse.ReadDocument(t.Context(), "ssm:/frazil/config")
	if err != nil || string(text) != document {
		t.Errorf("the document in the Parameter Store: %q, %v", text, err)
	}
	for reference, want := range map[string]string{
		"secretsmanager:frazil/catalog#token": "connection refused", // it was read: nobody is there to show it to
		"secretsmanager:frazil/catalog#other": "no JSON object with a text other",
		"secretsmanager:frazil/nothing":       "ResourceNotFoundException",
		"ssm:/frazil/nothing":                 "ParameterNotFound",
	} {
		_, err := warehouse.Open(t.Context(), "main", config.Catalog{URI: "http://127.0.0.1:1", Auth: config.Auth{Type: "bearer", Token: reference}})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "let me in") {
			t.Errorf("%s: %v", reference, err)
		}
	}
}

// Package stack starts the parts that frazil needs around it, in this process: a broker, an object store and a
// catalog. They hold everything in memory and listen on the loopback interface only.
package stack

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"

	"github.com/frazil/frazil/internal/config"
	"github.com/frazil/frazil/internal/deadletter"
	"github.com/frazil/frazil/internal/local/broker"
	"github.com/frazil/frazil/internal/local/catalog"
	"github.com/frazil/frazil/internal/local/objectio"
	"github.com/frazil/frazil/internal/local/objects"
)

// The addresses of `localstack up`, which the parts of compose.yaml have too.
const (
	kafkaPort   = 19092
	KafkaAddr   = "127.0.0.1:19092"
	StoreAddr   = "127.0.0.1:4566"
	CatalogAddr = "127.0.0.1:8181"

	Bucket    = "frazil"
	Warehouse = "s3://" + Bucket + "/warehouse"

	// AccessKey, SecretKey and Region are what the parts take; they check none of them.
	AccessKey = "test"
	SecretKey = "test"
	Region    = "us-east-1"
)

// Endpoints says where the parts are.
type Endpoints struct{ Kafka, Store, Catalog string }

// Fixed are the endpoints of `localstack up` and of compose.yaml.
func Fixed() Endpoints {
	return Endpoints{Kafka: KafkaAddr, Store: "http://" + StoreAddr, Catalog: "http://" + CatalogAddr}
}

// Env is the environment in which a function finds store and credentials.
func (e Endpoints) Env() []string {
	return []string{
		"AWS_ENDPOINT_URL_S3=" + e.Store,
		"AWS_ACCESS_KEY_ID=" + AccessKey,
		"AWS_SECRET_ACCESS_KEY=" + SecretKey,
		"AWS_REGION=" + Region,
	}
}

// CatalogConfig is the catalog as a configuration names it. It says where the store is too, so that it needs no
// environment.
func (e Endpoints) CatalogConfig() config.Catalog {
	return config.Catalog{
		URI: e.Catalog, Warehouse: Warehouse, Auth: config.Auth{Type: "none"},
		Properties: map[string]string{
			"s3.endpoint": e.Store, "s3.region": Region, "s3.access-key-id": AccessKey, "s3.secret-access-key": SecretKey,
		},
	}
}

// Configure reads a document without catalogs, and gives it the catalog main.
func Configure(main config.Catalog, document string) (*config.Config, error) {
	c, err := config.Parse(fmt.Appendf(nil, "catalogs: {main: {uri: %q, warehouse: %q}}\n%s", main.URI, main.Warehouse, document))
	if err == nil {
		c.Catalogs["main"] = main // with the keys of its store, which no document may have
	}
	return c, err
}

// Stack is the running parts.
type Stack struct {
	Endpoints
	Objects *objects.Server
	Catalog *catalog.Server

	Broker  *broker.Broker // nil: there is none
	servers []*http.Server
}

// Profile is how catalog and store are not as the specifications want them, as some in production.
type Profile struct {
	Name     string
	Catalog  catalog.Profile
	KeepsAll bool // the store refuses to delete and to list
	Newest   int  // format version
}

// Profiles are those that are played, the strict one first.
var Profiles = []Profile{
	{Name: "strict", Newest: 3},
	{Name: "glue", Catalog: catalog.Glue, Newest: 3},
	{Name: "s3tables", Catalog: catalog.S3Tables, KeepsAll: true, Newest: 3},
	{Name: "nessie", Catalog: catalog.Nessie, Newest: 2},
}

// Play makes the parts behave as p.
func (s *Stack) Play(p Profile) {
	s.Catalog.SetProfile(p.Catalog)
	if p.KeepsAll {
		s.Objects.KeepAll()
	}
}

// Letters are the dead letters below a prefix of the bucket.
func (s *Stack) Letters(prefix string) (all []deadletter.Letter, err error) {
	for _, key := range s.Objects.Keys(Bucket, prefix) {
		data, _ := s.Objects.Read(Bucket, key)
		letters, err := deadletter.Decode(data)
		if err != nil {
			return nil, fmt.Errorf("dead letters %s: %w", key, err)
		}
		all = append(all, letters...)
	}
	return all, nil
}

// Start runs the parts, at free ports or, when fixed, at the addresses of Fixed.
func Start(fixed bool) (*Stack, error) {
	s := &Stack{}
	port, store, cat := 0, "", ""
	if fixed {
		port, store, cat = kafkaPort, StoreAddr, CatalogAddr
	}
	b, err := broker.Start(broker.Options{Port: port})
	if err != nil {
		return nil, err
	}
	s.Broker, s.Kafka = b, b.Addr()
	if err := s.startLake(store, cat); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// StartLake runs store and catalog alone, at free ports.
func StartLake() (*Stack, error) {
	s := &Stack{}
	if err := s.startLake("", ""); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Stack) startLake(store, catalogAddr string) (err error) {
	s.Objects = objects.New(Bucket)
	s.Catalog = catalog.New(Warehouse, objectio.New(s.Objects))
	if s.Store, err = s.serve(store, s.Objects); err != nil {
		return err
	}
	s.Endpoints.Catalog, err = s.serve(catalogAddr, s.Catalog)
	return err
}

// serve adds an HTTP server to the stack and returns its address as http://….
func (s *Stack) serve(addr string, h http.Handler) (string, error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", cmp.Or(addr, "127.0.0.1:0"))
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: h}
	s.servers = append(s.servers, server)
	go func() { _ = server.Serve(l) }() // ends by Close
	return "http://" + l.Addr().String(), nil
}

// Close ends the parts. What they held is gone.
func (s *Stack) Close() {
	for _, server := range s.servers {
		_ = server.Close()
	}
	if s.Broker != nil {
		s.Broker.Close()
	}
}

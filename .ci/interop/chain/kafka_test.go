package chain_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/frazil/frazil/.ci/interop/parts"
	"github.com/frazil/frazil/internal/local/broker"
)

// smallJava is for parts that live for minutes.
var smallJava = []string{"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"}

func java(arguments ...string) *exec.Cmd {
	return exec.Command("java", append(smallJava, arguments...)...)
}

func write(t *testing.T, path string, lines ...string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// kafka is Apache's broker, alone in its cluster.
type kafka struct {
	*parts.Part
	*broker.Client
	address, settings string
	listeners         map[string]string // their addresses
}

// listener is one that asks who is there, with its settings; one without a name has settings for all.
type listener struct {
	name, protocol string
	settings       []string
}

func startKafka(t *testing.T, more ...listener) *kafka {
	t.Helper()
	port, dir := parts.Ports(t, 2+len(more)), t.TempDir()
	k := &kafka{address: fmt.Sprintf("127.0.0.1:%d", port), settings: filepath.Join(dir, "server.properties"), listeners: map[string]string{}}
	listeners, protocols := fmt.Sprintf("listeners=PLAINTEXT://%s,CONTROLLER://127.0.0.1:%d", k.address, port+1), "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT"
	lines := []string{
		"process.roles=broker,controller", "node.id=1", fmt.Sprintf("controller.quorum.voters=1@127.0.0.1:%d", port+1), "controller.listener.names=CONTROLLER",
		"inter.broker.listener.name=PLAINTEXT", "log.dirs=" + filepath.Join(dir, "log"), "offsets.topic.num.partitions=1", "offsets.topic.replication.factor=1",
		"transaction.state.log.replication.factor=1", "transaction.state.log.min.isr=1", "group.initial.rebalance.delay.ms=0",
	}
	for i, l := range more {
		prefix := ""
		if l.name != "" {
			k.listeners[l.name] = fmt.Sprintf("127.0.0.1:%d", port+2+i)
			listeners, protocols = listeners+","+l.name+"://"+k.listeners[l.name], protocols+","+l.name+":"+l.protocol
			prefix = "listener.name." + strings.ToLower(l.name) + "."
		}
		for _, setting := range l.settings {
			lines = append(lines, prefix+setting)
		}
	}
	write(t, k.settings, append(lines, listeners, protocols)...)
	parts.Run(t, java("-cp", *brokerJars+"/*", "kafka.tools.StorageTool", "format", "-t", "4L6g3nShT-eMCtK--X86sw", "-c", k.settings))
	var err error
	if k.Client, err = broker.NewClient(k.address); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Client.Close)
	k.start(t)
	return k
}

func (k *kafka) start(t *testing.T) {
	t.Helper()
	k.Part = parts.Start(t, java("-Xmx384m", "-cp", *brokerJars+"/*", "kafka.Kafka", k.settings), k.Ping)
}

const converter = "org.apache.kafka.connect.json.JsonConverter"

// connect is a worker of Kafka Connect with Debezium's connectors.
type connect struct {
	*parts.Part
	address, settings string
}

func startConnect(t *testing.T, k *kafka) *connect {
	t.Helper()
	dir := t.TempDir()
	c := &connect{address: fmt.Sprintf("http://127.0.0.1:%d", parts.Ports(t, 1)), settings: filepath.Join(dir, "connect.properties")}
	write(t, c.settings, "bootstrap.servers="+k.address, "listeners="+c.address, "plugin.path="+*connectPlugins, "plugin.discovery=service_load",
		"offset.storage.file.filename="+filepath.Join(dir, "offsets"), "offset.flush.interval.ms=1000", "key.converter="+converter, "value.converter="+converter,
		"topic.creation.enable=true")
	c.start(t)
	return c
}

func (c *connect) start(t *testing.T) {
	t.Helper()
	c.Part = parts.Start(t, java("-Xmx640m", "-cp", *connectJars+"/*", "org.apache.kafka.connect.cli.ConnectStandalone", c.settings), parts.Answers(c.address+"/connectors"))
}

// capture runs a connector, and waits until it is running.
func (c *connect) capture(t *testing.T, name string, settings map[string]string) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"name": name, "config": settings})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.Post(c.address+"/connectors", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusCreated && answer.StatusCode != http.StatusConflict { // a worker in its first seconds
		t.Fatalf("connector %s: %s: %s", name, answer.Status, text)
	}
	parts.Await(t, "connector "+name, func(context.Context) error { return c.runs(t, name) })
}

func (c *connect) runs(t *testing.T, name string) error {
	t.Helper()
	answer, err := http.Get(c.address + "/connectors/" + name + "/status")
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	var status struct {
		Tasks []struct{ State, Trace string }
	}
	if err := json.NewDecoder(answer.Body).Decode(&status); err != nil {
		return err
	}
	switch {
	case len(status.Tasks) == 1 && status.Tasks[0].State == "RUNNING":
		return nil
	case len(status.Tasks) == 1 && status.Tasks[0].State == "FAILED":
		t.Fatalf("connector %s: %s", name, status.Tasks[0].Trace)
	}
	return fmt.Errorf("its tasks are %v", status.Tasks)
}

//go:build cluster

package cluster

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// credentialKeys are the keys that all workers and gateways share.
const credentialKeys = "k1:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// chain is the cluster: agent a with several workers and gateways, and the agents b and c, to
// which it delegates.
type chain struct {
	t         *testing.T
	db        *database
	redis     *process
	url       string // of agent a, through the proxy
	web       string // of the page of agent a
	places    map[string]string
	journal   string                          // URL of one more tool server of the agents a and c; "" for none
	edit      func(text string) string        // changes the configuration of agent a; nil for nothing
	between   func(http.Handler) http.Handler // in the proxy; nil for nothing
	processes []*process
	workers   []*process // of agent a
	gateways  []string   // of agent a
}

// Numbers of processes of agent a, at the start.
const (
	gatewaysOfA = 2
	workersOfA  = 2
)

// startChain starts everything and returns when agent a is ready.
func startChain(t *testing.T) *chain {
	t.Helper()
	c := &chain{t: t, places: map[string]string{}}
	c.begin(startPostgres(t))
	return c
}

// begin starts everything on a database.
func (c *chain) begin(db *database) {
	c.t.Helper()
	c.startShared(db)
	for _, name := range []string{"b", "c"} {
		port := freePort(c.t)
		c.place("gateway-"+name+":8080", port)
		c.startWorker(name, 0)
		c.startGateway(name, 0, port)
	}
	c.startA()
	c.startWeb()
}

// startShared starts what all agents share, on a database.
func (c *chain) startShared(db *database) {
	c.t.Helper()
	c.db = db
	redis, port := startRedis(c.t)
	c.place("redis:6379", port)
	c.redis = redis
	c.processes = append(c.processes, c.db.process, redis)
	c.startTemporal()
	c.startToolServers()
}

// startA starts agent a, and returns when it is ready.
func (c *chain) startA() {
	t := c.t
	t.Helper()
	for i := range gatewaysOfA {
		port := freePort(t)
		c.gateways = append(c.gateways, fmt.Sprintf("http://127.0.0.1:%d", port))
		c.startGateway("a", i, port)
	}
	for i := range workersOfA {
		c.startWorkerOfA(i)
	}
	c.url = startProxy(t, c.gateways, c.between)
	for _, gateway := range c.gateways {
		answers(t, gateway+"/health/ready")
	}
}

// place says where a service of compose.yaml is on this machine.
func (c *chain) place(service string, port int) {
	c.places[service] = fmt.Sprintf("127.0.0.1:%d", port)
}

// program is a program that was built for the cluster. Its secrets are in files, as in
// compose.yaml.
func program(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	keys := filepath.Join(t.TempDir(), "credential-keys")
	if err := os.WriteFile(keys, []byte(credentialKeys+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(os.Getenv("CLUSTER_BIN"), name), args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LOG_FORMAT=text", "AGENT_CREDENTIAL_KEYS_FILE=" + keys, "PGPASSWORD_FILE=" + passwordFile(t)}
	return cmd
}

func (c *chain) start(name string, cmd *exec.Cmd) *process {
	c.t.Helper()
	p := start(c.t, name, cmd)
	c.processes = append(c.processes, p)
	return p
}

func (c *chain) startTemporal() {
	c.t.Helper()
	port, ui := freePort(c.t), freePort(c.t)
	c.place("temporal:7233", port)
	c.start("temporal", program(c.t, "agent", "temporal", "--db", c.db.url("temporal"), "--port", strconv.Itoa(port), "--ui-port", strconv.Itoa(ui)))
	answers(c.t, fmt.Sprintf("http://127.0.0.1:%d/healthz", ui))
}

func (c *chain) startToolServers() {
	c.t.Helper()
	port := freePort(c.t)
	c.place("mcp-resources:8090", port)
	c.start("mcp-resources", program(c.t, "mcp-resources", "--port", strconv.Itoa(port), "--db", filepath.Join(c.data("resources"), "resources.db")))
	answers(c.t, fmt.Sprintf("http://127.0.0.1:%d/health", port))

	port = freePort(c.t)
	c.place("mcp-filesystem:8091", port)
	files := c.t.TempDir()
	if err := os.WriteFile(filepath.Join(files, "note.txt"), []byte("a line to find\n"), 0o600); err != nil {
		c.t.Fatal(err)
	}
	c.start("mcp-filesystem", program(c.t, "mcp-filesystem", "--config", c.file("filesystem.yaml", files, 0), "--port", strconv.Itoa(port)))
	answers(c.t, fmt.Sprintf("http://127.0.0.1:%d/health", port))
}

func (c *chain) startWorker(agent string, i int) *process {
	c.t.Helper()
	return c.start(fmt.Sprintf("worker-%s-%d", agent, i), program(c.t, "worker", "--config", c.file("agent-"+agent+".yaml", c.data(agent), 0)))
}

func (c *chain) startWorkerOfA(i int) { c.workers = append(c.workers, c.startWorker("a", i)) }

func (c *chain) startGateway(agent string, i, port int) *process {
	c.t.Helper()
	return c.start(fmt.Sprintf("gateway-%s-%d", agent, i), program(c.t, "gateway", "--config", c.file("agent-"+agent+".yaml", c.data(agent), port)))
}

// startWeb starts the page of agent a alone, which calls the gateways through the proxy.
func (c *chain) startWeb() {
	c.t.Helper()
	port := freePort(c.t)
	c.places["gateway-a:8080"] = strings.TrimPrefix(c.url, "http://")
	c.start("web", program(c.t, "web", "--config", c.file("web.yaml", c.data("web"), port)))
	c.web = fmt.Sprintf("http://127.0.0.1:%d", port)
	answers(c.t, c.web+"/health/ready")
}

// data is the data directory of an agent, which its workers and gateways share.
func (c *chain) data(agent string) string {
	c.t.Helper()
	dir, known := c.places["data of "+agent]
	if !known {
		dir = c.t.TempDir()
		c.places["data of "+agent] = dir
	}
	return dir
}

var (
	listens = regexp.MustCompile(`(?m)^host: 0\.0\.0\.0$`)
	ports   = regexp.MustCompile(`(?m)^port: .*\n`)
)

// file copies a configuration of deploy/compose: the services are on this machine, and /data is
// a folder of the test.
func (c *chain) file(name, data string, port int) string {
	c.t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "compose", name))
	if err != nil {
		c.t.Fatal(err)
	}
	text := strings.ReplaceAll(string(raw), "/data", data)
	for service, address := range c.places {
		text = strings.ReplaceAll(text, service, address)
	}
	if c.journal != "" && (name == "agent-a.yaml" || name == "agent-c.yaml") {
		text = strings.Replace(text, "mcp_servers:\n", fmt.Sprintf("mcp_servers:\n  - {name: journal, url: %q}\n", c.journal), 1)
	}
	if c.edit != nil && name == "agent-a.yaml" {
		text = c.edit(text)
	}
	host := "host: 127.0.0.1"
	if port != 0 {
		text = ports.ReplaceAllString(text, "")
		host += fmt.Sprintf("\nport: %d", port)
	}
	file := filepath.Join(c.t.TempDir(), name)
	if err := os.WriteFile(file, []byte(listens.ReplaceAllString(text, host)), 0o600); err != nil {
		c.t.Fatal(err)
	}
	return file
}

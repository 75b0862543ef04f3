//go:build cluster

package cluster

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Both databases are dumped while the Temporal server is stopped, are lost and restored as
// CLUSTER.md says. What waited goes on, and nothing destructive runs before somebody resumes.
func TestBothDatabasesAreRestored(t *testing.T) {
	c := startChain(t)
	client := &talk{url: c.gateways[0], client: http.DefaultClient}
	waiting, err := client.say("add a resource named quince with value 9")
	if err != nil || !waiting.Result.WaitingApproval {
		t.Fatalf("nothing waits: %+v, %v", waiting, err)
	}
	temporal := c.named("temporal")
	temporal.end(t, syscall.SIGTERM)
	dir := t.TempDir()
	for _, name := range []string{"temporal", "temporal_visibility"} {
		file := filepath.Join(dir, name+".dump")
		c.db.tool(t, "pg_dump", "--format=custom", "--file="+file, c.db.url(name))
	}

	for _, w := range c.processes {
		if strings.HasPrefix(w.name, "worker-") {
			w.end(t, syscall.SIGTERM)
		}
	}
	for _, name := range []string{"temporal", "temporal_visibility"} {
		if _, err := c.db.psql("postgres", "-c", "DROP DATABASE "+name); err != nil {
			t.Fatal(err)
		}
		c.db.tool(t, "pg_restore", "--create", "--exit-on-error", "--dbname="+c.db.url("postgres"), filepath.Join(dir, name+".dump"))
	}
	temporal.again(t)

	// A worker for the switches alone, before the others.
	file := filepath.Join(dir, "switches.yaml")
	text := fmt.Sprintf("name: switches\nllm: {model: \"demo:rules\"}\ndata_dir: %s\ntemporal: {address: %q, task_queue: switches}\n", dir, c.places["temporal:7233"])
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	spare := c.start("switches", program(t, "worker", "--config", file))
	client.control(t, "pause")
	for _, w := range c.processes {
		if strings.HasPrefix(w.name, "worker-") {
			w.again(t)
		}
	}
	spare.end(t, syscall.SIGTERM)
	client.approveOnce(t, waiting.Result.Approval.UUID)
	eventually(t, "the call is held", func() error { return client.held() })
	client.control(t, "resume")
	eventually(t, "the call has run", func() error { return client.ask("list the resources", "quince") })
}

// named is a process of the cluster.
func (c *chain) named(name string) *process {
	c.t.Helper()
	for _, p := range c.processes {
		if p.name == name {
			return p
		}
	}
	c.t.Fatalf("no process is called %s", name)
	return nil
}

// tool runs a program of PostgreSQL.
func (d *database) tool(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(d.programs, name), append([]string{"--no-password"}, args...)...)
	cmd.Env = append(os.Environ(), "PGPASSWORD="+password)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

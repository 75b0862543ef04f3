//go:build cluster

package cluster

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"
)

var (
	loadTime    = flag.Duration("load", 10*time.Second, "how long each kind of turn is measured")
	loadClients = flag.Int("clients", 24, "conversations at the same time")
)

// kind is a kind of turn.
type kind struct {
	name string
	turn func(c *talk) error
}

var kinds = []kind{
	{"model, tool, model", func(c *talk) error { return c.ask("call resources_list pattern=nothing", `"count": 0`) }},
	{"the same with an approval", func(c *talk) error { return c.approve("add a resource named apple with value 42", "apple") }},
	{"delegated to agent c", func(c *talk) error { return c.ask("ask c: call resources_list pattern=nothing", `"count": 0`) }},
}

// load is what one kind of turn did with some workers.
type load struct {
	workers int
	kind    string
	turns   int
	took    time.Duration
	times   []time.Duration
	cpu     map[string]time.Duration // by role
	idle    float64                  // part of the processors that nobody used
}

// How many turns the chain makes with 1, 2 and 4 workers of agent a, and what they cost. The
// table is printed, and written to CLUSTER_TABLE if that is set.
func TestWhatEndsFirst(t *testing.T) {
	c := startChain(t)
	for _, p := range c.workers[1:] {
		p.end(t, syscall.SIGTERM)
	}
	c.workers = c.workers[:1]
	clients := make([]*talk, *loadClients)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = len(clients)
	for i := range clients {
		clients[i] = &talk{url: c.url, client: &http.Client{Transport: transport}}
	}
	var loads []load
	for _, workers := range []int{1, 2, 4} {
		for len(c.workers) < workers {
			c.startWorkerOfA(len(c.workers))
		}
		for _, k := range kinds {
			warm(t, clients, k)
			loads = append(loads, c.measure(k, clients, workers))
		}
	}
	text := table(loads) + memory(c)
	fmt.Print(text)
	if file := os.Getenv("CLUSTER_TABLE"); file != "" {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Error(err)
		}
	}
}

// warm starts a conversation of each client, so that caches and connections are there, and
// none is longer than those of another kind.
func warm(t *testing.T, clients []*talk, k kind) {
	t.Helper()
	var group sync.WaitGroup
	for _, client := range clients {
		group.Go(func() {
			client.id = ""
			if err := k.turn(client); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

func (c *chain) measure(k kind, clients []*talk, workers int) load {
	c.t.Helper()
	l := load{workers: workers, kind: k.name}
	before, idleBefore := c.cpu(), idleTime(c.t)
	var mu sync.Mutex
	var group sync.WaitGroup
	began := time.Now()
	for _, client := range clients {
		group.Go(func() {
			for time.Since(began) < *loadTime {
				start := time.Now()
				err := k.turn(client)
				mu.Lock()
				if l.times = append(l.times, time.Since(start)); err != nil {
					c.t.Error(err)
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	l.took, l.turns = time.Since(began), len(l.times)
	l.idle = float64(idleTime(c.t)-idleBefore) / float64(l.took) / float64(runtime.NumCPU())
	l.cpu = c.cpu()
	for role := range l.cpu {
		l.cpu[role] -= before[role]
	}
	return l
}

// roles are the columns of the table, in their order. Processes with the prefix belong to it.
var roles = []struct{ title, prefix string }{
	{"postgres", "postgres"}, {"temporal", "temporal"}, {"workers of a", "worker-a"}, {"gateways of a", "gateway-a"},
	{"b and c", ""}, {"tools", "mcp-"}, {"redis", "redis"}, {"web", "web"},
}

func roleOf(name string) string {
	for _, r := range roles {
		if r.prefix != "" && strings.HasPrefix(name, r.prefix) {
			return r.title
		}
	}
	return "b and c"
}

// cpu is what all processes used up to now, by role.
func (c *chain) cpu() map[string]time.Duration {
	sum := map[string]time.Duration{}
	for _, p := range c.processes {
		select {
		case <-p.done: // it has no figures any more, and does nothing
		default:
			sum[roleOf(p.name)] += p.usage(c.t).cpu
		}
	}
	return sum
}

// idleTime is how long the processors did nothing since the machine started.
func idleTime(t *testing.T) time.Duration {
	t.Helper()
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text)) // cpu, user, nice, system, idle, iowait
	var ticks int64
	for _, field := range fields[4:6] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / clockTicks
}

func table(loads []load) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d conversations at the same time, %d processors for all processes together; milliseconds of a processor for a turn\n\n", *loadClients, runtime.NumCPU())
	w := tabwriter.NewWriter(&b, 0, 0, 1, ' ', 0)
	fmt.Fprint(w, "| workers of a\t| turn\t| turns/s\t| median\t| p95\t| CPU per turn")
	for _, r := range roles {
		fmt.Fprintf(w, "\t| %s", r.title)
	}
	fmt.Fprintf(w, "\t| idle\t|\n%s|\n", strings.Repeat("|---\t", 7+len(roles)))
	for _, l := range loads {
		slices.Sort(l.times)
		var all time.Duration
		for _, used := range l.cpu {
			all += used
		}
		fmt.Fprintf(w, "| %d\t| %s\t| %.0f\t| %d ms\t| %d ms\t| %.1f", l.workers, l.kind, float64(l.turns)/l.took.Seconds(),
			l.times[len(l.times)/2].Milliseconds(), l.times[len(l.times)*95/100].Milliseconds(), l.perTurn(all))
		for _, r := range roles {
			fmt.Fprintf(w, "\t| %.1f", l.perTurn(l.cpu[r.title]))
		}
		fmt.Fprintf(w, "\t| %.0f %%\t|\n", 100*l.idle)
	}
	_ = w.Flush() // into memory
	return b.String()
}

func (l load) perTurn(used time.Duration) float64 {
	return float64(used.Microseconds()) / 1000 / float64(l.turns)
}

// memory lists the resident memory of every process at the end.
func memory(c *chain) string {
	var parts []string
	for _, p := range c.processes {
		select {
		case <-p.done:
		default:
			parts = append(parts, fmt.Sprintf("%s %d", p.name, p.usage(c.t).rss>>20))
		}
	}
	return "\nMemory at the end, in MiB (PostgreSQL's shared pages count once for each of its processes): " + strings.Join(parts, ", ") + "\n"
}

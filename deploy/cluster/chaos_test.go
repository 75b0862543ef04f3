//go:build cluster

package cluster

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/resources"
)

// For manual runs: make cluster-chaos CHAOS=3m SEED=(the seed of a failed run).
var (
	chaosTime  = flag.Duration("chaos", 20*time.Second, "how long processes are killed")
	chaosSeed  = flag.Uint64("seed", 0, "of the chaos; 0 is a new one")
	chaosUsers = flag.Int("users", 8, "users at the same time")
	chaosFault = flag.String("fault", "", "something that goes wrong on purpose, and must be found: twice, forget or drop")
)

// round is the time in which one process of each kind is killed.
const round = 10 * time.Second

// patience is how long a user waits for an answer.
const patience = 2 * time.Minute

// chaos is the cluster with its users, while its processes are killed.
type chaos struct {
	*chain
	seed    uint64
	fault   fault
	journal *journal
	end     time.Time

	mu       sync.Mutex
	visitors []*visitor
	kills    map[string]int
}

// While one process of each kind is killed every ten seconds, PostgreSQL crashes once and Redis
// is gone for a third of the time, every accepted message is answered once, and every approved
// call runs once or is reported as unknown.
func TestTheClusterSurvives(t *testing.T) {
	c := &chaos{chain: &chain{t: t, places: map[string]string{}}, seed: *chaosSeed, kills: map[string]int{}}
	if c.seed == 0 {
		c.seed = rand.Uint64()
	}
	t.Logf("SEED=%d", c.seed)
	c.fault = fault(*chaosFault)
	c.fault.check(t)
	c.journal = startJournal(t, c.fault)
	c.chain.journal, c.between = c.journal.url, c.fault.proxy()
	c.begin(startPostgres(t))
	c.end = time.Now().Add(*chaosTime)
	var crowd sync.WaitGroup
	for n := range *chaosUsers {
		crowd.Go(func() {
			r := rand.New(rand.NewPCG(c.seed, uint64(n)))
			for i := 0; time.Now().Before(c.end); i++ {
				c.visit(r, fmt.Sprintf("v%d-%d", n, i))
			}
		})
	}
	c.rage(rand.New(rand.NewPCG(c.seed, 1000)))
	crowd.Wait()
	c.judge()
}

// rage kills until the end.
func (c *chaos) rage(r *rand.Rand) {
	began := time.Now()
	plan := c.misfortunes(r)
	for _, m := range plan {
		time.Sleep(time.Until(began.Add(m.at)))
		m.do()
	}
	time.Sleep(time.Until(c.end))
}

// misfortune is what happens at some time of the chaos.
type misfortune struct {
	at time.Duration
	do func()
}

// misfortunes are the kills of all rounds, the crash of PostgreSQL and the absence of Redis, in
// their order.
func (c *chaos) misfortunes(r *rand.Rand) (out []misfortune) {
	add := func(at time.Duration, do func()) { out = append(out, misfortune{at, do}) }
	kinds := c.kinds()
	for from := time.Duration(0); from < *chaosTime; from += round {
		for _, kind := range kinds {
			add(from+time.Duration(r.Int64N(int64(min(round, *chaosTime-from)))), func() { c.kill(kind[r.IntN(len(kind))]) })
		}
	}
	add(*chaosTime/3, func() { c.redis.end(c.t, syscall.SIGKILL); c.count("redis") })
	add(*chaosTime/2, func() {
		c.db.end(c.t, syscall.SIGQUIT) // it ends as if it had crashed
		c.db.start(c.t)
		c.fault.forget(c.t, c.db)
		c.count("postgres")
	})
	add(*chaosTime*2/3, func() { c.redis.again(c.t) })
	slices.SortStableFunc(out, func(a, b misfortune) int { return int(a.at - b.at) })
	return out
}

// kinds are the processes of which one is killed in each round.
func (c *chaos) kinds() (out [][]*process) {
	for _, names := range [][]string{{"worker-a-"}, {"gateway-a-"}, {"worker-b-", "worker-c-"}, {"gateway-b-", "gateway-c-"}, {"mcp-"}, {"temporal"}, {"web"}} {
		var kind []*process
		for _, p := range c.processes {
			if slices.ContainsFunc(names, func(prefix string) bool { return strings.HasPrefix(p.name, prefix) }) {
				kind = append(kind, p)
			}
		}
		out = append(out, kind)
	}
	return out
}

// kill kills a process and starts it again.
func (c *chaos) kill(p *process) {
	p.end(c.t, syscall.SIGKILL)
	p.again(c.t)
	name, _, _ := strings.Cut(p.name, "-")
	c.count(name)
}

func (c *chaos) count(name string) { c.kills[name]++ }

// judge compares what users asked and decided with the transcripts and with what ran.
func (c *chaos) judge() {
	c.t.Helper()
	ran := c.rows()
	var sum tally
	for _, v := range c.visitors {
		sum.add(v.judge(func(m *message) int { return c.journal.of(m.name) + ran[m.name] }))
	}
	sum.report(c.t, c.kills)
	c.unsettled()
}

// rows counts the rows of the tool server mcp-resources by their names.
func (c *chaos) rows() map[string]int {
	c.t.Helper()
	store, err := resources.Open(c.t.Context(), filepath.Join(c.data("resources"), "resources.db"))
	if err != nil {
		c.t.Fatal(err)
	}
	defer store.Close()
	all, err := store.List(c.t.Context(), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	out := map[string]int{}
	for _, row := range all.Resources {
		out[row.Name]++
	}
	return out
}

// unsettled reports workflows that failed, and approvals that are still open although users
// answered all of theirs. The list is written after the histories, so the end of an approval may not be in
// it yet.
func (c *chaos) unsettled() {
	c.t.Helper()
	eventually(c.t, "no approval waits", func() error { return c.noWorkflow("status = 1 AND workflow_type_name = 'Approval'") })
	if err := c.noWorkflow("status NOT IN (1, 2, 6)"); err != nil { // running, completed, continued as new
		c.t.Errorf("a workflow failed: %v", err)
	}
}

// noWorkflow returns an error that names the workflows that a condition holds for.
func (c *chaos) noWorkflow(condition string) error {
	rows, err := c.db.psql("temporal_visibility", "-c", "SELECT workflow_id, status, search_attributes FROM executions_visibility WHERE "+condition)
	if err == nil && rows != "" {
		err = errors.New(rows)
	}
	return err
}

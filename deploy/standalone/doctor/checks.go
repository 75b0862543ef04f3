package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/config/connect"
	"agent-stop-and-go/gateway/client"
)

// checkFile returns the configuration, or nil if the file has mistakes.
func (x *examination) checkFile() *config.Config {
	c, err := config.Load(x.File)
	if err != nil {
		x.problem("file", err.Error(), "correct it, or name another file with --config; config/README.md describes every key")
		return nil
	}
	x.ok("file", fmt.Sprintf("%s: the agent %s", x.File, c.Name))
	for _, w := range c.Warnings() {
		x.note("file", w, "")
	}
	return c
}

// checkEnvironment looks for keys and variables that the file needs.
func (x *examination) checkEnvironment(c *config.Config) {
	problems := c.Problems(x.Getenv)
	for _, p := range problems {
		x.problem("environment", p.Error(), "")
	}
	if len(problems) == 0 {
		x.ok("environment", "every key and variable is set that the file needs; the model is "+c.Model())
	}
}

// checkAgent asks the running agent. It reports whether one answers.
func (x *examination) checkAgent(ctx context.Context, c *config.Config) bool {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	agent, err := x.Client(c)
	if err != nil {
		x.problem("agent", err.Error(), "")
		return true
	}
	ready, err := agent.Ready(ctx)
	var unreachable *client.Unreachable
	switch {
	case errors.As(err, &unreachable):
		x.note("agent", err.Error(), "start it: agent run --config "+x.File+"; or name another with --url")
		return false
	case err != nil:
		x.problem("agent", err.Error(), "is it an agent that listens at "+agent.URL()+"?")
		return true
	}
	x.reportReady(agent, ready)
	x.reportModel(ctx, agent)
	x.reportSwitches(ctx, agent)
	return true
}

func (x *examination) reportReady(agent *client.Client, r client.Readiness) {
	if len(r.Problems) == 0 {
		x.ok("agent", fmt.Sprintf("ready at %s, version %s", agent.URL(), cmp.Or(r.Version, "unknown")))
		x.ok("Temporal", "it answers, and so does a worker")
	}
	for _, p := range r.Problems {
		x.problem("agent", p, "")
	}
	for _, n := range r.Notes {
		x.note("agent", n, "")
	}
	for _, s := range r.Servers {
		switch part := "tool server " + s.Name; {
		case s.Ready:
			x.ok(part, fmt.Sprintf("%d tools", s.Tools))
		case s.Optional:
			x.note(part, s.Error, "the agent runs without it")
		default:
			x.problem(part, s.Error, "")
		}
	}
	if e := r.Events; e != nil && e.Problem != "" {
		x.note("events", e.Problem, "readers get whole messages until it is mended")
	}
}

// reportModel says which model answers, which may be another than the file has.
func (x *examination) reportModel(ctx context.Context, agent *client.Client) {
	offer, err := agent.Offer(ctx)
	if err != nil {
		return // readiness has the reason
	}
	if offer.Model.Note != "" {
		x.note("model", offer.Model.Name+": "+offer.Model.Note, "")
		return
	}
	x.ok("model", offer.Model.Name)
}

// reportSwitches says which destructive calls are paused.
func (x *examination) reportSwitches(ctx context.Context, agent *client.Client) {
	list, err := agent.Switches(ctx)
	if err != nil {
		return // an older agent, or one that a caller without a key may not ask
	}
	for _, s := range list.Switches {
		what := strings.ReplaceAll(s.What, ":", " ")
		x.note("switches", strings.TrimRight("destructive calls are paused for "+s.InWords+": "+s.Reason, ": "), "agent resume "+what)
	}
}

// checkTemporal looks whether the Temporal server of the file can be reached.
func (x *examination) checkTemporal(ctx context.Context, c *config.Config) {
	address := cmp.Or(x.Getenv(connect.AddressVariable), c.Temporal.Address)
	if address == "" {
		x.ok("Temporal", "the agent starts its own")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		x.problem("Temporal", err.Error(), "start it, or correct TEMPORAL_ADDRESS or temporal.address; without either the agent starts its own")
		return
	}
	_ = conn.Close()
	x.ok("Temporal", address+" accepts connections")
}

// checkStore looks whether the object store of the file can be used.
func (x *examination) checkStore(ctx context.Context, c *config.Config) {
	u, err := url.Parse(c.BlobURL())
	if err != nil || !blobstore.IsObjectStore(u.Scheme) {
		return
	}
	s, err := blobstore.Open(ctx, c.BlobURL())
	if err != nil {
		x.problem("blob store", err.Error(), "correct blobs.url, or the environment with its credentials; deploy/STORES.md describes both")
		return
	}
	x.ok("blob store", u.Redacted()+" can be read, written and listed")
	if err := s.Close(); err != nil {
		x.note("blob store", err.Error(), "")
	}
}

// checkServers starts and asks the tool servers, as agent validate --connect does.
func (x *examination) checkServers(ctx context.Context, c *config.Config) {
	if len(c.MCPServers) == 0 {
		return
	}
	problems, err := x.Connect(ctx, c)
	if err != nil {
		x.problem("tool servers", err.Error(), "")
		return
	}
	for _, p := range problems {
		x.problem("tool servers", p, "start it, or correct its url, command or headers in mcp_servers")
	}
	if len(problems) == 0 {
		x.ok("tool servers", "all of them answer")
	}
}

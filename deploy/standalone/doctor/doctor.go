package doctor

import (
	"context"
	"net/http"
	"time"

	"agent-stop-and-go/config"
	"agent-stop-and-go/gateway/client"
	"agent-stop-and-go/workflows/contract/audit"
)

// State is how a part is.
type State string

// The states of parts.
const (
	OK      State = "ok"
	Note    State = "note"    // worth knowing
	Problem State = "problem" // something does not work
)

// Finding is what was found out about a part.
type Finding struct {
	State State `json:"state"`
	// Part is what was examined, such as "model" or "tool server files".
	Part string `json:"part"`
	Text string `json:"text"`
	// Advice says what to do about a problem.
	Advice string `json:"advice,omitempty"`
}

// Patient is the agent to examine.
type Patient struct {
	// File is the file of the agent.
	File   string
	Getenv func(string) string
	// Client returns a client of the agent that should run with a file.
	Client func(*config.Config) (*client.Client, error)
	// Connect starts and asks the tool servers of a file, when no agent runs with it. It
	// returns a line for each that does not answer.
	Connect func(context.Context, *config.Config) ([]string, error)
	// Audit asks the agent that runs with a file what it knows of its audit log.
	Audit func(context.Context, *config.Config) (audit.View, error)
	// HTTP asks other agents for their cards.
	HTTP http.RoundTripper
}

// timeout bounds each question to another process.
const timeout = 15 * time.Second

// Examine returns the findings, the file first.
func Examine(ctx context.Context, p Patient) []Finding {
	x := &examination{Patient: p}
	c := x.checkFile()
	if c == nil {
		return x.findings
	}
	x.checkEnvironment(c)
	if x.checkAgent(ctx, c) {
		x.checkAudit(ctx, c)
	} else {
		x.checkTemporal(ctx, c)
		x.checkServers(ctx, c)
	}
	x.checkStore(ctx, c)
	x.checkPeers(ctx, c)
	return x.findings
}

// examination collects findings.
type examination struct {
	Patient
	findings []Finding
}

func (x *examination) ok(part, text string) { x.add(OK, part, text, "") }

func (x *examination) note(part, text, advice string) { x.add(Note, part, text, advice) }

func (x *examination) problem(part, text, advice string) { x.add(Problem, part, text, advice) }

func (x *examination) add(s State, part, text, advice string) {
	x.findings = append(x.findings, Finding{s, part, text, advice})
}

package e2e_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest"
	"agent-stop-and-go/config"
	"agent-stop-and-go/config/keyring"
	"agent-stop-and-go/deploy/standalone/process"
)

// home is the environment of an agent: a folder, a configuration, a model and a tool server
// that outlive it.
type home struct {
	t      *testing.T
	dir    string
	tools  *tools
	model  *llmtest.Server
	ports  ports
	name   string            // name of the agent
	file   string            // name of the YAML file
	queue  string            // task queue
	server string            // address of a Temporal server that is not the agent's own
	llm    string            // the setting llm, as YAML
	prompt string            // the setting prompt, as YAML
	extra  string            // more YAML
	cache  int               // workflows kept in memory, if not the default
	served string            // lines of YAML for further tool servers
	more   map[string]string // further environment variables
	also   []string          // further tool servers, as YAML
	getenv func(string) string
	now    func() time.Time // the clock for tokens of callers, if not the system's
}

type ports struct{ api, grpc int }

func newHome(t *testing.T) *home {
	t.Helper()
	h := &home{t: t, dir: t.TempDir(), file: "agent.yaml", queue: newQueue(), tools: newTools(t), model: llmtest.NewServer()}
	t.Cleanup(h.model.Close)
	h.model.Always(obedient)
	h.ports = ports{freePort(t), freePort(t)}
	h.getenv = func(name string) string { return cmp.Or(h.env()[name], os.Getenv(name)) }
	return h
}

func (h *home) env() map[string]string {
	env := map[string]string{"OPENAI_API_KEY": canaryKey, "OPENAI_BASE_URL": h.model.URL(), "LOG_LEVEL": "debug", "LOG_FORMAT": "text"}
	maps.Copy(env, h.more)
	return env
}

func (h *home) environ() []string {
	var out []string
	for k, v := range h.env() {
		out = append(out, k+"="+v)
	}
	return out
}

const canaryKey = "sk-canary-key-5f1d"

// configFile writes the YAML file and returns its path.
func (h *home) configFile() string {
	h.t.Helper()
	text := fmt.Sprintf(`name: %s
prompt: %s
host: 127.0.0.1
%sport: %d
data_dir: %s
llm: %s
mcp_servers:
  - {name: counting, url: %q}
%stemporal: {port: %d, ui_port: 0, task_queue: %s, address: %q, cache_size: %d}
%s`, cmp.Or(h.name, "tester"), cmp.Or(h.prompt, "You test things."), h.patience(), h.ports.api, filepath.Join(h.dir, "data"), cmp.Or(h.llm, `{model: "openai:test-model"}`), h.tools.URL, h.alsoYAML()+h.served, h.ports.grpc, h.queue, h.server, cmp.Or(h.cache, config.Default().Temporal.CacheSize), h.extra)
	path := filepath.Join(h.dir, h.file)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
	return path
}

// patience returns a line of YAML with a request timeout that suffices for a busy machine,
// unless the test sets a timeout.
func (h *home) patience() string {
	if strings.Contains(h.extra, "request_timeout") {
		return ""
	}
	return fmt.Sprintf("request_timeout: %s\n", patience)
}

func (h *home) alsoYAML() (text string) {
	for _, server := range h.also {
		text += "  - " + server + "\n"
	}
	return text
}

// inside runs the agent in the test's process, with the server that tests share unless the home
// has its own.
func (h *home) inside() (*api, *process.Process) {
	h.t.Helper()
	if h.server == "" {
		h.serveAt(sharedServer(h.t))
	}
	return h.whole()
}

// serveAt makes the home's processes clients of a Temporal server.
func (h *home) serveAt(address string) {
	h.server = address
	if h.more == nil {
		h.more = map[string]string{}
	}
	h.more[keyring.Variable] = sealingKey
}

// queues numbers the task queues of this run. Everything that agents at one server must not
// share depends on their queue.
var queues atomic.Int32

func newQueue() string { return fmt.Sprintf("tester-%d", queues.Add(1)) }

// whole runs the agent with its Temporal server in the test's process. It starts no server if
// the home has its own.
func (h *home) whole() (*api, *process.Process) {
	h.t.Helper()
	c, err := config.Load(h.configFile())
	if err != nil {
		h.t.Fatal(err)
	}
	log := &syncBuffer{}
	p, err := process.Start(context.Background(), c, process.Options{
		Getenv: h.getenv, Logger: slog.New(slog.NewTextHandler(log, nil)), Version: "test", Now: h.now,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		h.tools.release()
		if err := p.Stop(context.Background()); err != nil {
			h.t.Errorf("stop the agent: %v", err)
		}
		if h.t.Failed() {
			h.t.Logf("log of the agent:\n%s", log)
		}
	})
	return newAPI(h.t, p.API), p
}

// outside runs the agent's binary.
func (h *home) outside() (*api, *proc) {
	h.t.Helper()
	p := start(h.t, h.dir, "agent", h.environ(), "--config", h.configFile())
	return newAPI(h.t, fmt.Sprintf("http://127.0.0.1:%d", h.ports.api)), p
}

// dial connects to the agent's Temporal server like an operator.
func (h *home) dial() client.Client {
	h.t.Helper()
	c, err := client.Dial(client.Options{HostPort: cmp.Or(h.server, fmt.Sprintf("127.0.0.1:%d", h.ports.grpc)), Logger: quiet{}})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(c.Close)
	return c
}

// obedient is a model that executes the last message, or instead a line of the system prompt
// that begins with "do: ":
//
//	call TOOL {"arg":…}      calls a tool, then repeats its result
//	both TOOL,TOOL           calls tools in one reply, without arguments
//	repeat N TOOL            calls a tool N times, one after the other
//	if A is B => TASK        does the task if A and B are the same text
//	say TEXT                 TEXT
//	fill N TEXT              TEXT, filled up to N bytes
//	anything else            "You said: …"
func obedient(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Messages []struct {
			Role    string
			Content said
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	task, results, last, order := "", 0, "", ""
	for _, m := range body.Messages {
		switch m.Role {
		case "system":
			order = orderIn(string(m.Content))
		case "user":
			if task, results = string(m.Content), 0; strings.HasPrefix(task, earlierTasks) {
				_, task, _ = strings.Cut(task, "\n\n")
			}
		case "tool":
			results, last = results+1, string(m.Content)
		}
	}
	obey(cmp.Or(order, task), results, last)(w, r)
}

// said is the text of a message: its content, or the texts of its parts.
type said string

// UnmarshalJSON implements json.Unmarshaler.
func (s *said) UnmarshalJSON(data []byte) error {
	if data[0] != '[' {
		return json.Unmarshal(data, (*string)(s))
	}
	var parts []struct{ Text string }
	err := json.Unmarshal(data, &parts)
	for _, p := range parts {
		*s += said(p.Text)
	}
	return err
}

func orderIn(prompt string) string {
	for line := range strings.Lines(prompt) {
		if order, ok := strings.CutPrefix(line, "do: "); ok {
			return strings.TrimSpace(order)
		}
	}
	return ""
}

func obey(task string, results int, last string) llmtest.Answer {
	verb, rest, _ := strings.Cut(task, " ")
	id := func(n int) string { return fmt.Sprintf("call-%d", n) }
	switch {
	case verb == "repeat":
		var n int
		var tool string
		if _, err := fmt.Sscanf(rest, "%d %s", &n, &tool); err == nil && results < n {
			return llmtest.CallTools("", llm.Call{ID: id(results), Name: tool, Arguments: json.RawMessage(`{}`)})
		}
		return llmtest.Say(fmt.Sprintf("called %d times", results))
	case results > 0:
		return llmtest.Say("The tool said: " + last)
	case verb == "call":
		tool, args, _ := strings.Cut(rest, " ")
		if args == "" {
			args = "{}"
		}
		return llmtest.CallTools("", llm.Call{ID: id(0), Name: tool, Arguments: json.RawMessage(args)})
	case verb == "both":
		var calls []llm.Call
		for i, tool := range strings.Split(rest, ",") {
			calls = append(calls, llm.Call{ID: id(i), Name: tool, Arguments: json.RawMessage(`{}`)})
		}
		return llmtest.CallTools("", calls...)
	case verb == "if":
		condition, then, _ := strings.Cut(rest, " => ")
		if a, b, _ := strings.Cut(condition, " is "); a == b {
			return obey(then, results, last)
		}
		return llmtest.Say("not yet")
	case verb == "say":
		return llmtest.Say(rest)
	case verb == "fill":
		size, text, _ := strings.Cut(rest, " ")
		n, _ := strconv.Atoi(size)
		return llmtest.Say(text + strings.Repeat(".", max(0, n-len(text))))
	}
	return llmtest.Say("You said: " + task)
}

// nextPort is the port where freePort continues its search. It is below the system's ephemeral
// ports, because a connection could take one of those before the intended process has started.
var nextPort atomic.Int32

func init() { nextPort.Store(10_000 + rand.Int32N(15_000)) }

// freePort returns a port that no other test of this process gets.
func freePort(t *testing.T) int {
	t.Helper()
	for range 1000 {
		port := int(nextPort.Add(1))
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		return port
	}
	t.Fatal("no port is free")
	return 0
}

type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func contains(s, part string) bool { return strings.Contains(s, part) }

// quiet is a logger for Temporal clients that discards everything.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}

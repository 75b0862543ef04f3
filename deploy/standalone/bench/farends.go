package main

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest"
)

// farEnds are the model and the tool server of agents that are killed. Their calls take the
// configured time, and they survive the agents.
type farEnds struct {
	model *llmtest.Server
	tools *httptest.Server
	asked chan time.Time // times of the model's requests

	mu     sync.Mutex
	writes map[string]int // number of destructive calls, by arguments
}

// asTold is the prompt with which the model calls the tools that the user's message names.
const asTold = "as told"

// newFarEnds starts far ends whose calls take between the shortest and the longest time. The
// model calls the tools that the prompt of its agent or node names.
func newFarEnds(shortest, longest time.Duration) *farEnds {
	f := &farEnds{model: llmtest.NewServer(), asked: make(chan time.Time, 1000), writes: map[string]int{}}
	takes := func() time.Duration { return shortest + rand.N(max(longest-shortest, 1)) }
	f.model.KeepRequests(false)
	f.model.Always(func(w http.ResponseWriter, r *http.Request) {
		select {
		case f.asked <- time.Now():
		default: // no reader is waiting
		}
		pause(r.Context(), time.After(takes()))
		answer(r)(w, r)
	})
	m := server.NewMCPServer("bench", "1.0.0", server.WithToolCapabilities(true))
	for _, tool := range []string{"look", "write"} {
		destructive := tool == "write"
		m.AddTool(mcp.NewTool(tool, mcp.WithString("name"), mcp.WithReadOnlyHintAnnotation(!destructive), mcp.WithDestructiveHintAnnotation(destructive)),
			func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				if destructive {
					f.mu.Lock()
					f.writes[r.GetString("name", "")]++
					f.mu.Unlock()
				}
				pause(ctx, time.After(takes()))
				return mcp.NewToolResultText("ok"), nil
			})
	}
	f.tools = httptest.NewServer(server.NewStreamableHTTPServer(m))
	return f
}

func (f *farEnds) close() {
	f.model.Close()
	f.tools.CloseClientConnections()
	f.tools.Close()
}

// doubled counts the destructive calls that were made repeatedly.
func (f *farEnds) doubled() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, calls := range f.writes {
		if calls > 1 {
			n++
		}
	}
	return n
}

// answer calls the tools named by the prompt or the user, one after the other, with the name in
// the user's last message. Then it replies with a text.
func answer(r *http.Request) llmtest.Answer {
	var body struct {
		Messages []struct{ Role, Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return llmtest.Fail(http.StatusBadRequest, err.Error())
	}
	var prompt, name string
	results := 0
	for _, m := range body.Messages {
		switch m.Role {
		case "system":
			prompt = m.Content
		case "user":
			name, results = m.Content, 0
		case "tool":
			results++
		}
	}
	if prompt == asTold {
		prompt = name
	}
	todo := strings.Split(strings.TrimSpace(prompt), " ")
	if results >= len(todo) {
		return llmtest.Say("done")
	}
	args, err := json.Marshal(map[string]string{"name": name})
	if err != nil {
		return llmtest.Fail(http.StatusBadRequest, err.Error())
	}
	return llmtest.CallTools("", llm.Call{ID: "call", Name: todo[results], Arguments: args})
}

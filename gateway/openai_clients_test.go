package gateway_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRequestsOfOpenAIsClients sends what clients send, and looks at what they read. The files say
// from which sources they were rebuilt.
func TestRequestsOfOpenAIsClients(t *testing.T) {
	files, err := filepath.Glob("testdata/openai/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v %v", files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var client struct {
			Source   string
			Requests []struct {
				About, Method, Path string
				// Tools: the agent calls the client's tool for each message.
				Tools  bool
				Body   json.RawMessage
				Status int
				Reads  map[string]any // a list of one is any value of its type
				Keeps  string         // the member that $kept is in the next request
			}
		}
		if err := json.Unmarshal(data, &client); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		plain, calling := newMany(t), newMany(t)
		withClientTool(calling)
		agents, kept := map[bool]*completions{false: chatting(t, plain), true: chatting(t, calling)}, ""
		for _, r := range client.Requests {
			t.Run(filepath.Base(file)+"/"+r.About, func(t *testing.T) {
				if r.Method == "" {
					r.Method = "POST"
				}
				got := agents[r.Tools].do(r.Method, r.Path, strings.ReplaceAll(string(r.Body), "$kept", kept), "User-Agent: LM Studio/0.4", "Authorization: Bearer lm-studio")
				if got.status != r.Status {
					t.Fatalf("%d %s", got.status, got.raw)
				}
				var body any
				if err := json.Unmarshal([]byte(got.raw), &body); err != nil {
					t.Fatalf("%v: %s", err, got.raw)
				}
				for path, want := range r.Reads {
					value := at(body, path)
					if kind, ok := want.([]any); ok {
						if fmt.Sprintf("%T", value) != fmt.Sprintf("%T", kind[0]) {
							t.Errorf("%s is %v", path, value)
						}
					} else if value != want {
						t.Errorf("%s is %v, want %v", path, value, want)
					}
				}
				if r.Keeps != "" {
					kept, _ = at(body, r.Keeps).(string)
				}
			})
		}
		if len(calling.scripts) != 1 {
			t.Errorf("%s: the result of a call began another conversation: %d", file, len(calling.scripts))
		}
	}
}

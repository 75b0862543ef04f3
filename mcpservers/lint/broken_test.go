package lint_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/lint"
	"agent-stop-and-go/mcpservers/mirror"
)

// broken answers each method with what it has for it: a result, or an error that begins with "error ".
func broken(t *testing.T, answers map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Cursor string `json:"cursor"`
			} `json:"params"`
		}
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			t.Error(err)
		}
		if request.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		answer, ok := answers[request.Method+request.Params.Cursor]
		if request.Method == "initialize" {
			answer, ok = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"resources":{}},"serverInfo":{"name":"t","version":"1"}}`, true
		}
		if pause, rest, slow := strings.Cut(answer, "slow "); slow && pause == "" {
			time.Sleep(1100 * time.Millisecond)
			answer = rest
		}
		w.Header().Set("Content-Type", "application/json")
		if text, failed := strings.CutPrefix(answer, "error "); failed || !ok {
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":%q}}`, request.ID, text)
			return
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, request.ID, answer)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// lines lints a server at a URL.
func lines(t *testing.T, url string) ([]string, error) {
	t.Helper()
	c, err := mirror.Connect(t.Context(), mirror.Target{URL: url, Name: "t", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	found, err := lint.Server(t.Context(), c)
	var told []string
	for _, f := range found {
		told = append(told, fmt.Sprintf("%s %s %s: %s", f.Severity, f.Kind, f.Tool, f.Text))
	}
	return told, err
}

// good answers without a fault.
func good() map[string]string {
	return map[string]string{"ping": "{}", "prompts/list": `{"prompts":[]}`, "resources/list": `{"resources":[]}`, "tools/list": `{"tools":[` + fine("a") + `]}`}
}

func fine(name string) string {
	return `{"name":"` + name + `","description":"d","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}`
}

func TestWhatAServerCannotAnswerIsTold(t *testing.T) {
	for _, c := range []struct{ method, answer, want string }{
		{"ping", "error no ping", "error list : ping fails: internal error: no ping"},
		{"prompts/list", "error no prompts", "error list : the server declares prompts and cannot list them: internal error: no prompts"},
		{"resources/list", "error no resources", "error list : the server declares resources and cannot list them: internal error: no resources"},
		{"prompts/list", `slow {"prompts":[]}`, "warning time : prompts/list took 1."},
		{"resources/list", `slow {"resources":[]}`, "warning time : resources/list took 1."},
		{"ping", "slow {}", "warning time : ping took 1."},
		{"tools/list", `{"tools":[` + fine("a") + `,{"name":"b","inputSchema":"x"}]}`, "error schema b: it cannot be read, and with it the whole list: "},
		{"tools/list", `{"tools":[7]}`, "error schema : it cannot be read, and with it the whole list: "},
		{"tools/list", `{"tools":[{"name":"a","description":"d","annotations":{"readOnlyHint":true}}]}`, "error schema a: the schema of the arguments is not of the type object"},
		{"tools/list", `{"tools":[` + strings.Replace(fine("a"), `"object"`, `"object","anyOf":[{"required":["x"]}]`, 1) + `]}`, "error schema a: anyOf at the top of the schema"},
		{"tools/list", `{"tools":[` + fine("a") + `],"nextCursor":"2"}`, `error list : the list of tools does not end: after 2 pages the cursor is "2"`},
	} {
		t.Run(c.want, func(t *testing.T) {
			t.Parallel()
			answers := good()
			answers[c.method] = c.answer
			answers["tools/list2"] = `{"tools":[` + fine("z") + `],"nextCursor":"2"}`
			told, err := lines(t, broken(t, answers))
			if err != nil || !slices.ContainsFunc(told, func(line string) bool { return strings.HasPrefix(line, c.want) }) {
				t.Errorf("%q, %v", told, err)
			}
		})
	}
}

func TestAllPagesAreRead(t *testing.T) {
	answers := good()
	if told, err := lines(t, broken(t, answers)); err != nil || len(told) > 0 {
		t.Errorf("%q, %v", told, err)
	}
	answers["tools/list"] = `{"tools":[` + fine("a") + `],"nextCursor":"2"}`
	answers["tools/list2"] = `{"tools":[` + fine("b c") + `]}`
	told, err := lines(t, broken(t, answers))
	if err != nil || len(told) != 1 || !strings.HasPrefix(told[0], "error name b c: ") {
		t.Errorf("%q, %v", told, err)
	}
}

func TestAServerWithoutAListIsAnError(t *testing.T) {
	for _, answer := range []string{"error no tools", `{"tools":{}}`, `7`} {
		answers := good()
		answers["tools/list"] = answer
		if told, err := lines(t, broken(t, answers)); err == nil || !strings.HasPrefix(err.Error(), "list tools: ") {
			t.Errorf("%s: %q, %v", answer, told, err)
		}
	}
}

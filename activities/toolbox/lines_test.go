package toolbox_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

// overlongText is longer than a line may be.
var overlongText = strings.Repeat(`x\"id\":7,{[`, 17<<20/11)

// serveLines runs a server on standard streams that answers as its tool's argument says.
func serveLines() {
	out := bufio.NewWriter(os.Stdout)
	in := bufio.NewScanner(os.Stdin)
	asked := "" // the call that waits for the answer to our request
	for in.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Arguments struct{ As string }
				Meta      struct{ ProgressToken json.RawMessage } `json:"_meta"`
			}
			Error *struct{ Code int }
		}
		_ = json.Unmarshal(in.Bytes(), &m)
		id, text := string(m.ID), func(text string) string {
			return fmt.Sprintf(`{"content":[{"type":"text","text":"%s"}]}`, text)
		}
		answer := func(result string) { fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result) }
		switch {
		case m.Method == "initialize":
			answer(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"lines","version":"1"}}`)
		case m.Method == "tools/list":
			answer(`{"tools":[{"name":"say","inputSchema":{"type":"object"}}]}`)
		case m.Method == "" && m.Error != nil:
			id = asked
			answer(text(fmt.Sprint("told ", m.Error.Code)))
		case m.Method == "tools/call":
			switch m.Params.Arguments.As {
			case "pid":
				answer(text(fmt.Sprint(os.Getpid())))
			case "id first":
				answer(text(overlongText))
			case "id last":
				fmt.Fprintf(out, `{"result":{"id":99,"content":[{"type":"text","text":"%s"}],"more":[{"id":98}]},"jsonrpc":"2.0", "id" : %s}`+"\n", overlongText, id)
			case "no id":
				fmt.Fprintf(out, `{"result":%q}`+"\n", overlongText)
			case "an error without an id":
				fmt.Fprintln(out, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`)
			case "silence":
				fmt.Fprintf(out, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`+"\n", m.Params.Meta.ProgressToken)
			case "a request":
				asked = id
				fmt.Fprintf(out, `{"jsonrpc":"2.0","method":"roots/list","params":{"text":"%s"},"id":"r1"}`+"\n", overlongText)
			case "a notification":
				fmt.Fprintf(out, `{"jsonrpc":"2.0","method":"notifications/message","params":{"id":%s,"text":"%s"}}`+"\n", id, overlongText)
				answer(text("done"))
			case "no end":
				for {
					if _, err := io.WriteString(out, overlongText); err != nil {
						return
					}
				}
			}
		}
		_ = out.Flush()
	}
}

// openLineServer returns a box with that server.
func openLineServer(t *testing.T) *toolbox.Toolbox {
	return openServers(t, childAs(t, "lines", "lines"))
}

func say(t *testing.T, box *toolbox.Toolbox, as string, destructive bool) (toolbox.Result, error) {
	t.Helper()
	return box.Call(t.Context(), toolbox.Call{Server: "lines", Tool: "say", Arguments: fmt.Appendf(nil, `{"as":%q}`, as), Destructive: destructive})
}

func TestALineThatIsTooLongFailsItsOwnRequest(t *testing.T) {
	box := openLineServer(t)
	pid, err := say(t, box, "pid", false)
	if err != nil {
		t.Fatal(err)
	}
	for _, as := range []string{"id first", "id last"} {
		waiting := callAside(t.Context(), box, toolbox.Call{Server: "lines", Tool: "say", Arguments: []byte(`{"as":"a request"}`)})
		_, err := say(t, box, as, false)
		wantKind(t, err, contract.KindToolFailed)
		if err == nil || !strings.Contains(err.Error(), "the answer has more than 16 MiB") {
			t.Errorf("%s: %v", as, err)
		}
		_, err = say(t, box, as, true)
		wantKind(t, err, contract.KindOutcomeUnknown)
		if err == nil || !strings.Contains(err.Error(), "the answer was lost: the answer has more than 16 MiB") {
			t.Errorf("%s, destructive: %v", as, err)
		}
		if got := within(t, "the call beside it", waiting); got.err != nil || got.result.Text != "told -32603" {
			t.Errorf("the call beside it: %+v", got)
		}
	}
	if got, err := say(t, box, "a notification", false); err != nil || got.Text != "done" {
		t.Errorf("after a notification: %+v, %v", got, err)
	}
	if again, err := say(t, box, "pid", false); err != nil || again.Text != pid.Text {
		t.Errorf("child %s, then %s, %v", pid.Text, again.Text, err)
	}
}

func TestAnAnswerThatNamesNoRequestFailsAllThatAreUnderWay(t *testing.T) {
	box := openLineServer(t)
	pid, err := say(t, box, "pid", false)
	if err != nil {
		t.Fatal(err)
	}
	for as, why := range map[string]string{
		"no id":                  "an answer of more than 16 MiB does not say what it answers",
		"an error without an id": "the server could not read a request: Parse error",
	} {
		began := make(chan struct{}, 1)
		waiting := callAside(t.Context(), box, toolbox.Call{
			Server: "lines", Tool: "say", Arguments: []byte(`{"as":"silence"}`), Destructive: true,
			Progress: func(toolbox.Progress) { began <- struct{}{} },
		})
		within(t, "the silent call is under way", began)
		_, err := say(t, box, as, false)
		wantKind(t, err, contract.KindToolUnavailable)
		other := within(t, "the call beside it", waiting)
		wantKind(t, other.err, contract.KindOutcomeUnknown)
		for _, err := range []error{err, other.err} {
			if err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %v", as, err)
			}
		}
	}
	if again, err := say(t, box, "pid", false); err != nil || again.Text != pid.Text {
		t.Errorf("child %s, then %s, %v", pid.Text, again.Text, err)
	}
}

func TestALineWithoutEndEndsTheChild(t *testing.T) {
	box := openLineServer(t)
	pid, err := say(t, box, "pid", false)
	if err != nil {
		t.Fatal(err)
	}
	_, err = say(t, box, "no end", true)
	wantKind(t, err, contract.KindOutcomeUnknown)
	if again, err := say(t, box, "pid", false); err != nil || again.Text == pid.Text {
		t.Errorf("child %s, then %s, %v", pid.Text, again.Text, err)
	}
}

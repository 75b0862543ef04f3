package peer_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"agent-stop-and-go/activities/peer"
	"agent-stop-and-go/workflows/contract"
)

// replyTo returns the reply for a task, given as JSON of 1.0 without its ID.
func replyTo(t *testing.T, fields string) peer.Reply {
	t.Helper()
	r := serveScript(t, card10(false), func(w http.ResponseWriter, _ request) {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t1","contextId":"c1",%s}}}`, fields)
	})
	return send(t, peers(t, peer.Options{}), start(r, "hello"))
}

func TestTheTextOfAReply(t *testing.T) {
	const done, waits = `"status":{"state":"TASK_STATE_COMPLETED"}`, `"status":{"state":"TASK_STATE_INPUT_REQUIRED"`
	for name, tt := range map[string]struct{ task, want string }{
		"artifacts":            {done + `,"artifacts":[{"parts":[{"text":"a"},{"text":"b"}]},{"parts":[{"text":" c "}]}]`, "a\nb\n\n c "},
		"before the status":    {`"status":{"state":"TASK_STATE_COMPLETED","message":{"parts":[{"text":"said"}]}},"artifacts":[{"parts":[{"text":"a"}]}]`, "a"},
		"the status":           {`"status":{"state":"TASK_STATE_FAILED","message":{"parts":[{"text":"said"},{"data":{"n":1.50}}]}}`, "said\n\n{\"n\":1.50}"},
		"the history":          {done + `,"history":[{"role":"ROLE_AGENT","parts":[{"text":"first"}]},{"role":"agent","parts":[{"text":"last"}]},{"role":"ROLE_USER","parts":[{"text":"me"}]}]`, "last"},
		"nothing":              {done, ""},
		"only data":            {done + `,"artifacts":[{"parts":[{"data":[1,{"x":"é"}]},{"data":null},{"data":{"type":"agent-stop-and-go/approval-request"}}]}]`, `[1,{"x":"é"}]`},
		"unknown parts":        {done + `,"artifacts":[{"parts":[{"hologram":1},{"text":"a"},{}]}],"more":{}`, "a"},
		"a question":           {waits + `,"message":{"parts":[{"text":"Sure?"}]}},"artifacts":[{"parts":[{"text":"a"}]}]`, "Sure?"},
		"a question elsewhere": {waits + `},"artifacts":[{"parts":[{"text":"Sure?"}]}]`, "Sure?"},
		"a question as data":   {waits + `,"message":{"parts":[{"data":{"type":"agent-stop-and-go/approval-request","uuid":"u","description":"Delete?"}}]}}`, "Delete?"},
		"data before words":    {waits + `,"message":{"parts":[{"text":"Approval required (id: u): Delete? Answer it."},{"data":{"type":"agent-stop-and-go/approval-request","uuid":"u","description":"Delete?"}}]}}`, "Delete?"},
		"data that says less":  {waits + `,"message":{"parts":[{"text":"Sure?"},{"data":{"type":"agent-stop-and-go/approval-request","uuid":"u"}}]}}`, "Sure?"},
	} {
		t.Run(name, func(t *testing.T) { same(t, "text", replyTo(t, tt.task).Text, tt.want) })
	}
}

func TestFilesOfAResult(t *testing.T) {
	data := base64.StdEncoding.EncodeToString([]byte("bytes"))
	reply := replyTo(t, `"status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"parts":[{"text":"see"},`+
		`{"raw":"`+data+`","filename":"a\nb.txt","mediaType":"text/plain"},{"raw":"`+strings.TrimRight(data, "=")+`"},`+
		`{"url":"https://x.example/y","filename":"y"},{"url":"javascript:alert(1)","filename":"evil"},{"raw":"!!","mediaType":"x/broken"},`+
		`{"kind":"file","file":{"name":"old","mimeType":"image/png","bytes":"`+data+`"}},{"kind":"file","file":{"uri":"http://x.example/z"}}]}]`)
	var got []string
	for _, f := range reply.Files {
		got = append(got, strings.Join([]string{f.Name, f.MIMEType, string(f.Data), f.URL}, "|"))
	}
	same(t, "files", got, []string{"a b.txt|text/plain|bytes|", "||bytes|", "y|||https://x.example/y", "old|image/png|bytes|", "|||http://x.example/z"})
	same(t, "text", reply.Text, "see\n\n(The file evil could not be read.)\n(The file x/broken could not be read.)")
}

func TestFilesAreLimited(t *testing.T) {
	file := func(size int) string {
		return `{"raw":"` + base64.StdEncoding.EncodeToString(make([]byte, size)) + `","filename":"f"}`
	}
	list := func(parts ...string) string {
		return `"status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"parts":[` + strings.Join(parts, ",") + `]}]`
	}
	reply := replyTo(t, list(file(4<<20+1)))
	same(t, "files", len(reply.Files), 0)
	same(t, "text", reply.Text, "(The file f was left out: it has 4194305 bytes.)")
	reply = replyTo(t, list(file(4<<20), file(4<<20-1), file(2), file(1)))
	same(t, "files", len(reply.Files), 3)
	same(t, "text", reply.Text, "(The file f was left out: it has 2 bytes.)")
	reply = replyTo(t, list(slices.Repeat([]string{file(1)}, 20)...))
	same(t, "files", len(reply.Files), 16)
	same(t, "text", reply.Text, "(4 more files were left out.)")
}

// approvalRequestOf returns the request of a waiting task, given its data.
func approvalRequestOf(t *testing.T, data string) *contract.ApprovalRequest {
	t.Helper()
	return replyTo(t, `"status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"parts":[{"text":"Sure?"},{"data":`+data+`}]}}`).Asked
}

func TestARequestIsReadAsWeWriteIt(t *testing.T) {
	want := contract.ApprovalRequest{
		Type: contract.TypeApprovalRequest, UUID: "u", Tool: "rm", Arguments: []byte(`{"p":1}`), Digest: "d", Description: "Deletes.",
		Reason: contract.ReasonQuestion, Schema: []byte(`{"type":"object"}`), Chain: []string{"writer", "deep"}, Accepts: "yes or no",
	}
	same(t, "request", string(mustJSON(approvalRequestOf(t, string(mustJSON(want))))), string(mustJSON(want)))
}

func TestARequestThatIsWrongInPartsLosesThem(t *testing.T) {
	long := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
	for name, tt := range map[string]struct{ field, want string }{
		"nothing wrong":       {`"tool":"rm","chain":["a","b"],"description":"d","reason":"client_tool","accepts":"yes","argumentsSha256":"s"`, "u rm [a b] d client_tool yes s  "},
		"arguments too long":  {`"tool":"rm","arguments":{"x":` + long(64<<10) + `}`, "u rm []       "},
		"arguments as text":   {`"arguments": "x" `, `u  []     "x" `},
		"description":         {`"description":` + long(16<<10+1), "u  []       "},
		"schema too long":     {`"schema":{"x":` + long(64<<10) + `}`, "u  []       "},
		"schema of a kind":    {`"schema":[]`, "u  []       "},
		"schema":              {`"schema":{"a": 1}`, `u  []      {"a":1}`},
		"chain too long":      {`"chain":[` + strings.TrimSuffix(strings.Repeat(`"a",`, 17), ",") + `]`, "u  []       "},
		"a long name":         {`"chain":["a",` + long(101) + `]`, "u  []       "},
		"a chain of numbers":  {`"chain":[1],"tool":2,"description":{}`, "u  []       "},
		"a reason of its own": {`"reason":"because"`, "u  []       "},
	} {
		t.Run(name, func(t *testing.T) {
			a := approvalRequestOf(t, `{"type":"agent-stop-and-go/approval-request","uuid":"u",`+tt.field+`}`)
			got := fmt.Sprintf("%s %s %v %s %s %s %s %s %s", a.UUID, a.Tool, a.Chain, a.Description, a.Reason, a.Accepts, a.Digest, a.Arguments, a.Schema)
			same(t, "request", strings.Join(strings.Fields(got), " "), strings.Join(strings.Fields(tt.want), " "))
		})
	}
	for name, data := range map[string]string{
		"no ID": `{"type":"agent-stop-and-go/approval-request","uuid":""}`, "a long ID": `{"type":"agent-stop-and-go/approval-request","uuid":` + long(201) + `}`,
		"another type": `{"type":"x","uuid":"u"}`, "an answer": `{"type":"agent-stop-and-go/approval-answer","uuid":"u"}`, "a list": `["agent-stop-and-go/approval-request"]`,
	} {
		t.Run(name, func(t *testing.T) {
			if a := approvalRequestOf(t, data); a != nil {
				t.Errorf("got %+v", a)
			}
		})
	}
}

const hitl = "https://kagent.dev/extensions/hitl/v1"

// serveKagent starts an agent that asks with hitlExtension.
func serveKagent(t *testing.T, payload string) *remote {
	waits := taskOf("TASK_STATE_INPUT_REQUIRED", "Approval is required for tool(s): rm")
	message := waits["status"].(map[string]any)["message"].(map[string]any)
	message["extensions"], message["metadata"] = []any{hitl}, map[string]any{hitl: json.RawMessage(payload)}
	card := card10(false).(map[string]any)
	card["capabilities"] = map[string]any{"extensions": []any{map[string]any{"uri": hitl}}}
	first := true
	return serveScript(t, card, func(w http.ResponseWriter, in request) {
		switch {
		case in.Method == "GetTask":
			rpc(w, in, waits)
		case first:
			first = false
			rpc(w, in, map[string]any{"task": waits})
		default:
			rpc(w, in, map[string]any{"task": taskOf("TASK_STATE_COMPLETED", "done")})
		}
	})
}

func TestTheApprovalsOfKagent(t *testing.T) {
	for name, tt := range map[string]struct {
		payload, asked, answer string
		decision               contract.Decision
	}{
		"one": {`{"type":"tool_approval_request","hint":"Deletes.","tools":[{"id":"a1","call_id":"c1","name":"rm","args":{"p": 1}}]}`,
			`a1 rm {"p":1} [] Deletes.`, `{"approvals":[{"id":"a1","approved":true}],"type":"tool_approval_response"}`, contract.Approved},
		"many, rejected": {`{"type":"tool_approval_request","tools":[{"id":"a1","name":"rm","args":{}},{"id":"a2","name":"mv","args":{}}]}`,
			`a1 rm, mv {"calls":[{"id":"a1","name":"rm","args":{}},{"id":"a2","name":"mv","args":{}}]} [] `,
			`{"approvals":[{"id":"a1","approved":false,"rejection_reason":"no"},{"id":"a2","approved":false,"rejection_reason":"no"}],"type":"tool_approval_response"}`, contract.Rejected},
		"further down": {`{"type":"tool_approval_request","tools":[{"id":"p1","name":"sub"}],"nested":{"subagent_name":"sub","tools":[{"id":"a1","name":"rm","args":{}}]}}`,
			`a1 rm {} [writer sub] `, `{"approvals":[{"id":"a1","approved":true}],"type":"tool_approval_response"}`, contract.Approved},
		"far down": {`{"type":"tool_approval_request","hint":"Deletes.","tools":[{"id":"p1","name":"sub"}],"nested":{"subagent_name":"sub","chain":["sub","deep"],"tools":[{"id":"a1","name":"rm","args":{}}]}}`,
			`a1 rm {} [writer sub deep] Deletes.`, `{"approvals":[{"id":"a1","approved":true}],"type":"tool_approval_response"}`, contract.Approved},
	} {
		t.Run(name, func(t *testing.T) {
			r := serveKagent(t, tt.payload)
			p := peers(t, peer.Options{})
			asked := send(t, p, start(r, "delete"))
			a := asked.Asked
			same(t, "asked", fmt.Sprintf("%s %s %s %v %s", a.UUID, a.Tool, a.Arguments, a.Chain, a.Description), tt.asked)
			m := verdict(r, asked, tt.decision)
			m.By, m.Reason = "alice", "no"
			same(t, "text", send(t, p, m).Text, "done")
			var params struct {
				Message struct {
					Extensions []string                   `json:"extensions"`
					Metadata   map[string]json.RawMessage `json:"metadata"`
					Parts      []any                      `json:"parts"`
				} `json:"message"`
			}
			in := r.requests()[2]
			if err := json.Unmarshal(in.Params, &params); err != nil {
				t.Fatal(err)
			}
			same(t, "answer", string(params.Message.Metadata[hitl]), tt.answer)
			same(t, "by", string(params.Message.Metadata[contract.MetaBy]), `"alice"`)
			same(t, "extensions", params.Message.Extensions, []string{hitl})
			same(t, "parts", len(params.Message.Parts), 1)
			same(t, "header", in.Header.Get("A2A-Extensions"), hitl)
		})
	}
}

// Agents of this project support that form too, but their own form also has the reason and the
// possible answers.
func TestAgentsOfOursAreAskedInTheirOwnForm(t *testing.T) {
	card := card10(false).(map[string]any)
	card["capabilities"] = map[string]any{"extensions": []any{map[string]any{"uri": hitl}, map[string]any{"uri": contract.ApprovalParts}}}
	r := serveScript(t, card, func(w http.ResponseWriter, in request) {
		rpc(w, in, map[string]any{"task": taskOf("TASK_STATE_COMPLETED", "done")})
	})
	send(t, peers(t, peer.Options{}), start(r, "delete"))
	same(t, "header", r.requests()[0].Header.Get("A2A-Extensions"), "")
}

func TestWhatIsNotInTheFormOfKagentIsText(t *testing.T) {
	for _, payload := range []string{
		`{"type":"ask_user_request","id":"q","questions":[]}`, `{"type":"tool_approval_request","tools":[]}`, `{"type":"tool_approval_request","tools":[{"name":"rm"}]}`, `[]`,
	} {
		r := serveKagent(t, payload)
		p := peers(t, peer.Options{})
		asked := send(t, p, start(r, "delete"))
		if asked.Asked != nil {
			t.Errorf("%s: %+v", payload, asked.Asked)
		}
		send(t, p, verdict(r, asked, contract.Approved))
		if params := string(r.requests()[2].Params); strings.Contains(params, hitl) {
			t.Errorf("sent %s", params)
		}
	}
}

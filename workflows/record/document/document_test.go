package document_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/promptversion"
	"agent-stop-and-go/workflows/record/document"
	"agent-stop-and-go/workflows/record/transcript"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const (
	conversationID = "3f1f7a52-6c1e-4a7e-9d55-0a4f8d2b1c01"
	approvalID     = "5b0c0f6e-2d3a-5a4f-8a39-6e9b1f1a2b02"
	sealed         = "v1.k1.canary"
)

var (
	noon      = time.Date(2026, 3, 14, 12, 0, 0, 123456789, time.UTC)
	errNoBlob = errors.New("no such blob")
)

// memory is a transcript.Store.
type memory map[string][]byte

func (m memory) Put(_ context.Context, data []byte) (contract.Blob, error) {
	b := contract.NewBlob(data)
	m[b.SHA256] = bytes.Clone(data)
	return b, nil
}

func (m memory) Get(_ context.Context, b contract.Blob) ([]byte, error) {
	data, ok := m[b.SHA256]
	if !ok {
		return nil, fmt.Errorf("%w: %s", errNoBlob, b.SHA256)
	}
	return data, nil
}

func arguments() contract.JSON {
	return contract.JSON{Raw: json.RawMessage(`{"name":"web-1","value":42}`)}
}

func pending() contract.PendingApproval {
	return contract.ApprovalInput{
		UUID: approvalID, ConversationID: conversationID, Tool: "resources_add", Arguments: arguments(), ArgumentsSHA256: "d1",
		Description: "**ADD Resource**", Reason: contract.ReasonDestructive, CreatedAt: noon, Node: "writer",
		NodePath: []int{1, 0}, RemoteTaskID: "task-1", RemoteAgent: "remote",
	}.Pending()
}

func messages() []contract.Message {
	audit := contract.ApprovalResult{
		UUID: approvalID, ConversationID: conversationID, Tool: "resources_add", Decision: contract.Approved, By: "ops",
		RequestedAt: noon, DecidedAt: noon, Credential: sealed,
	}
	return []contract.Message{
		{ID: "m1", Role: contract.RoleSystem, Content: contract.Inline("Be brief."), CreatedAt: noon},
		{ID: "m2", Role: contract.RoleUser, Content: contract.Inline("Add web-1"), CreatedAt: noon},
		{ID: "m3", Role: contract.RoleAssistant, CreatedAt: noon, Node: "writer", Reply: "r1",
			Model: "gemini-2.5-flash", DraftID: "draft-1", Usage: spent(), Native: native(),
			ToolCall: &contract.ToolCall{ID: "call_1", Name: "resources_add", Arguments: arguments()}},
		{ID: "m4", Role: contract.RoleUser, Content: contract.Inline("[APPROVAL]: Approved"), Approval: &audit, Notice: true, CreatedAt: noon},
		{ID: "m5", Role: contract.RoleTool, CreatedAt: noon,
			ToolCall: &contract.ToolCall{ID: "call_1", Name: "resources_add", Result: contract.Inline("no"), IsError: true, Note: "expired"}},
	}
}

func conversation() contract.ConversationView {
	return contract.ConversationView{
		ID: conversationID, SessionID: "s-1", AgentName: "helper", Status: contract.StatusWaitingApproval,
		Transcript: contract.Transcript{Tail: messages()}, Pending: []contract.PendingApproval{pending()}, Pipeline: paused(),
		Running: true, Queued: 1, Usage: spent(), CreatedAt: noon, UpdatedAt: noon.Add(time.Second), Version: 7,
		Request: &contract.Request{ID: "internal"},
		Prompts: []promptversion.Use{
			{Version: promptversion.Version{Source: "directory", Number: 2, Digest: "0123456789ab", Sections: []promptversion.Section{{Name: "tone", Digest: "ba9876543210"}}}, At: noon},
			{Version: promptversion.Version{Source: "server prompts", Digest: "ab0123456789", Fallback: "it does not answer"}, At: noon.Add(time.Second), By: "ops"},
		},
	}
}

// withMedia returns a conversation in which a tool returned media.
func withMedia() contract.ConversationView {
	chart, sound := contract.NewBlob([]byte("chart")), contract.NewBlob([]byte("sound"))
	return contract.ConversationView{
		ID: conversationID, Status: contract.StatusActive, CreatedAt: noon, UpdatedAt: noon,
		Transcript: contract.Transcript{Tail: []contract.Message{{ID: "m1", Role: contract.RoleTool, CreatedAt: noon, ToolCall: &contract.ToolCall{
			ID: "call_1", Name: "draw", Result: contract.Inline("{}"),
			Media: []contract.Media{{Blob: chart, MIMEType: "image/png", Name: "chart.png"}, {Blob: sound, MIMEType: "audio/wav"}},
		}}}},
	}
}

func paused() *contract.PipelineState {
	return &contract.PipelineState{
		Path: []int{1, 0}, OutputKey: "added", UserMessage: contract.Inline("Add web-1"),
		State: contract.State{{Key: "plan", Text: contract.Inline("Add it")}, {Key: "count", Text: contract.Inline("1")}},
	}
}

func render(t *testing.T, store transcript.Store, v contract.ConversationView) []byte {
	t.Helper()
	d, err := document.Render(t.Context(), store, v)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(data, '\n')
}

func TestTheDocumentIsTheGoldenOne(t *testing.T) {
	tests := map[string]contract.ConversationView{
		"full":    conversation(),
		"earlier": oldConversation(),
		"media":   withMedia(),
		"empty":   {ID: conversationID, Status: contract.StatusActive, CreatedAt: noon, UpdatedAt: noon},
	}
	for name, v := range tests {
		t.Run(name, func(t *testing.T) {
			golden(t, name, render(t, memory{}, v))
		})
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := "testdata/" + name + ".json"
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s; if that is meant: go generate ./workflows/record/document (-golden +got):\n%s", path, diff)
	}
}

func TestArgumentsOfAResultAreNull(t *testing.T) {
	d, err := document.Render(t.Context(), memory{}, conversation())
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(d.Messages[4].ToolCall)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), `"arguments":null`) {
		t.Errorf("got %s", data)
	}
}

func TestAConversationWithoutMessagesHasAnEmptyList(t *testing.T) {
	for name, tr := range map[string]contract.Transcript{"no tail": {}, "empty tail": {Tail: []contract.Message{}}} {
		if data := render(t, memory{}, contract.ConversationView{Transcript: tr}); !strings.Contains(string(data), `"messages": []`) {
			t.Errorf("%s: %s", name, data)
		}
	}
}

func TestACredentialIsNeverShown(t *testing.T) {
	v := conversation()
	if data := render(t, memory{}, v); strings.Contains(string(data), "canary") || strings.Contains(string(data), "credential") {
		t.Errorf("the document holds a credential: %s", data)
	}
	if v.Transcript.Tail[3].Approval.Credential != sealed {
		t.Error("rendering took the credential from the conversation itself")
	}
}

func TestValuesOfTheStoreAreInPlace(t *testing.T) {
	store := memory{}
	long := strings.Repeat("long ", 2000)
	text, err := transcript.Text(t.Context(), store, long)
	if err != nil {
		t.Fatal(err)
	}
	args, err := transcript.JSON(t.Context(), store, json.RawMessage(`{"a":"`+long+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	v := conversation()
	v.Transcript.Tail[0].Content = contract.Inline(strings.Repeat("Be brief. ", 150)) // long enough to be offloaded
	v.Transcript.Tail[1].Content, v.Transcript.Tail[4].ToolCall.Result = text, text
	v.Transcript.Tail[2].ToolCall.Arguments, v.Pending[0].ToolArgs = args, args
	v.Pending[0].Schema, v.Pending[0].Origin = args, &contract.Origin{Arguments: args, Schema: args}
	v.Pipeline.UserMessage, v.Pipeline.State[1].Text = text, text
	folded, err := transcript.Offload(t.Context(), store, v.Transcript)
	if err != nil || folded == nil {
		t.Fatalf("folded %v, %v", folded, err)
	}
	want := render(t, store, v)
	v.Transcript = contract.Transcript{Head: &folded.Head, Tail: v.Transcript.Tail[folded.Count:]}
	got := render(t, store, v)
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("a folded conversation reads differently (-unfolded +folded):\n%s", diff)
	}
	if n := strings.Count(string(got), long); n != 13 { // content, result, arguments, pending twice with four values, pipeline twice
		t.Errorf("the long value is there %d times, expected 13", n)
	}
	if strings.Contains(string(got), `"blob"`) {
		t.Error("an address is shown")
	}
}

func TestEveryOpenApprovalIsListed(t *testing.T) {
	v := conversation()
	second := pending()
	second.UUID = conversationID
	v.Pending = append(v.Pending, second)
	d, err := document.Render(t.Context(), memory{}, v)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.PendingApprovals) != 2 || d.PendingApproval.UUID != approvalID || d.PendingApprovals[1].UUID != conversationID {
		t.Errorf("pending_approval %+v of %+v", d.PendingApproval, d.PendingApprovals)
	}
}

func TestThePipelineStateHasAllItsKeysWhereverItPauses(t *testing.T) {
	v := conversation()
	v.Pipeline = &contract.PipelineState{UserMessage: contract.Inline("Add web-1")} // paused at the root, with an empty state
	const want = `"pipeline_state":{"paused_node_path":[],"paused_node_output_key":"","session_state":{},"user_message":"Add web-1"}`
	d, err := document.Render(t.Context(), memory{}, v)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), want) {
		t.Errorf("got %s", data)
	}
}

func TestThereIsNoPipelineStateUnlessAnApprovalWaits(t *testing.T) {
	waits, over := conversation(), conversation()
	waits.Pipeline = nil // no tree
	over.Pending = nil
	for name, v := range map[string]contract.ConversationView{"no tree": waits, "nothing waits": over} {
		if data := render(t, memory{}, v); strings.Contains(string(data), "pipeline_state") {
			t.Errorf("%s: %s", name, data)
		}
	}
}

func TestMessagesOfNodesStandInTheirPlace(t *testing.T) {
	v := conversation()
	want := render(t, memory{}, v)
	all := v.Transcript.Tail
	inside := contract.Transcript{Tail: []contract.Message{all[2], {Segment: &contract.Segment{Transcript: &contract.Transcript{Tail: all[3:4]}}}}}
	v.Transcript.Tail = []contract.Message{
		all[0], all[1], {Segment: &contract.Segment{Run: "a", Transcript: &inside}}, {Segment: &contract.Segment{Run: "b"}}, all[4],
	}
	if diff := cmp.Diff(string(want), string(render(t, memory{}, v))); diff != "" {
		t.Errorf("messages of nodes read differently (-want +got):\n%s", diff)
	}
}

func TestAMissingValueIsAnErrorThatNamesItsPlace(t *testing.T) {
	lost := contract.NewBlob([]byte("never stored"))
	tests := map[string]struct {
		lose func(*contract.ConversationView)
		want string
	}{
		"segment": {func(v *contract.ConversationView) { v.Transcript.Head = &contract.Head{Blob: lost, Count: 1} }, conversationID},
		"content": {func(v *contract.ConversationView) { v.Transcript.Tail[1].Content = contract.Text{Blob: &lost} }, "m2"},
		"value":   {func(v *contract.ConversationView) { v.Pipeline.State[0].Text = contract.Text{Blob: &lost} }, "plan"},
		"message": {func(v *contract.ConversationView) { v.Pipeline.UserMessage = contract.Text{Blob: &lost} }, conversationID},
		"schema":  {func(v *contract.ConversationView) { v.Pending[0].Schema = contract.JSON{Blob: &lost} }, approvalID},
		"args":    {func(v *contract.ConversationView) { v.Pending[0].ToolArgs = contract.JSON{Blob: &lost} }, approvalID},
	}
	for name, tt := range tests {
		v := conversation()
		tt.lose(&v)
		if _, err := document.Render(t.Context(), memory{}, v); !errors.Is(err, errNoBlob) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("missing %s: %v; expected an error that names %s", name, err, tt.want)
		}
	}
}

// What a program has put in front of a message is for the model: the document has what the user wrote.
func TestAMessageIsShownWithoutItsPreface(t *testing.T) {
	const context = "[context] This was said in earlier tasks:\nuser: \"hi\"\n\n"
	v := conversation()
	v.Transcript.Tail = []contract.Message{
		{ID: "1", Role: contract.RoleUser, Content: contract.Inline(context + "Add web-1"), Preface: len(context), CreatedAt: noon},
		{ID: "2", Role: contract.RoleUser, Content: contract.Inline("short"), Preface: 100, CreatedAt: noon},
		{ID: "3", Role: contract.RoleUser, Content: contract.Inline(context + "Add web-2"), Preface: len(context), CreatedAt: noon},
	}
	v.Pipeline.UserMessage = contract.Inline(context + "Add web-2")
	whole, err := document.Render(t.Context(), memory{}, v)
	if err != nil {
		t.Fatal(err)
	}
	page, err := document.RenderPage(t.Context(), memory{}, v, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []document.Conversation{whole, page} {
		if got := d.Messages[0].Content + "|" + d.Messages[1].Content + "|" + d.Messages[2].Content; got != "Add web-1||Add web-2" {
			t.Errorf("%q", got)
		}
		if got := d.PipelineState.UserMessage; got != "Add web-2" {
			t.Errorf("%q", got)
		}
	}
}

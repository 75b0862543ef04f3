package wording_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

func asked() contract.ApprovalInput {
	p := waiting().Pending
	return contract.ApprovalInput{
		UUID: p.UUID, ConversationID: p.ConversationID, AgentName: "helper", NodePath: []int{1, 0}, Node: "writer", Tool: p.ToolName,
		Server: "resources", Arguments: p.ToolArgs, ArgumentsSHA256: p.Digest, Description: p.Description,
		Reason: contract.ReasonDestructive, CreatedAt: since,
	}
}

func TestACardHasWhatAPersonDecidesBy(t *testing.T) {
	in := asked()
	in.Timeout, in.Owner = time.Hour, contract.Identity{Subject: "alice", Issuer: "keys", Scopes: []string{"approve"}, Groups: []string{"ops"}, Channel: "rest"}
	expiry := since.Add(time.Hour)
	want := contract.Card{
		Server: "resources", Node: "writer", NodePath: []int{1, 0}, Reason: contract.ReasonDestructive, Description: in.Description,
		Arguments: in.Arguments, Digest: in.ArgumentsSHA256, Answer: contract.AnswerYesOrNo, ExpiresAt: &expiry,
		Requester: contract.Name{Subject: "alice", Issuer: "keys"},
	}
	if diff := cmp.Diff(want, wording.Card(in)); diff != "" {
		t.Errorf("card (-want +got):\n%s", diff)
	}
	in.Timeout = 0
	if got := wording.Card(in); got.ExpiresAt != nil {
		t.Errorf("an approval that waits for ever expires at %v", got.ExpiresAt)
	}
}

func TestACardOfAProxyNamesTheAgents(t *testing.T) {
	in := asked()
	in.Reason, in.RemoteAgent = contract.ReasonRemote, "writer"
	if diff := cmp.Diff([]string{"helper", "writer"}, wording.Card(in).Chain); diff != "" {
		t.Error(diff)
	}
	in.Origin = &contract.Origin{Chain: []string{"writer", "archive"}}
	if diff := cmp.Diff([]string{"helper", "writer", "archive"}, wording.Card(in).Chain); diff != "" {
		t.Error(diff)
	}
}

func TestACardSaysWhatKindOfAnswerIsWanted(t *testing.T) {
	in := asked()
	in.Reason, in.Schema = contract.ReasonQuestion, contract.JSON{Raw: json.RawMessage(`{"type":"object"}`)}
	if got := wording.Card(in).Answer; got != contract.AnswerContent {
		t.Errorf("a question wants %q", got)
	}
}

func TestACardIsCutToItsLimitAndSaysSo(t *testing.T) {
	blob := contract.NewBlob([]byte(`{"text":"` + strings.Repeat("long ", 1000) + `"}`))
	names := make([]string, 16)
	for i := range names {
		names[i] = strings.Repeat("<", 100)
	}
	for name, change := range map[string]func(*contract.ApprovalInput){
		"arguments in the store":   func(in *contract.ApprovalInput) { in.Arguments = contract.JSON{Blob: &blob} },
		"arguments over the limit": func(in *contract.ApprovalInput) { in.Arguments.Raw = quotedJSON(strings.Repeat("é", 1500)) },
		"arguments that grow in JSON": func(in *contract.ApprovalInput) {
			in.Arguments.Raw = quotedJSON(strings.Repeat("<", 300))
			in.Description = strings.Repeat("<", 1500)
		},
		"everything": func(in *contract.ApprovalInput) {
			in.Reason, in.Origin = contract.ReasonRemote, &contract.Origin{Chain: names}
			in.Description = strings.Repeat("\x01", 9000)
			in.Arguments.Raw = quotedJSON(strings.Repeat("\x01", 9000))
			in.Owner = contract.Identity{Subject: strings.Repeat("\x01", contract.MaxSubject), Issuer: strings.Repeat("\x01", contract.MaxIssuer)}
			in.Node, in.Server = strings.Repeat("n", 9000), strings.Repeat("s", 9000)
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := asked()
			change(&in)
			got := wording.Card(in)
			data, err := json.Marshal(got)
			if err != nil || len(data) > contract.CardLimit {
				t.Errorf("%d bytes, %v", len(data), err)
			}
			if !got.ArgumentsTruncated || !got.Arguments.IsZero() || got.ArgumentsPreview == "" {
				t.Errorf("the arguments are not marked as cut: %+v", got)
			}
			if strings.HasPrefix(got.ArgumentsPreview, "�") || !strings.Contains(string(data), in.ArgumentsSHA256) {
				t.Errorf("%s", data)
			}
			if got.Description != in.Description && (!got.DescriptionTruncated || !strings.HasSuffix(got.Description, "…")) {
				t.Errorf("the description is not marked as cut: %q", got.Description)
			}
		})
	}
}

func quotedJSON(s string) json.RawMessage {
	data, err := json.Marshal(map[string]string{"text": s})
	if err != nil {
		panic(err)
	}
	return data
}

package llm_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest"
	"agent-stop-and-go/activities/mask"
	"agent-stop-and-go/workflows/contract"
)

const (
	gate   = "gate-canary-0a1b2c3d4e5f"
	caller = "caller-canary-99887766"
)

// saidBack are secrets as a model's server may say them back.
func saidBack(secrets ...string) []string {
	var out []string
	for _, secret := range secrets {
		backwards := []byte(secret)
		slices.Reverse(backwards)
		out = append(out, secret, strings.ToUpper(secret), string(backwards), hex.EncodeToString([]byte(secret)),
			base64.StdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte("x"+secret)), strings.ReplaceAll(secret, "-", "%2D"))
	}
	return out
}

func gated(url string, p contract.Provider) *llm.Router {
	return llm.NewRouter(llm.Options{Getenv: keys, Models: []llm.Entry{{
		Name: "gated", Provider: p, Model: "m", BaseURL: url, KeyVariable: "GATED_API_KEY", Headers: map[string]string{"X-Gate": "Bearer " + gate}, Secrets: []string{"Bearer " + gate},
	}}})
}

func TestSecretsAreInNoReplyAndNoDraft(t *testing.T) {
	for _, provider := range []contract.Provider{contract.ProviderCompatible, contract.ProviderAnthropic, contract.ProviderGoogle} {
		for _, said := range saidBack(canary, gate, caller) {
			s := llmtest.NewServer()
			t.Cleanup(s.Close)
			args, _ := json.Marshal(map[string]string{"text": "with " + said})
			s.Reply(llmtest.CallTools("It is "+said+"!", llm.Call{ID: "call_1", Name: "ping", Arguments: args}))
			drafts := map[llm.DeltaKind]string{}
			reply, err := gated(s.URL(), provider).Generate(t.Context(), llm.Request{
				Model: "gated", Messages: []contract.Message{user("hi")}, Tools: offered(), Secrets: []mask.Secret{mask.Bearer(caller)},
				Deltas: func(d llm.Delta) { drafts[d.Kind] += d.Text },
			})
			if err != nil {
				t.Fatal(err)
			}
			shown := reply.Text + string(reply.Calls[0].Arguments) + drafts[llm.DeltaText] + drafts[llm.DeltaArguments]
			if reply.Native != nil {
				shown += string(reply.Native.Content)
			}
			if strings.Contains(shown, said[2:]) || strings.Contains(strings.ToLower(shown), "canary") {
				t.Errorf("%s: %q is in the reply: %s", provider, said, shown)
			}
			if !strings.Contains(reply.Text, "[") || drafts[llm.DeltaText] != reply.Text || !json.Valid(reply.Calls[0].Arguments) {
				t.Errorf("%s: the reply is %q, its draft %q", provider, reply.Text, drafts[llm.DeltaText])
			}
		}
	}
}

func TestASecretInManyPiecesIsInNoDraft(t *testing.T) {
	s, router := newServer(t)
	var events []string
	for _, c := range canary {
		events = append(events, piece(`{"content":"`+string(c)+`","reasoning":"`+string(c)+`"}`))
	}
	events = append(events, calling(`"index":0,"id":"x","function":{"name":"ping","arguments":"{\"text\":\""}`))
	for _, c := range canary {
		events = append(events, calling(`"index":0,"function":{"arguments":"`+string(c)+`"}`))
	}
	events = append(events, calling(`"index":0,"function":{"arguments":"\"}"}`), ended("tool_calls"))
	s.Reply(llmtest.Frames(events...))
	said := map[llm.DeltaKind]string{}
	reply, err := router.Generate(t.Context(), llm.Request{
		Model: "openai:gpt-4o", Messages: []contract.Message{user("hi")}, Tools: offered(), Deltas: func(d llm.Delta) { said[d.Kind] += d.Text },
	})
	if err != nil || reply.Text != "[secret]" || string(reply.Calls[0].Arguments) != `{"text":"[secret]"}` {
		t.Errorf("got %+v, %v", reply, err)
	}
	for kind, want := range map[llm.DeltaKind]string{llm.DeltaText: "[secret]", llm.DeltaReasoning: "[secret]", llm.DeltaArguments: `{"text":"[secret]"}`} {
		if said[kind] != want {
			t.Errorf("%s: the draft says %q", kind, said[kind])
		}
	}
}

func TestAnErrorShowsNoFormOfASecret(t *testing.T) {
	for _, said := range saidBack(canary, gate) {
		s := llmtest.NewServer()
		t.Cleanup(s.Close)
		s.Reply(llmtest.JSON(http.StatusBadRequest, `{"error":{"message":"not with `+said+` here"}}`))
		e := failure(t, gated(s.URL(), contract.ProviderCompatible), "gated")
		if strings.Contains(e.Message, said[2:]) || strings.Contains(strings.ToLower(e.Message), "canary") {
			t.Errorf("%q is in the error: %s", said, e.Message)
		}
	}
}

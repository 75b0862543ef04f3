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
	"agent-stop-and-go/activities/llm/llmtest/sample"
	"agent-stop-and-go/activities/llm/router"
	"agent-stop-and-go/activities/mask"
	"agent-stop-and-go/workflows/contract"
)

const (
	gate   = "gate-canary-0a1b2c3d4e5f"
	caller = "caller-canary-99887766"
)

// echoes returns secrets in the forms in which a model's server may echo them.
func echoes(secrets ...string) []string {
	var out []string
	for _, secret := range secrets {
		backwards := []byte(secret)
		slices.Reverse(backwards)
		out = append(out, secret, strings.ToUpper(secret), string(backwards), hex.EncodeToString([]byte(secret)),
			base64.StdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte("x"+secret)), strings.ReplaceAll(secret, "-", "%2D"))
	}
	return out
}

func gated(url string, p contract.Provider) *router.Router {
	return router.New(router.Options{Getenv: sample.Keys, Models: []llm.Entry{{
		Name: "gated", Provider: p, Model: "m", BaseURL: url, KeyVariable: "GATED_API_KEY", Headers: map[string]string{"X-Gate": "Bearer " + gate}, Secrets: []string{"Bearer " + gate},
	}}})
}

func TestSecretsAreInNoReplyAndNoDraft(t *testing.T) {
	for _, provider := range []contract.Provider{contract.ProviderCompatible, contract.ProviderAnthropic, contract.ProviderGoogle} {
		for _, said := range echoes(sample.Canary, gate, caller) {
			s := llmtest.NewServer()
			t.Cleanup(s.Close)
			args, _ := json.Marshal(map[string]string{"text": "with " + said})
			s.Reply(llmtest.CallTools("It is "+said+"!", llm.Call{ID: "call_1", Name: "ping", Arguments: args}))
			drafts := map[llm.DeltaKind]string{}
			reply, err := gated(s.URL(), provider).Generate(t.Context(), llm.Request{
				Model: "gated", Messages: []contract.Message{sample.User("hi")}, Tools: sample.Offer(), Secrets: []mask.Secret{mask.Bearer(caller)},
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

func TestAnErrorShowsNoFormOfASecret(t *testing.T) {
	for _, said := range echoes(sample.Canary, gate) {
		s := llmtest.NewServer()
		t.Cleanup(s.Close)
		s.Reply(llmtest.JSON(http.StatusBadRequest, `{"error":{"message":"not with `+said+` here"}}`))
		e := sample.Failure(t, gated(s.URL(), contract.ProviderCompatible), "gated")
		if strings.Contains(e.Message, said[2:]) || strings.Contains(strings.ToLower(e.Message), "canary") {
			t.Errorf("%q is in the error: %s", said, e.Message)
		}
	}
}

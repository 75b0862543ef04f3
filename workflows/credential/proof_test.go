package credential_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"agent-stop-and-go/workflows/credential"
)

const to, signal = "approval-1", "decide"

func TestAProofIsAboutTheWholePayload(t *testing.T) {
	r := ring(t, key("k1", 'a'))
	payload := json.RawMessage(`{"approved":true,"by":"alice","content":{"a":1},"identity":{"subject":"alice"}}`)
	proof, err := r.Prove(to, signal, payload)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		workflow, signal, payload string
		want                      bool
	}{
		"the same":             {to, signal, string(payload), true},
		"spaced":               {to, signal, ` { "approved" : true, "by":"alice","content":{"a":1},"identity":{"subject":"alice"}} `, true},
		"in another order":     {to, signal, `{"by":"alice","approved":true,"content":{"a":1},"identity":{"subject":"alice"}}`, true},
		"with its proof":       {to, signal, `{"proof":"v1.k1.x",` + string(payload[1:]), true},
		"another workflow":     {"approval-2", signal, string(payload), false},
		"another signal":       {to, "cancel", string(payload), false},
		"another decision":     {to, signal, strings.Replace(string(payload), "true", "false", 1), false},
		"another content":      {to, signal, strings.Replace(string(payload), "1", "2", 1), false},
		"another identity":     {to, signal, strings.Replace(string(payload), `"subject":"alice"`, `"subject":"bob"`, 1), false},
		"a member more":        {to, signal, `{"reason":"",` + string(payload[1:]), false},
		"a repeated member":    {to, signal, `{"approved":false,` + string(payload[1:]), false},
		"a member in capitals": {to, signal, `{"APPROVED":false,` + string(payload[1:]), false},
		"a repeated proof":     {to, signal, `{"proof":"a","proof":"b",` + string(payload[1:]), false},
		"a word":               {to, signal, `true`, false},
		"nothing":              {to, signal, `null`, false},
		"no JSON":              {to, signal, `{`, false},
	} {
		if got := r.Proves(tc.workflow, tc.signal, json.RawMessage(tc.payload), proof); got != tc.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}

func TestAProofHoldsForOneKey(t *testing.T) {
	old := ring(t, key("old", 'a'))
	payload := map[string]string{"by": "<alice> & bob"}
	proof, err := old.Prove(to, signal, payload)
	if err != nil {
		t.Fatal(err)
	}
	if !ring(t, key("new", 'b'), key("old", 'a')).Proves(to, signal, payload, proof) {
		t.Error("a rotated key proves nothing any more")
	}
	if ring(t, key("new", 'b')).Proves(to, signal, payload, proof) || ring(t, key("old", 'z')).Proves(to, signal, payload, proof) {
		t.Error("proven without the key")
	}
	for i := range proof {
		if forged := proof[:i] + "A" + proof[i+1:]; forged != proof && old.Proves(to, signal, payload, forged) || old.Proves(to, signal, payload, proof[:i]) {
			t.Errorf("proven by a proof that differs at %d", i)
		}
	}
	if sealed := seal(t, old, credential.Token{Bearer: canary}); old.Proves(here, signal, payload, sealed) {
		t.Error("a sealed token is a proof")
	}
	if text := fmt.Sprintf("%v %+v %#v", old, *old, *old); strings.Contains(text, "aaaa") {
		t.Errorf("the keyring shows its keys: %s", text)
	}
}

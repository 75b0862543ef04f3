package service_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

func TestAKeyBelongsToItsCaller(t *testing.T) {
	known := service.Caller{Session: "s1", OwnSession: true, Token: "t1"}
	id := newID(t, known, "k")
	if id != newID(t, known, "k") || !contract.IsUUID(id) {
		t.Errorf("the same key of the same caller gives %s and %s", id, newID(t, known, "k"))
	}
	for name, other := range map[string]string{
		"another key":     newID(t, known, "k2"),
		"another token":   newID(t, service.Caller{Session: "s1", OwnSession: true, Token: "t2"}, "k"),
		"another session": newID(t, service.Caller{Session: "s2", OwnSession: true, Token: "t1"}, "k"),
		"nobody":          newID(t, service.Caller{Session: "s1"}, "k"),
		"no key":          newID(t, known, ""),
	} {
		if other == id {
			t.Errorf("%s gives the same conversation", name)
		}
	}
	if a, b := (service.Caller{Session: "made-1"}), (service.Caller{Session: "made-2"}); a.RequestID(id, "POST /x", "k") != b.RequestID(id, "POST /x", "k") {
		t.Error("a session that was made up for the request tells its repetitions apart")
	}
	if known.RequestID(id, "POST /x", "k") == known.RequestID(id, "POST /y", "k") {
		t.Error("a key serves for one operation only")
	}
}

func TestAFingerprintIgnoresFormatting(t *testing.T) {
	same := service.Fingerprint("POST\n/x", []byte(`{"a": 1.50, "b":[true] }`))
	if other := service.Fingerprint("POST\n/x", []byte(`{"b":[true],"a":1.50}`)); other != same {
		t.Errorf("%s and %s", same, other)
	}
	for _, body := range []string{`{"a":1.5,"b":[true]}`, `{"a":1.50}`, `no JSON`, ``} {
		if service.Fingerprint("POST\n/x", []byte(body)) == same {
			t.Errorf("%s has the fingerprint of something else", body)
		}
	}
	if service.Fingerprint("POST\n/y", []byte(`{"a":1.50,"b":[true]}`)) == same {
		t.Error("another operation has the same fingerprint")
	}
}

func TestANoteHasTheCallersNameAndALimit(t *testing.T) {
	caller := service.Caller{Subject: "alice"}
	if n, err := caller.Note(service.Note{Reason: "why"}); err != nil || n.By != "alice" {
		t.Errorf("%+v, %v", n, err)
	}
	if n, err := caller.Note(service.Note{By: "bob"}); err != nil || n.By != "bob" {
		t.Errorf("%+v, %v", n, err)
	}
	for _, n := range []service.Note{{Reason: strings.Repeat("x", service.MaxReason+1)}, {By: strings.Repeat("x", 300)}} {
		if _, err := caller.Note(n); !service.IsKind(err, contract.KindInvalid) {
			t.Errorf("a long note: %v", err)
		}
	}
}

func TestAKeyBelongsToAnIdentity(t *testing.T) {
	alice := service.Caller{Token: "t1", Identity: contract.Identity{Subject: "alice", Issuer: "keys"}}
	id := newID(t, alice, "k")
	if again := (service.Caller{Token: "t2", Session: "s", OwnSession: true, Identity: alice.Identity}); newID(t, again, "k") != id {
		t.Error("the key of the same identity is another with another token for tools")
	}
	for name, other := range map[string]contract.Identity{
		"another subject": {Subject: "bob", Issuer: "keys"}, "another issuer": {Subject: "alice", Issuer: "proxy"}, "nobody": {},
	} {
		if newID(t, service.Caller{Token: "t1", Identity: other}, "k") == id {
			t.Errorf("%s gives the same conversation", name)
		}
	}
}

func TestTheNameOfAnIdentityIsProven(t *testing.T) {
	caller := service.Caller{Subject: "root", Identity: contract.Identity{Subject: "alice", Issuer: "keys"}}
	for by, want := range map[string]service.Note{
		"": {By: "alice"}, "alice": {By: "alice"}, "bob": {By: "alice", OnBehalfOf: "bob"},
	} {
		n, err := caller.Note(service.Note{By: by})
		if again, _ := caller.Note(n); err != nil || n != want || again != want {
			t.Errorf("%q: %+v, then %+v, %v", by, n, again, err)
		}
	}
	if _, err := caller.Note(service.Note{By: strings.Repeat("x", 300)}); !service.IsKind(err, contract.KindInvalid) {
		t.Error(err)
	}
}

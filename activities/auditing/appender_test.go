package auditing_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/activities/audit/merkle"
	"agent-stop-and-go/activities/audit/witness"
	"agent-stop-and-go/activities/auditing"
	"agent-stop-and-go/config/blobstore"
	gate "agent-stop-and-go/gateway/witness"
	"agent-stop-and-go/workflows/contract/audit"
	"agent-stop-and-go/workflows/credential/cosigner"
)

// newWitnessed returns an appender with two witnesses, and a way to let the first know the log: before, it
// refuses to sign. The second is away.
func newWitnessed(t *testing.T, required int) (a *auditing.Appender, learn func()) {
	t.Helper()
	s, err := blobstore.Open(t.Context(), "file://"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	text, err := merkle.NewKey("example.com/log")
	if err != nil {
		t.Fatal(err)
	}
	key, err := merkle.ParseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	l, err := merkle.NewLog(merkle.Options{Store: s.Folder("audit"), Origin: "example.com/log", Key: key})
	if err != nil {
		t.Fatal(err)
	}
	e := echo.New()
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	var remotes []*witness.Remote
	var keys []cosigner.Key
	for i, url := range []string{server.URL + "/witness", "http://127.0.0.1:1"} {
		text, err := cosigner.NewKey(fmt.Sprint("example.com/w", i))
		if err != nil {
			t.Fatal(err)
		}
		k, err := cosigner.ParseKey(text)
		if err != nil {
			t.Fatal(err)
		}
		r, err := witness.NewRemote(url, k.Public, server.Client())
		if err != nil {
			t.Fatal(err)
		}
		remotes, keys = append(remotes, r), append(keys, k)
	}
	a = &auditing.Appender{Log: l, Witnesses: witness.NewPanel(l, s.Folder("audit"), remotes...), Required: required}
	return a, func() {
		g, err := gate.New(gate.Options{Store: s.Folder("witness"), Key: keys[0], Logs: []string{key.Public}, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		e.POST(gate.PathAdd, g.Add)
	}
}

var batch = audit.Batch{Leaves: []audit.Leaf{{ID: "a", Kind: audit.KindSwitch}}}

// Nothing waits for witnesses that are not required.
func TestWitnessesSignAfterTheBatch(t *testing.T) {
	a, learn := newWitnessed(t, 0)
	h, err := a.Append(t.Context(), batch)
	if err != nil || h.Size != 1 || h.Unsigned != 2 {
		t.Fatalf("%+v, %v", h, err)
	}
	learn()
	all, err := a.Cosign(t.Context(), h)
	if err != nil || len(all) != 2 || all[0] != (audit.Witnessed{Name: "example.com/w0", Size: 1}) || all[1].Problem == "" {
		t.Errorf("%+v, %v", all, err)
	}
	none := &auditing.Appender{Log: a.Log}
	if h, err := none.Append(t.Context(), batch); err != nil || h.Unsigned != 0 {
		t.Errorf("%+v, %v", h, err)
	}
	if all, err := none.Cosign(context.Background(), h); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
}

// A batch counts as written when as many have signed as must, and is written once.
func TestABatchWaitsForTheWitnessesThatAreRequired(t *testing.T) {
	a, learn := newWitnessed(t, 1)
	for range 2 {
		_, err := a.Append(t.Context(), batch)
		var app *temporal.ApplicationError
		if !errors.As(err, &app) || app.Type() != string(audit.KindUnwritten) || !strings.Contains(err.Error(), "0 of 2 witnesses have signed it, and 1 must") {
			t.Fatalf("without a signature: %v", err)
		}
		var u audit.Unsigned
		if err := app.Details(&u); err != nil || len(u.Witnesses) != 2 || u.Witnesses[1].Name != "example.com/w1" || u.Witnesses[1].Problem == "" {
			t.Fatalf("which ones: %+v, %v", u, err)
		}
	}
	learn()
	if h, err := a.Append(t.Context(), batch); err != nil || h.Size != 1 || h.Unsigned != 1 || h.Signed != "example.com/w0" {
		t.Errorf("%+v, %v", h, err)
	}
	a.Required = 2
	if _, err := a.Append(t.Context(), batch); err == nil || !strings.Contains(err.Error(), "1 of 2 witnesses") {
		t.Errorf("two are required: %v", err)
	}
}

package gateway_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/witness"
	"agent-stop-and-go/workflows/credential/cosigner"
)

// Another agent's log is signed at the gateway, also where callers must prove who they are; it proves itself.
func TestAGatewayIsAWitness(t *testing.T) {
	private, public, err := note.GenerateKey(rand.Reader, "example.com/log")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	text, err := cosigner.NewKey("example.com/w")
	if err != nil {
		t.Fatal(err)
	}
	key, err := cosigner.ParseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	store, err := blobstore.Open(t.Context(), "file://"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	signing, err := witness.New(witness.Options{Store: store.Folder("witness"), Key: key, Logs: []string{public}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	a := newAPI(t, &fakeBackend{}, func(d *gateway.Deps) { d.Witness, d.Callers = signing, badgesOnly })
	signed, err := note.Sign(&note.Note{Text: "example.com/log\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"}, signer)
	if err != nil {
		t.Fatal(err)
	}
	plain := "Content-Type: text/plain"
	if r := a.want(200, a.do("POST", witness.PathAdd, "old 0\n\n"+string(signed), plain)); !strings.HasPrefix(r.raw, "— example.com/w ") {
		t.Errorf("%q", r.raw)
	}
	refuse := func(body string) *httptest.ResponseRecorder { // with a text of the protocol, and not as the API does
		w := httptest.NewRecorder()
		a.ServeHTTP(w, newRequest("POST", witness.PathAdd, body, plain))
		return w
	}
	if w := refuse("old 0\n\n" + string(signed)); w.Code != 409 || w.Body.String() != "1\n" || w.Header().Get("Content-Type") != "text/x.tlog.size" {
		t.Errorf("%d %q, %v", w.Code, w.Body, w.Header())
	}
	for status, body := range map[int]string{
		400: "old 0\n", 403: "old 0\n\nexample.com/log\n1\nx\n\n— x AAAAAAA=\n", 404: "old 0\n\nexample.com/other\n",
	} {
		if w := refuse(body); w.Code != status {
			t.Errorf("%d %q, expected %d", w.Code, w.Body, status)
		}
	}
	const path = "/witness/logs/LOG/checkpoint"
	sum := sha256.Sum256([]byte("example.com/log"))
	if r := a.want(200, a.do("GET", strings.Replace(path, "LOG", hex.EncodeToString(sum[:]), 1), "")); !strings.HasPrefix(r.raw, "example.com/log\n1\n") {
		t.Errorf("%q", r.raw)
	}
	a.wantError(404, "no witness", a.do("GET", strings.Replace(path, "LOG", "unknown", 1), ""))
	b := newAPI(t, &fakeBackend{})
	b.wantError(404, "no witness", b.do("POST", witness.PathAdd, "old 0\n", plain))
}

package cosigner_test

import (
	"crypto/rand"
	"path/filepath"
	"strings"
	"testing"

	fnote "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"

	"agent-stop-and-go/workflows/credential/cosigner"
)

func TestAKeyCountersignsWhatOthersVerify(t *testing.T) {
	file := filepath.Join(t.TempDir(), "witness.key")
	k, err := cosigner.KeyFile(file, "example.com/w")
	if err != nil {
		t.Fatal(err)
	}
	again, err := cosigner.KeyFile(file, "another name") // it is there
	if err != nil || again.Public != k.Public {
		t.Fatalf("%q and %q, %v", k.Public, again.Public, err)
	}
	signed, err := note.Sign(&note.Note{Text: "example.com/log\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"}, k.Signer)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := fnote.NewVerifierForCosignatureV1(k.Public)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := note.Open(signed, note.VerifierList(theirs)); err != nil || len(n.Sigs) != 1 {
		t.Errorf("%v\n%s", err, signed)
	}
}

func TestPublicKeysAreRead(t *testing.T) {
	text, err := cosigner.NewKey("example.com/w")
	if err != nil {
		t.Fatal(err)
	}
	private, public, _ := strings.Cut(text, "\n")
	for name, key := range map[string]string{"another ID": changed(public), "a private key": private, "half of one": public[:20], "nothing": ""} {
		if v, err := cosigner.Verifier(key); err == nil {
			t.Errorf("%s is read: %s+%08x", name, v.Name(), v.KeyHash())
		}
	}
	other, err := cosigner.NewKey("example.com/w")
	if err != nil {
		t.Fatal(err)
	}
	_, theirs, _ := strings.Cut(other, "\n")
	for want, text := range map[string]string{"must have a private and a public key": private, "do not belong together": private + " " + theirs, "private key cannot be read": public + " " + public} {
		if _, err := cosigner.ParseKey(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), private) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
	_, plain, err := note.GenerateKey(rand.Reader, "example.com/w") // type 0x01
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cosigner.Verifier(plain); err == nil || !strings.Contains(err.Error(), "type 0x04") {
		t.Errorf("a key for signatures without a time: %v", err)
	}
}

// changed changes the ID of a public key.
func changed(public string) string {
	i := strings.Index(public, "+") + 1
	return public[:i] + string('0'+(public[i]-'0'+1)%10) + public[i+1:]
}

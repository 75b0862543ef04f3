package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	fnote "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// proof is an export that a test makes, and the keys that have signed its checkpoint.
type proof struct {
	lines   []string
	texts   map[int]string // by line: the JSON of a text
	log     note.Signer
	keys    []string
	witness note.Signer
}

func newProof(t *testing.T) *proof {
	t.Helper()
	p := &proof{texts: map[int]string{}}
	for i, name := range []string{"log", "log/witness"} {
		private, public, err := note.GenerateKey(rand.Reader, name)
		if err != nil {
			t.Fatal(err)
		}
		signer, err := note.NewSigner(private)
		if err != nil {
			t.Fatal(err)
		}
		if p.keys = append(p.keys, public); i == 0 {
			p.log = signer
		} else {
			p.witness = signer
		}
	}
	text := `{"leaf":"shown/a","salt":"c2FsdA==","content":{"description":"remove it"}}`
	p.texts[1] = text
	p.lines = []string{
		`{"id":"proposal/p","kind":"proposal","conversation":"c"}`,
		`{"id":"shown/a","kind":"shown","conversation":"c","approval":"a","proposal":"proposal/p","reason":"destructive","text":"` + sum([]byte("salt"), []byte(`{"description":"remove it"}`)) + `"}`,
		`{"id":"decision/a","kind":"decision","conversation":"c","approval":"a","decision":"approved","actor":{"subject":"alice","issuer":"keys","proven":true,"channel":"rest"}}`,
		`{"id":"call/r/1","kind":"call","conversation":"c","activity":"r/1","proposal":"proposal/p"}`,
		`{"id":"outcome/r/1","kind":"outcome","conversation":"c","activity":"r/1","outcome":"done"}`,
		`{"id":"outcome/r/2","kind":"outcome","conversation":"c","activity":"r/2","outcome":"not_sent"}`,
	}
	return p
}

// file writes the export of a log with the lines, without those that are left out.
func (p *proof) file(t *testing.T, signers []note.Signer, without ...int) string {
	t.Helper()
	var hashes []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) (out []tlog.Hash, err error) {
		for _, i := range indexes {
			out = append(out, hashes[i])
		}
		return out, nil
	})
	for i, line := range p.lines {
		more, err := tlog.StoredHashes(int64(i), []byte(line), reader)
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, more...)
	}
	size := int64(len(p.lines))
	root, err := tlog.TreeHash(size, reader)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := note.Sign(&note.Note{Text: "log\n" + "6\n" + root.String() + "\n"}, signers...)
	if err != nil {
		t.Fatal(err)
	}
	e := map[string]any{"format": format, "conversation": "c", "checkpoint": string(signed)}
	var leaves []map[string]any
	for i, line := range p.lines {
		inclusion, err := tlog.ProveRecord(size, int64(i), reader)
		if err != nil {
			t.Fatal(err)
		}
		l := map[string]any{"index": i, "line": line, "proof": inclusion}
		if text := p.texts[i]; text != "" {
			l["text"] = json.RawMessage(text)
		}
		if len(without) == 0 || without[0] != i {
			leaves = append(leaves, l)
		}
	}
	e["leaves"] = leaves
	data, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "proof.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (p *proof) verify(t *testing.T, file string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	code := run([]string{"--key", p.keys[0], "--key", p.keys[1], file}, &out, &out)
	return out.String(), code
}

func TestAProofHoldsOrSaysWhatDoesNot(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*proof)
		without []int
		alone   bool // only the log has signed
		want    string
		code    int
	}{
		"whole":                          {want: "6 events are proven", code: 0},
		"an erased text":                 {change: func(p *proof) { delete(p.texts, 1) }, want: "erased", code: 0},
		"another text":                   {change: func(p *proof) { p.texts[1] = strings.Replace(p.texts[1], "remove", "insert", 1) }, want: "event 1 (shown): its text is another one", code: 1},
		"no witness":                     {alone: true, want: "1 of 2 keys have signed it", code: 1},
		"no approval":                    {without: []int{2}, want: "event 3 (call): people were asked about the call, and it ran without an approval", code: 1},
		"no proposal":                    {without: []int{0}, want: "event 3 (call): the call was not proposed before", code: 1},
		"nothing shown":                  {without: []int{1}, want: "event 2 (decision): it is about what was not shown", code: 1},
		"no call":                        {without: []int{3}, want: "event 4 (outcome): it is of no call", code: 1},
		"a leaf of another conversation": {change: func(p *proof) { p.lines[4] = strings.Replace(p.lines[4], `"c"`, `"d"`, 1) }, want: "event 4 (outcome): it is of another conversation", code: 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProof(t)
			if c.change != nil {
				c.change(p)
			}
			signers := []note.Signer{p.log, p.witness}
			if c.alone {
				signers = signers[:1]
			}
			out, code := p.verify(t, p.file(t, signers, c.without...))
			if code != c.code || !strings.Contains(out, c.want) {
				t.Errorf("exit code %d, expected %d and %q:\n%s", code, c.code, c.want, out)
			}
		})
	}
}

func TestALeafThatIsChangedAfterwardsIsNotInTheLog(t *testing.T) {
	p := newProof(t)
	file := p.file(t, []note.Signer{p.log, p.witness})
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, bytes.Replace(data, []byte("alice"), []byte("mallory"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code := p.verify(t, file); code != 1 || !strings.Contains(out, "event 2 (decision): it is not in the log") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code := p.verify(t, file); code != 2 {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

// A witness in another agent signs with a time.
func TestAWitnessMaySignWithATime(t *testing.T) {
	p := newProof(t)
	private, public, err := note.GenerateKey(rand.Reader, "w")
	if err != nil {
		t.Fatal(err)
	}
	if p.witness, err = fnote.NewSignerForCosignatureV1(private); err != nil {
		t.Fatal(err)
	}
	if p.keys[1], err = fnote.VKeyToCosignatureV1(public); err != nil {
		t.Fatal(err)
	}
	if out, code := p.verify(t, p.file(t, []note.Signer{p.log, p.witness})); code != 0 {
		t.Errorf("%d: %s", code, out)
	}
	if out, code := p.verify(t, p.file(t, []note.Signer{p.log})); code != 1 || !strings.Contains(out, "1 of 2 keys have signed it") {
		t.Errorf("%d: %s", code, out)
	}
}

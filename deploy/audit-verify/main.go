// Command audit-verify checks a file of agent audit export without the agent, its server and its
// log: that the log's key, and its witness's, have signed the checkpoint; that each event is in the
// log of that checkpoint; that each text is the one that the event commits to; and that no call ran
// without what must be there before it. It needs nothing but the file and the public keys.
//
//	audit-verify --key 'example.com/agents+…' [--key 'example.com/agents/witness+…'] export.json
//
// Every key that is given must have signed. It exits with 0 if everything holds, 1 if something
// does not, 2 if it cannot tell. What it cannot know is whether the file has all events of the
// conversation: whoever exports may leave some out.
package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	fnote "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const format = "agent-audit-export/1"

type export struct {
	Format       string   `json:"format"`
	Conversation string   `json:"conversation"`
	Checkpoint   string   `json:"checkpoint"`
	Leaves       []record `json:"leaves"`
}

type record struct {
	Index int64            `json:"index"`
	Line  string           `json:"line"`
	Proof tlog.RecordProof `json:"proof"`
	Text  *struct {
		Leaf    string          `json:"leaf"`
		Salt    []byte          `json:"salt"`
		Content json.RawMessage `json:"content"`
	} `json:"text"`
}

type leaf struct {
	ID           string    `json:"id"`
	Kind         string    `json:"kind"`
	At           time.Time `json:"at"`
	Conversation string    `json:"conversation"`
	Server       string    `json:"server"`
	Tool         string    `json:"tool"`
	Proposal     string    `json:"proposal"`
	Activity     string    `json:"activity"`
	Approval     string    `json:"approval"`
	Reason       string    `json:"reason"`
	Decision     string    `json:"decision"`
	Outcome      string    `json:"outcome"`
	Text         string    `json:"text"`
	Actor        *struct {
		Subject string `json:"subject"`
		Issuer  string `json:"issuer"`
		Proven  bool   `json:"proven"`
		Channel string `json:"channel"`
	} `json:"actor"`
	For *struct {
		Subject string `json:"subject"`
		Issuer  string `json:"issuer"`
		Deputy  string `json:"deputy"`
	} `json:"for"`
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	file, keys, err := parse(args)
	if err != nil {
		fmt.Fprintln(stderr, "audit-verify:", err)
		return 2
	}
	data, err := os.ReadFile(file)
	if err != nil {
		fmt.Fprintln(stderr, "audit-verify:", err)
		return 2
	}
	var e export
	if err := json.Unmarshal(data, &e); err != nil || e.Format != format {
		fmt.Fprintf(stderr, "audit-verify: %s is no export of an audit log (%s)\n", file, format)
		return 2
	}
	size, root, err := checkpoint(e.Checkpoint, keys)
	if err != nil {
		fmt.Fprintln(stdout, "NOT PROVEN: the checkpoint:", err)
		return 1
	}
	fmt.Fprintf(stdout, "conversation %q, log of %d events, signed by %d keys\n", e.Conversation, size, len(keys))
	faults := check(e, size, root, stdout)
	for _, f := range faults {
		fmt.Fprintln(stdout, "NOT PROVEN:", f)
	}
	if len(faults) > 0 {
		return 1
	}
	fmt.Fprintf(stdout, "%d events are proven\n", len(e.Leaves))
	return 0
}

func parse(args []string) (file string, keys []note.Verifier, err error) {
	usage := errors.New("usage: audit-verify --key PUBLIC-KEY [--key PUBLIC-KEY] FILE")
	for len(args) > 0 {
		switch {
		case (args[0] == "--key" || args[0] == "-key") && len(args) > 1:
			k, err := verifier(strings.TrimSpace(args[1]), len(keys) == 0)
			if err != nil {
				return "", nil, fmt.Errorf("the key %q: %w", args[1], err)
			}
			keys, args = append(keys, k), args[2:]
		case file == "" && !strings.HasPrefix(args[0], "-"):
			file, args = args[0], args[1:]
		default:
			return "", nil, usage
		}
	}
	if file == "" || len(keys) == 0 {
		return "", nil, usage
	}
	return file, keys, nil
}

// verifier reads a public key: that of the log, or of a witness, which may sign with a time (C2SP
// tlog-cosignature).
func verifier(key string, ofLog bool) (note.Verifier, error) {
	k, err := note.NewVerifier(key)
	if err == nil || ofLog {
		return k, err
	}
	return fnote.NewVerifierForCosignatureV1(key)
}

// checkpoint reads a checkpoint that all keys have signed. The first key is the log's.
func checkpoint(text string, keys []note.Verifier) (size int64, root tlog.Hash, err error) {
	n, err := note.Open([]byte(text), note.VerifierList(keys...))
	if err != nil {
		return 0, root, err
	}
	if len(n.Sigs) != len(keys) {
		return 0, root, fmt.Errorf("%d of %d keys have signed it", len(n.Sigs), len(keys))
	}
	lines := strings.Split(n.Text, "\n")
	if len(lines) < 4 || lines[0] != keys[0].Name() {
		return 0, root, fmt.Errorf("it is not one of %s", keys[0].Name())
	}
	if size, err = strconv.ParseInt(lines[1], 10, 64); err != nil {
		return 0, root, err
	}
	root, err = tlog.ParseHash(lines[2])
	return size, root, err
}

// check prints the events and returns what does not hold.
func check(e export, size int64, root tlog.Hash, stdout io.Writer) (faults []string) {
	last := int64(-1)
	proposed, asked, approved, shown, called := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]leaf{}, map[string]bool{}
	for _, r := range e.Leaves {
		var l leaf
		fault := func(format string, args ...any) {
			faults = append(faults, fmt.Sprintf("event %d (%s): ", r.Index, l.Kind)+fmt.Sprintf(format, args...))
		}
		if err := json.Unmarshal([]byte(r.Line), &l); err != nil {
			fault("it cannot be read")
			continue
		}
		if err := tlog.CheckRecord(r.Proof, size, root, r.Index, tlog.RecordHash([]byte(r.Line))); err != nil {
			fault("it is not in the log")
		}
		if r.Index <= last {
			fault("it is out of order")
		}
		last = r.Index
		if l.Conversation != e.Conversation {
			fault("it is of another conversation")
		}
		switch {
		case r.Text == nil:
		case r.Text.Leaf != l.ID || sum(r.Text.Salt, r.Text.Content) != l.Text:
			fault("its text is another one")
		}
		switch l.Kind {
		case "proposal":
			proposed[l.ID] = true
		case "shown":
			shown[l.Approval] = l
			asked[l.Proposal] = asked[l.Proposal] || l.Reason == "destructive"
		case "decision":
			s, there := shown[l.Approval]
			if !there {
				fault("it is about what was not shown")
			}
			approved[s.Proposal] = approved[s.Proposal] || s.Reason == "destructive" && l.Decision == "approved"
		case "call":
			if !proposed[l.Proposal] {
				fault("the call was not proposed before")
			}
			if asked[l.Proposal] && !approved[l.Proposal] {
				fault("people were asked about the call, and it ran without an approval")
			}
			called[l.Activity] = true
		case "outcome":
			if !called[l.Activity] && l.Outcome != "not_sent" {
				fault("it is of no call")
			}
		}
		show(stdout, r, l)
	}
	return faults
}

func sum(salt, content []byte) string {
	var compact []byte // the content as it was hashed, whatever the file's indentation
	if b, err := json.Marshal(json.RawMessage(content)); err == nil {
		compact = b
	}
	h := sha256.Sum256(append(append([]byte{}, salt...), compact...))
	return base64.StdEncoding.EncodeToString(h[:])
}

func show(w io.Writer, r record, l leaf) {
	text := "erased"
	switch {
	case r.Text != nil:
		text = fmt.Sprintf("%.200s", string(compact(r.Text.Content)))
	case l.Text == "":
		text = ""
	}
	who := ""
	if l.Actor != nil {
		who = "by nobody proven, " + l.Actor.Channel
		if l.Actor.Proven {
			who = fmt.Sprintf("by %q of %q, %s", l.Actor.Subject, l.Actor.Issuer, l.Actor.Channel)
		}
	}
	if l.For != nil {
		who += fmt.Sprintf(", for %q of %q, deputy %s", l.For.Subject, l.For.Issuer, l.For.Deputy)
	}
	fmt.Fprintf(w, "%6d  %s  %-9s %q %s%s %s %s\n", r.Index, l.At.Format(time.RFC3339), l.Kind, l.Tool, l.Decision, l.Outcome, who, text)
}

func compact(content json.RawMessage) []byte {
	b, _ := json.Marshal(content)
	return b
}

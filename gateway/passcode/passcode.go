package passcode

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// Lifetime is how long a code holds at most, and at least a minute less.
const Lifetime = 10 * time.Minute

// The codes have no letters that look like digits (Crockford's Base32).
var alphabet = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// Prover proves a payload with keys that all gateways have, like a credential.Keyring.
type Prover interface {
	Prove(workflowID, name string, payload any) (string, error)
}

// Codes makes and checks codes. It is safe for concurrent use.
type Codes struct {
	prover Prover
	own    []byte // the key of this process, without a prover
	now    func() time.Time
}

// New returns the codes of a gateway. Without a prover they hold in this process only.
func New(prover Prover, now func() time.Time) *Codes {
	c := &Codes{prover: prover, now: now}
	if prover == nil {
		c.own = make([]byte, sha256.Size)
		_, _ = rand.Read(c.own) // never fails, see crypto/rand.Read
	}
	return c
}

// about is what a code is about.
type about struct {
	UUID         string            `json:"uuid"`
	Conversation string            `json:"conversation"`
	Digest       string            `json:"digest"`
	Binding      *contract.Binding `json:"binding,omitempty"`
	Reason       contract.Reason   `json:"reason,omitempty"`
	Person       string            `json:"person"`
	Minute       int64             `json:"minute"`
}

const (
	slot  = time.Minute
	slots = int64(Lifetime / slot)
)

// Code returns the code with which a person decides an approval now: ten letters and digits, in two
// groups.
func (c *Codes) Code(p contract.PendingApproval, person string) (string, error) {
	return c.at(p, person, c.minute())
}

func (c *Codes) minute() int64 { return c.now().Unix() / int64(slot/time.Second) }

func (c *Codes) at(p contract.PendingApproval, person string, minute int64) (string, error) {
	sum, err := c.sum(contract.ApprovalWorkflowID(p.UUID), "passcode", about{p.UUID, p.ConversationID, p.Digest, p.Binding, p.Reason, person, minute})
	if err != nil {
		return "", err
	}
	code := alphabet.EncodeToString(sum)[:10]
	return code[:5] + "-" + code[5:], nil
}

// Seal returns a text that only gateways of this agent make of a payload about a conversation.
func (c *Codes) Seal(conversationID, name string, payload any) (string, error) {
	sum, err := c.sum(contract.ConversationWorkflowID(conversationID), name, payload)
	return alphabet.EncodeToString(sum), err
}

func (c *Codes) sum(workflowID, name string, payload any) ([]byte, error) {
	if c.prover != nil {
		proof, err := c.prover.Prove(workflowID, name, payload)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256([]byte(proof))
		return sum[:], nil
	}
	text, err := json.Marshal([]any{workflowID, name, payload})
	if err != nil {
		return nil, err
	}
	h := hmac.New(sha256.New, c.own)
	h.Write(text)
	return h.Sum(nil), nil
}

// Holds reports whether a code is one that the person got for an approval within its lifetime.
func (c *Codes) Holds(code string, p contract.PendingApproval, person string) bool {
	now, holds := c.minute(), false
	for n := range slots {
		want, err := c.at(p, person, now-n)
		if err == nil && hmac.Equal([]byte(want), []byte(code)) {
			holds = true
		}
	}
	return holds
}

// Command is a decision by a code.
type Command struct {
	Approved bool
	Code     string
	Reason   string
}

var command = regexp.MustCompile(`(?i)^\s*(approve|reject)[ \t]+([0-9a-z]{5})-?([0-9a-z]{5})(?:[ \t]+([^\r\n]+?))?\s*$`)

// confused are letters that people type for digits.
var confused = strings.NewReplacer("O", "0", "I", "1", "L", "1")

// Parse returns the decision that a message is. It must be the whole message, in one line: a code
// that is quoted or pasted among other text decides nothing.
func Parse(message string) (Command, bool) {
	m := command.FindStringSubmatch(message)
	if m == nil || !strings.ContainsAny(m[2]+m[3], "0123456789") && !strings.Contains(message, "-") {
		return Command{}, false // such as: approve after testing
	}
	code := confused.Replace(strings.ToUpper(m[2])) + "-" + confused.Replace(strings.ToUpper(m[3]))
	return Command{strings.EqualFold(m[1], "approve"), code, m[4]}, true
}

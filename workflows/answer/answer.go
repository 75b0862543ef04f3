package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deputy"
	"agent-stop-and-go/workflows/contract/grant"
)

// Accepted describes the accepted answers to people.
const Accepted = `accepted is {"approved":true} or {"approved":false}, {"answer":WORD}, {"action":WORD}, or a bare WORD; ` +
	`words for yes: yes y true approve approved ok confirm confirmed allow; ` +
	`words for no: no n false reject rejected deny denied cancel`

var (
	yes = []string{"yes", "y", "true", "approve", "approved", "ok", "confirm", "confirmed", "allow"}
	no  = []string{"no", "n", "false", "reject", "rejected", "deny", "denied", "cancel"}
)

// Answer is a decision, and the person's data about it.
type Answer struct {
	Approved   bool
	By         string
	Reason     string
	RequestID  string
	Via        string
	Chain      []string
	Credential string
	OnBehalfOf string
	Identity   contract.Identity
	Proof      string
	For        *deputy.Deputy
	// Edit are changes of the arguments; see package edit.
	Edit json.RawMessage
	// Always is a standing grant for later calls; see package standing of contract.
	Always *grant.Choice
	// Echo is for the protocol of the caller.
	Echo contract.JSON
}

// Parse parses an answer in any accepted shape. Of the keys "answer", "action" and "approved"
// those that are set must agree; keys are matched in any case, and unknown ones are ignored. An
// error describes the accepted answers.
func Parse(raw json.RawMessage) (Answer, error) {
	a, err := parse(raw)
	if err != nil {
		return Answer{}, fmt.Errorf("%w; %s", err, Accepted)
	}
	return a, nil
}

// Word parses a single word; ok is false if it neither approves nor rejects.
func Word(s string) (approved, ok bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	approved = slices.Contains(yes, s)
	return approved, approved || slices.Contains(no, s)
}

func parse(raw json.RawMessage) (Answer, error) {
	raw = bytes.TrimSpace(raw)
	if !json.Valid(raw) {
		return Answer{}, errors.New("the answer is not JSON")
	}
	if raw[0] == '{' {
		return parseObject(raw)
	}
	approved, given, err := parseDecision("the answer", raw)
	if err == nil && !given {
		err = errors.New("there is no answer")
	}
	return Answer{Approved: approved}, err
}

// parseDecision parses a value that may approve or reject. An empty string and null do neither.
func parseDecision(key string, raw json.RawMessage) (approved, given bool, err error) {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return false, false, fmt.Errorf("%s cannot be read", key)
	}
	switch v := v.(type) {
	case nil:
		return false, false, nil
	case bool:
		return v, true, nil
	case string:
		if strings.TrimSpace(v) == "" {
			return false, false, nil
		}
		if approved, given = Word(v); !given {
			return false, false, fmt.Errorf("%s is neither a yes nor a no: %.40q", key, v)
		}
		return approved, true, nil
	}
	return false, false, fmt.Errorf("%s must be a word, true or false", key)
}

// decisionFields collects the keys of an object. Keys may repeat, so tokens are read: a map
// would keep the last of two contradicting ones.
type decisionFields struct {
	answer Answer
	by     string // the key that decided
}

func parseObject(raw json.RawMessage) (Answer, error) {
	var b decisionFields
	if err := members(raw, b.take); err != nil {
		return Answer{}, err
	}
	if b.by == "" {
		return Answer{}, errors.New("there is no answer")
	}
	return b.answer, nil
}

// members calls take with each key of an object, in lower case, and its value.
func members(raw json.RawMessage, take func(key string, value json.RawMessage) error) error {
	return eachMember(raw, func(key string, value json.RawMessage) error { return take(strings.ToLower(key), value) })
}

func eachMember(raw json.RawMessage, take func(key string, value json.RawMessage) error) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return errors.New("the answer is not JSON")
	}
	for dec.More() {
		key, value, err := member(dec)
		if err == nil {
			err = take(key, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func member(dec *json.Decoder) (key string, value json.RawMessage, err error) {
	token, err := dec.Token()
	if err != nil {
		return "", nil, errors.New("the answer is not JSON")
	}
	key, _ = token.(string)
	if err := dec.Decode(&value); err != nil && !errors.Is(err, io.EOF) {
		return "", nil, errors.New("the answer is not JSON")
	}
	return key, value, nil
}

// reasonFields are the keys that do not decide.
var reasonFields = []string{"by", "reason", "request_id", "via", "credential", "chain", "on_behalf_of", "identity", "proof"}

func (b *decisionFields) take(key string, value json.RawMessage) error {
	switch key {
	case "answer", "action", "approved":
		return b.count(key, value)
	case "by":
		return text(key, value, &b.answer.By)
	case "reason":
		return text(key, value, &b.answer.Reason)
	case "request_id":
		return text(key, value, &b.answer.RequestID)
	case "via":
		return text(key, value, &b.answer.Via)
	case "credential":
		return text(key, value, &b.answer.Credential)
	case "on_behalf_of":
		return text(key, value, &b.answer.OnBehalfOf)
	case "proof":
		return text(key, value, &b.answer.Proof)
	case "identity":
		if json.Unmarshal(value, &b.answer.Identity) != nil {
			return fmt.Errorf("%q must be an identity", key)
		}
	case "edit":
		if b.answer.Edit != nil {
			return fmt.Errorf("%q is there twice", key)
		}
		if string(value) != "null" {
			b.answer.Edit = value
		}
	case "always":
		if b.answer.Always != nil {
			return fmt.Errorf("%q is there twice", key)
		}
		if json.Unmarshal(value, &b.answer.Always) != nil {
			return fmt.Errorf("%q must say scope, until, uses, open and digest", key)
		}
	case "echo":
		if json.Unmarshal(value, &b.answer.Echo) != nil {
			return fmt.Errorf("%q cannot be read", key)
		}
	case "for":
		if json.Unmarshal(value, &b.answer.For) != nil {
			return fmt.Errorf("%q must be a deputy", key)
		}
	case "chain":
		if json.Unmarshal(value, &b.answer.Chain) != nil {
			return fmt.Errorf("%q must be a list of names", key)
		}
	}
	return nil
}

func (b *decisionFields) count(key string, value json.RawMessage) error {
	approved, given, err := parseDecision(fmt.Sprintf("%q", key), value)
	switch {
	case err != nil || !given:
		return err
	case b.by != "" && b.answer.Approved != approved:
		return fmt.Errorf("%q and %q contradict each other", b.by, key)
	}
	b.answer.Approved, b.by = approved, key
	return nil
}

func text(key string, value json.RawMessage, into *string) error {
	if json.Unmarshal(value, into) != nil {
		return fmt.Errorf("%q must be a string", key)
	}
	return nil
}

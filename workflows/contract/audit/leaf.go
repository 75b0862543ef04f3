package audit

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deputy"
)

// Kind is what a leaf records.
type Kind string

// The kinds.
const (
	KindProposal Kind = "proposal"
	KindShown    Kind = "shown"
	KindEdit     Kind = "edit"
	KindDecision Kind = "decision"
	KindCall     Kind = "call"
	KindOutcome  Kind = "outcome"
	KindPolicy   Kind = "policy"
	KindKey      Kind = "key"
	KindSwitch   Kind = "switch"
	KindLimit    Kind = "limit"
	KindDeputy   Kind = "deputy"
	KindGrant    Kind = "grant"
	KindDeletion Kind = "deletion"

	KindJudgement Kind = "judgement"
	KindRelease   Kind = "release"
)

// Outcomes of calls. Any other is the kind of the failure, such as outcome_unknown.
const (
	OutcomeDone  = "done"       // the far side has carried it out
	OutcomeError = "tool_error" // the far side has answered that it has not
	// OutcomeNotSent: the activity gave up before it sent anything.
	OutcomeNotSent = "not_sent"
)

// Leaf is one event. Its line in the log is its JSON, which is hashed as it is stored.
type Leaf struct {
	// ID identifies the event: two leaves with one ID are one event, and the second is dropped.
	ID   string    `json:"id"`
	Kind Kind      `json:"kind"`
	At   time.Time `json:"at"`

	Conversation string `json:"conversation,omitempty"`
	Agent        string `json:"agent,omitempty"`
	Node         string `json:"node,omitempty"`
	Server       string `json:"server,omitempty"`
	Tool         string `json:"tool,omitempty"`
	// Proposal is the ID of the proposal that the event is about, and Call the idempotency key.
	Proposal string `json:"proposal,omitempty"`
	Call     string `json:"call,omitempty"`
	// Activity names the activity of a call and its outcome; see ActivityRef.
	Activity string `json:"activity,omitempty"`
	// Approval is the UUID of the approval, and Reason is why it was opened.
	Approval string          `json:"approval,omitempty"`
	Reason   contract.Reason `json:"reason,omitempty"`
	Rule     string          `json:"rule,omitempty"`
	// Policy is the version of the rules.
	Policy   string            `json:"policy,omitempty"`
	Decision contract.Decision `json:"decision,omitempty"`
	Actor    *Actor            `json:"actor,omitempty"`
	// For is set if the actor has decided in the place of somebody.
	For     *Deputized `json:"for,omitempty"`
	Outcome string     `json:"outcome,omitempty"`
	// Grant is the ID of the standing grant that a grant is about, or because of which a call runs.
	Grant string `json:"grant,omitempty"`
	// To is who was made a deputy of For, or is none any more, and Until how long.
	To    *contract.Name `json:"to,omitempty"`
	Until time.Time      `json:"until,omitzero"`
	// What is what happened to which switch, deputy or grant, the agent of a policy, the name of a limit, or what
	// keys are for, and Version the IDs of the keys, or what is set.
	What    string `json:"what,omitempty"`
	Version string `json:"version,omitempty"`
	// Tombstone is the SHA-256 of what is left of a deleted conversation; see deletion.Tombstone.
	Tombstone string `json:"tombstone,omitempty"`
	// Text commits to a Text; see Text.Sum.
	Text string `json:"text,omitempty"`
}

// Actor is who has decided something. Names that are only claimed are in the text.
type Actor struct {
	Subject string `json:"subject,omitempty"`
	Issuer  string `json:"issuer,omitempty"`
	// Proven is set if an issuer vouches for the subject.
	Proven  bool   `json:"proven"`
	Channel string `json:"channel,omitempty"`
}

// ActorOf returns the actor of an identity that was checked. via is the channel without one.
func ActorOf(i contract.Identity, via string) *Actor {
	a := &Actor{Subject: i.Subject, Issuer: i.Issuer, Proven: i.Authenticated(), Channel: i.Channel}
	if a.Channel == "" {
		a.Channel = via
	}
	return a
}

// Deputized is the person in whose place somebody has decided, and the ID of the deputy, which is
// in the record of the appointment.
type Deputized struct {
	Subject string `json:"subject"`
	Issuer  string `json:"issuer"`
	Deputy  string `json:"deputy"`
}

// DeputizedBy returns the person in whose place a deputy has decided; nil without a deputy.
func DeputizedBy(d *deputy.Deputy) *Deputized {
	if d == nil {
		return nil
	}
	return &Deputized{Subject: d.From.Subject, Issuer: d.From.Issuer, Deputy: d.ID}
}

// State returns what a leaf sets, and to what: a policy or a key. A leaf that sets what is set
// already is dropped. ok is false for other leaves.
func (l Leaf) State() (name, value string, ok bool) {
	return string(l.Kind) + " " + cut(l.What), cut(l.Policy) + l.Version, l.Kind == KindPolicy || l.Kind == KindKey
}

// Name returns a name for lists: the key of the identity, or "nobody proven (CHANNEL)".
func (a *Actor) Name() string {
	switch {
	case a == nil:
		return "nobody"
	case a.Proven:
		return contract.Identity{Subject: a.Subject, Issuer: a.Issuer}.Key()
	}
	return "nobody proven (" + a.Channel + ")"
}

// maxName bounds a name from outside in a leaf, in characters.
const maxName = 200

// MaxLeaf bounds the line of a leaf, in bytes.
const MaxLeaf = 8 << 10

// Line returns the line of a leaf, without a line break.
func (l Leaf) Line() ([]byte, error) {
	for _, name := range []*string{&l.Agent, &l.Node, &l.Server, &l.Tool, &l.Rule, &l.What, &l.Call, &l.Policy, &l.Version} {
		*name = cut(*name)
	}
	l.At = l.At.UTC().Truncate(time.Millisecond)
	line, err := json.Marshal(l)
	switch {
	case err != nil:
		return nil, fmt.Errorf("encode leaf %s: %w", l.ID, err)
	case l.ID == "" || l.Kind == "":
		return nil, fmt.Errorf("leaf %q has no ID or no kind", l.ID)
	case len(line) > MaxLeaf:
		return nil, fmt.Errorf("leaf %s has %d bytes, more than %d", l.ID, len(line), MaxLeaf)
	}
	return line, nil
}

// ParseLine reads a line of a log.
func ParseLine(line []byte) (l Leaf, err error) {
	if err = json.Unmarshal(line, &l); err == nil && (l.ID == "" || l.Kind == "") {
		err = fmt.Errorf("a leaf needs an ID and a kind")
	}
	return l, err
}

func cut(s string) string {
	if r := []rune(s); len(r) > maxName {
		return string(r[:maxName]) + "…"
	}
	return s
}

// ProposalID returns the ID of the proposal of a call: of its conversation, its idempotency key,
// and where it goes with which arguments.
func ProposalID(conversation, call, server, tool, sha256 string) string {
	return "proposal/" + contract.Hash([]byte(strings.Join([]string{conversation, call, server, tool, sha256}, "\n")))[:40]
}

// ShownID, DecisionID, EditID, CallID, OutcomeID and DeletionID return the IDs of such leaves.
func ShownID(approval string) string    { return "shown/" + approval }
func DecisionID(approval string) string { return "decision/" + approval }
func EditID(approval string) string     { return "edit/" + approval }
func CallID(activity string) string     { return "call/" + activity }
func OutcomeID(activity string) string  { return "outcome/" + activity }
func DeletionID(conversation string) string {
	return "deletion/" + conversation
}

// JudgementID and ReleaseID return the IDs of leaves about an approval and the rules of a version.
func JudgementID(approval, policy string) string { return "judgement/" + approval + "/" + policy }
func ReleaseID(approval, policy string) string   { return "release/" + approval + "/" + policy }

// ActivityRef returns how leaves name an attempt of an activity: RUN/ID, and RUN/ID#2 for the second
// attempt. Of RUN/ID most have one.
func ActivityRef(run, id string, attempt int32) string {
	if attempt > 1 {
		return fmt.Sprintf("%s/%s#%d", run, id, attempt)
	}
	return run + "/" + id
}

// ActivityOf returns RUN/ID.
func ActivityOf(ref string) string {
	run, _, _ := strings.Cut(ref, "#")
	return run
}

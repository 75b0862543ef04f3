package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/service/shortid"
	"agent-stop-and-go/workflows/answer"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/duration"
)

// viaChat marks decisions that came as commands.
const viaChat = "chat"

// pageOfWaiting is how many of the approvals that wait a command knows.
const pageOfWaiting = 200

// shownArguments bounds the arguments in a line of !inbox.
const shownArguments = 200

func (r run) waiting(ctx context.Context) ([]service.WaitingItem, error) {
	page, err := r.service.Waiting(ctx, service.ListQuery{Limit: pageOfWaiting})
	return page.Items, err
}

func (r run) inbox(ctx context.Context) (Reply, error) {
	items, err := r.waiting(ctx)
	if err != nil {
		return Reply{}, err
	}
	if len(items) == 0 {
		return r.says("Nothing waits."), nil
	}
	slices.SortStableFunc(items, inOrder)
	var b strings.Builder
	for _, item := range items {
		fmt.Fprintf(&b, "%s  %-8s %s", shortApproval(item.UUID), ago(item.CreatedAt), r.lineOf(item))
		if item.ConversationID != r.in.ConversationID {
			fmt.Fprintf(&b, "  (conversation %s)", shortid.Of(item.ConversationID, nil, 0))
		}
		if who := item.Requester.Subject; who != "" && who != r.caller.Identity.Subject {
			fmt.Fprintf(&b, "  (for %q)", who)
		}
		if item.DeferredUntil != nil {
			fmt.Fprintf(&b, "  (put off by you, back in %s)", span(time.Until(*item.DeferredUntil)))
		}
		b.WriteByte('\n')
	}
	b.WriteString("!approve #ID or !reject #ID decides, !later #ID puts off.")
	return r.says("%s", b.String()), nil
}

// inOrder compares approvals of an inbox: the oldest is first, and those that the caller put off
// are last.
func inOrder(a, b service.WaitingItem) int {
	switch {
	case (a.DeferredUntil == nil) == (b.DeferredUntil == nil):
		return a.CreatedAt.Compare(b.CreatedAt)
	case a.DeferredUntil == nil:
		return -1
	}
	return 1
}

// laterTime is for how long !later puts off if nobody says.
const laterTime = 2 * time.Hour

// later puts an approval off like the route for that.
func (r run) later(ctx context.Context) (Reply, error) {
	uuid, length, err := r.choose(ctx)
	if err != nil {
		return Reply{}, err
	}
	d := laterTime
	if length != "" {
		if d, err = duration.Parse(length); err != nil || d < 0 {
			return Reply{}, service.Errorf(contract.KindInvalid, "%q is no time such as 30m, 2h or 3d", service.Printable(length))
		}
	}
	if err := r.service.Later(ctx, uuid, time.Now().Add(d)); err != nil {
		return Reply{}, err
	}
	if d == 0 {
		return r.says("Approval %s is not put off.", shortApproval(uuid)), nil
	}
	return r.says("Approval %s is put off for %s. It still waits, for everybody, and expires when it would.", shortApproval(uuid), span(d)), nil
}

// lineOf returns the call that waits, in one line: with its arguments or, in brief, with why it waits.
func (r run) lineOf(item service.WaitingItem) string {
	if r.in.Brief {
		return strings.TrimSpace(item.ToolName + "  " + strings.ReplaceAll(string(item.Reason), "_", " "))
	}
	arguments := item.ArgumentsPreview
	var compact bytes.Buffer
	if json.Compact(&compact, item.Arguments.Raw) == nil {
		arguments = compact.String()
	}
	if len(arguments) > shownArguments {
		arguments = strings.ToValidUTF8(arguments[:shownArguments], "") + "…"
	}
	return item.ToolName + " " + arguments
}

// shortApproval returns the first digits of an approval's UUID, by which commands take it.
func shortApproval(uuid string) string { return "#" + uuid[:min(8, len(uuid))] }

func (r run) approve(ctx context.Context) (Reply, error) { return r.decide(ctx, true) }
func (r run) reject(ctx context.Context) (Reply, error)  { return r.decide(ctx, false) }

// decide decides an approval like the route for that.
func (r run) decide(ctx context.Context, approved bool) (Reply, error) {
	uuid, reason, err := r.choose(ctx)
	if err != nil {
		return Reply{}, err
	}
	subject, err := r.service.Subject(ctx, uuid)
	if err != nil {
		return Reply{}, err
	}
	if approved && r.in.Approvable != nil {
		if err := r.in.Approvable(uuid); err != nil {
			return Reply{}, err
		}
	}
	signal, err := signalOf(approved, subject)
	if err == nil && approved && !subject.Question {
		signal.Edit, reason, err = r.changes(ctx, uuid, reason)
	}
	if err != nil {
		return Reply{}, err
	}
	note, err := r.caller.Note(service.Note{Reason: reason, By: r.in.By})
	if err != nil {
		return Reply{}, err
	}
	signal.RequestID, signal.Via = r.caller.RequestID(uuid, "!decide", r.in.Key), viaChat
	signal.Reason, signal.By, signal.OnBehalfOf = note.Reason, note.By, note.OnBehalfOf
	receipt, err := r.service.Decide(ctx, r.caller, service.Decision{UUID: uuid, Subject: &subject, Signal: signal})
	if err != nil {
		return Reply{}, err
	}
	record, err := r.service.DecisionRecord(ctx, receipt)
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, service.ErrClosing):
		return r.says("The decision about %s was sent.", shortApproval(uuid)), nil
	case err != nil:
		return Reply{}, err
	case record.RequestID != signal.RequestID:
		return Reply{}, r.service.TooLate(ctx, record.Public())
	case !record.Agrees(signal):
		return Reply{}, service.KeyReused()
	}
	return r.says("Approval %s is %s: %s%s", shortApproval(uuid), record.Decision, record.Tool, r.withChanges(record)), nil
}

// signalOf returns a yes or a no to an approval. A question that wants more than a yes is refused,
// with what it accepts.
func signalOf(approved bool, s service.Subject) (contract.DecideSignal, error) {
	raw, err := json.Marshal(map[string]bool{"approved": approved})
	if err != nil {
		return contract.DecideSignal{}, err
	}
	if !s.Question {
		return contract.DecideSignal{Approved: approved}, nil
	}
	given, err := answer.ParseQuestion(raw, s.Schema)
	if err != nil {
		return contract.DecideSignal{}, service.Errorf(contract.KindInvalid, "a question waits: write the answer as a message; %s", answer.AcceptedBy(s.Schema))
	}
	return given.Signal(), nil
}

// choose returns the approval that a command is for, and its reason.
func (r run) choose(ctx context.Context) (uuid, reason string, err error) {
	first, rest := cutWord(r.argument)
	given, named := approvalID(first)
	switch {
	case contract.IsUUID(given):
		return given, rest, nil
	case !named && len(r.in.Shown) == 1 && contract.IsUUID(r.in.Shown[0]): // lists may not have it yet
		return r.in.Shown[0], r.argument, nil
	}
	items, err := r.waiting(ctx)
	if err != nil {
		return "", "", err
	}
	if named {
		uuid, err = r.oneOf(items, func(uuid string) bool { return strings.HasPrefix(uuid, given) }, first)
		return uuid, rest, err
	}
	uuid, err = r.oneOf(items, func(uuid string) bool { return slices.Contains(r.in.Shown, uuid) }, "")
	return uuid, r.argument, err
}

// approvalID returns how the UUID of an approval begins if a word names one: with # or by 8 digits at
// least. Fewer digits may be a word of a reason.
func approvalID(word string) (prefix string, ok bool) {
	prefix, ok = shortid.Parse(word)
	return prefix, ok && (strings.HasPrefix(word, "#") || len(prefix) >= 8)
}

// oneOf returns the one approval that fits. given is what the person named it by, "" for the one that
// the chat shows.
func (r run) oneOf(items []service.WaitingItem, fits func(uuid string) bool, given string) (string, error) {
	var found, all []string
	for _, item := range items {
		line := shortApproval(item.UUID) + " " + r.lineOf(item)
		all = append(all, line)
		if fits(item.UUID) {
			found = append(found, item.UUID)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", service.Errorf(service.KindAmbiguous, "several approvals are meant; name one of them:\n%s", strings.Join(all, "\n"))
	case given != "":
		return "", service.NoApproval(given)
	case len(all) == 0:
		return "", service.Errorf(contract.KindNotFound, "nothing waits for a decision")
	}
	return "", service.Errorf(contract.KindInvalid, "no approval is shown here; name the one that you mean, after its arguments:\n%s", strings.Join(all[:min(len(all), listed)], "\n"))
}

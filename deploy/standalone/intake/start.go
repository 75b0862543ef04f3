package intake

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/title"
	"agent-stop-and-go/workflows/contract/transfer"
	"agent-stop-and-go/workflows/record/transcript"
)

// draft is a conversation as it will be, with its values in place.
type draft struct {
	id      string
	file    File
	history history
	waits   *transfer.Reply // nil if nothing waits
	notes   []string
}

// draftOf returns the conversation of a file. Its approvals are left behind for a reason, if one
// is given.
func draftOf(f File, left string) (draft, error) {
	d := draft{file: f, id: f.ID}
	if !contract.IsUUID(d.id) {
		d.id = contract.NameUUID("import", f.ID)
		d.note("its ID %q is not a UUID: here it is %s", f.ID, d.id)
	}
	if f.SessionID != "" && !contract.ValidSessionID(f.SessionID) {
		d.file.SessionID = ""
		d.note("its session ID is not valid and is left behind")
	}
	d.history = historyOf(f, d.id)
	if len(f.PendingApprovals) == 0 {
		d.noteUnfinished()
		d.noteQueued()
		return d, nil
	}
	if d.history.turns == 0 {
		return d, &Fault{Place: "messages", Problem: "there is an approval, but no message of a user", Advice: adviceDamaged}
	}
	if left != "" {
		d.drop(left)
		d.noteQueued()
		return d, nil
	}
	d.noteQueued()
	var err error
	d.waits, err = f.waiting(&d.history)
	return d, err
}

func (d *draft) note(format string, args ...any) {
	d.notes = append(d.notes, fmt.Sprintf(format, args...))
}

// drop leaves the approvals behind, and says so in the conversation.
func (d *draft) drop(why string) {
	for _, p := range d.file.PendingApprovals {
		d.history.interrupt(d.id, fmt.Sprintf("[IMPORT]: This conversation waited for an approval of %s (%s), which was left behind: %s. "+
			"The call has not run here. Send a message to go on.", p.ToolName, p.UUID, why))
		d.note("the approval of %s is left behind: %s", p.ToolName, why)
	}
}

// noteUnfinished says what the last turn lacks in a conversation that waits for nothing.
func (d *draft) noteUnfinished() {
	const text = "[IMPORT]: This conversation was exported in the middle of a turn."
	if !d.file.Running && d.history.answered() {
		return
	}
	switch n := len(d.history.open); {
	case n > 0:
		d.history.interrupt(d.id, fmt.Sprintf("%s %d calls have no result: they may have run.", text, n))
		d.note("the last turn is not finished, and is not continued: %d calls may have run", n)
	default:
		d.history.interrupt(d.id, text+" The last message has no answer. Send a message to go on.")
		d.note("the last turn is not finished, and is not continued: the last message has no answer")
	}
}

// noteQueued says that messages are missing which the other system had accepted.
func (d *draft) noteQueued() {
	if n := d.file.Queued; n > 0 {
		d.history.notice(d.id, fmt.Sprintf("[IMPORT]: %d messages waited for a turn when this conversation was exported, and were left behind: the file has only their number. Send them again.", n))
		d.note("%d queued messages are left behind: the file has only their number", n)
	}
}

// chunk is the size of the texts that are moved to the blob store together.
const chunk = 256 << 10

// input stores the values of a draft and returns what its workflow starts with.
func (d *draft) input(ctx context.Context, store transcript.Store, agent contract.Agent, owner contract.Identity, now time.Time) (service.StartInput, error) {
	t, err := d.transcript(ctx, store)
	if err != nil {
		return service.StartInput{}, err
	}
	f := d.file
	created := earlier(f.CreatedAt.UTC(), now)
	c := &contract.Carried{
		CreatedAt: created, UpdatedAt: d.updatedAt(now), Version: max(f.Version, 1), Seq: d.history.seq(d.id), Turn: d.history.turns,
		Transcript: t, Usage: usage(f.Usage), ExportOwing: true, Title: d.title(),
	}
	if d.waits == nil {
		if c.Last = d.history.last(); c.Last != nil {
			c.Last.Response, err = transcript.Text(ctx, store, c.Last.Response.Inline)
		}
	} else {
		err = d.wait(ctx, store, c)
	}
	in := service.StartInput{
		Conversation: contract.ConversationInput{ID: d.id, SessionID: f.SessionID, Agent: agent, Owner: owner, Carried: c},
		Fingerprint:  "import " + f.SHA256, CreatedAt: created, Title: d.listed(),
	}
	return in, err
}

// wait makes the turn that waits the next one: its request is settled by the approval.
func (d *draft) wait(ctx context.Context, store transcript.Store, c *contract.Carried) error {
	question := d.history.question()
	text, err := transcript.Text(ctx, store, question.Content.Inline)
	if err != nil {
		return err
	}
	encoded, err := json.Marshal(d.waits)
	if err != nil {
		return fmt.Errorf("encode the calls that wait: %w", err)
	}
	if c.Transferred, err = transcript.JSON(ctx, store, encoded); err != nil {
		return err
	}
	request := contract.NameUUID(d.id, "imported-request")
	c.Requests = []contract.Request{{ID: request}}
	c.Queue = []contract.MessageSignal{{RequestID: request, Text: text, Identity: contract.Identity{Channel: transfer.Channel}}}
	c.Turn--
	return nil
}

// transcript stores the messages. The last one stays in the tail.
func (d *draft) transcript(ctx context.Context, store transcript.Store) (t contract.Transcript, err error) {
	size := 0
	for i, m := range d.history.messages {
		if m, err = stored(ctx, store, m); err != nil {
			return t, err
		}
		t.Tail = append(t.Tail, m)
		if size += len(m.Content.Short()) + 512; i == len(d.history.messages)-2 || size > chunk {
			if i == len(d.history.messages)-1 {
				break
			}
			folded, err := transcript.OffloadAll(ctx, store, t)
			if err != nil {
				return t, err
			}
			t, size = contract.Transcript{Head: &folded.Head}, 0
		}
	}
	return t, nil
}

// stored returns a message with its long values in the store.
func stored(ctx context.Context, store transcript.Store, m contract.Message) (_ contract.Message, err error) {
	if m.Content, err = transcript.Text(ctx, store, m.Content.Inline); err != nil || m.ToolCall == nil {
		return m, err
	}
	call := *m.ToolCall
	if call.Result, err = transcript.Text(ctx, store, call.Result.Inline); err != nil {
		return m, err
	}
	if len(call.Arguments.Raw) > 0 {
		call.Arguments, err = transcript.JSON(ctx, store, call.Arguments.Raw)
	}
	m.ToolCall = &call
	return m, err
}

func (d *draft) updatedAt(now time.Time) time.Time {
	last := d.file.CreatedAt
	if d.file.UpdatedAt.After(last) {
		last = d.file.UpdatedAt
	}
	return earlier(last.UTC(), now)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func (d *draft) title() *contract.Title {
	if d.file.Title == "" || title.Check(d.file.Title) != nil {
		return nil
	}
	t := &contract.Title{Text: d.file.Title, At: d.file.CreatedAt.UTC()}
	if r := d.file.Renamed; r != nil {
		t.By, t.OnBehalfOf, t.Identity, t.At = r.By, r.OnBehalfOf, *author(&r.Identity), r.At.UTC()
	}
	return t
}

// listed returns the title in lists: the given one, or else the first words of the user.
func (d *draft) listed() string {
	if t := d.title(); t != nil {
		return t.Text
	}
	for _, m := range d.history.messages {
		if m.Role == contract.RoleUser && !m.Notice {
			return title.Of(contract.MessageSignal{Text: m.Content})
		}
	}
	return ""
}

package listing

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/title"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/wording"
)

// changeListing marks the first change of the memo in a run: a run that an older worker has
// continued has none.
const changeListing = "listing"

// accuracy is how far the time of the last change in lists may lag behind. A conversation that
// completes within it causes no memo update.
const accuracy = time.Minute

// Listing is the memo of a conversation.
type Listing struct {
	changedAt time.Time // the last change in the memo
	title     string    // a title that is not in the memo yet
	titles    int       // that people gave in this run
}

// maxTitles bounds the titles in a run, which cannot continue as new while an approval waits.
const maxTitles = 32

// New returns the listing of a run that has just started: its start is shown.
func New(ctx workflow.Context) Listing { return Listing{changedAt: run.Now(ctx)} }

// SetTitle sets the title that the next Update writes.
func (l *Listing) SetTitle(text string) { l.title = text }

// Rename sets a title that somebody gives.
func (l *Listing) Rename(text string) {
	l.titles++
	l.title = text
}

// Refusal returns why a title that somebody gives is refused, or "".
func (l *Listing) Refusal(text string, closed bool) (kind contract.Kind, why string) {
	switch err := title.Check(text); {
	case closed:
		return contract.KindCompleted, wording.TextCompleted
	case l.titles >= maxTitles:
		return contract.KindBusy, wording.TextManyTitles
	case err != nil:
		return contract.KindInvalid, err.Error()
	}
	return "", ""
}

// Update updates the memo, unless that is accurate and there is no title to write. It adds a
// command to the current workflow task.
func (l *Listing) Update(ctx workflow.Context, changedAt time.Time) {
	late := changedAt.Sub(l.changedAt) >= accuracy
	if !late && l.title == "" || workflow.GetVersion(ctx, changeListing, workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return
	}
	memo := map[string]any{contract.MemoUpdatedAt: changedAt.Format(time.RFC3339Nano)}
	if l.title != "" {
		memo[contract.MemoTitle] = l.title
	}
	if err := workflow.UpsertMemo(ctx, memo); err != nil {
		workflow.GetLogger(ctx).Error("upsert the memo", "error", err)
	}
	l.changedAt, l.title = changedAt, ""
}

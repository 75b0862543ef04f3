package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/service/shortid"
	"agent-stop-and-go/workflows/contract"
)

// listed is how many conversations !list has.
const listed = 10

func (r run) begin(context.Context) (Reply, error) {
	return Reply{Text: "The next message begins a new conversation."}, nil
}

func (r run) list(ctx context.Context) (Reply, error) {
	page, err := r.service.List(ctx, service.ListQuery{Limit: listed})
	if err != nil {
		return Reply{}, err
	}
	summary, err := r.service.Summary(ctx)
	if err != nil {
		return Reply{}, err
	}
	if len(page.Items) == 0 {
		return r.says("There are no conversations."), nil
	}
	shortid.Set(page.Items, summary.Total)
	var b strings.Builder
	for _, item := range page.Items {
		here := " "
		if item.ID == r.in.ConversationID {
			here = "*"
		}
		fmt.Fprintf(&b, "%s %-8s %-16s %-10s %s\n", here, item.ShortID, item.Status, ago(item.UpdatedAt), item.Title)
	}
	if more := summary.Total - int64(len(page.Items)); more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	return r.says("%s", strings.TrimRight(b.String(), "\n")), nil
}

// ago says how long ago something was, roughly.
func ago(t time.Time) string {
	d := time.Since(t)
	if d < time.Minute {
		return "now"
	}
	return span(d)
}

// span returns a length of time, roughly.
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "less than a minute"
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d days", d/(24*time.Hour))
}

func (r run) use(ctx context.Context) (Reply, error) {
	if r.argument == "" {
		return Reply{}, service.Errorf(contract.KindInvalid, "!use needs the ID of a conversation, such as #1a2b; !list has them")
	}
	id, err := shortid.Resolve(ctx, r.service, r.argument)
	if err != nil {
		return Reply{}, err
	}
	view, err := r.service.Conversation(ctx, id, "")
	if err != nil {
		return Reply{}, err
	}
	return Reply{ConversationID: id, Text: fmt.Sprintf("Conversation %s, which is %s, goes on here.", id, view.Status)}, nil
}

func (r run) remove(ctx context.Context) (Reply, error) {
	if err := r.inConversation(); err != nil {
		return Reply{}, err
	}
	if r.argument != "" && r.argument != "force" {
		return Reply{}, service.Errorf(contract.KindInvalid, "!delete takes nothing behind it but force; it deletes the conversation that you are in")
	}
	_, err := r.service.Delete(ctx, r.caller, r.in.ConversationID, r.argument == "force")
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, service.ErrClosing):
		return Reply{Text: "The conversation is being deleted. The next message begins a new one."}, nil
	case err != nil:
		return Reply{}, err
	}
	return Reply{Text: "The conversation is deleted. The next message begins a new one."}, nil
}

package projection

import (
	"strconv"
	"strings"

	"github.com/slack-go/slack"

	"agent-stop-and-go/gateway/slackchat/card"
	"agent-stop-and-go/gateway/slackchat/mrkdwn"
	"agent-stop-and-go/workflows/record"
)

// Flow is what a message shows if it is streamed.
type Flow struct {
	// Open: the turn runs, and more may follow.
	Open bool
	// Stop is the control: the message with the button that stops the turn, which a stream has not.
	Stop Wanted

	text     string // in mrkdwn, as in the message
	drafting bool   // a draft is at its end
	drafts   bool   // there are several, whose order is not known yet
	// closed: another message of the part follows, which shows the calls that are new.
	closed bool
	tasks  []task
}

// ControlSuffix ends the key of a control.
const ControlSuffix = ".stop"

// Control is the key of the control of the part that a key belongs to.
func Control(key string) string { return key[:strings.LastIndexByte(key, '.')] + ControlSuffix }

// working is the control of a turn.
func working(key, conversation string) Wanted {
	return Wanted{Key: Control(key), Message: card.Reply("", "Working …", conversation)}
}

// Empty reports whether there is no text yet.
func (f *Flow) Empty() bool { return f.text == "" }

// markdown returns what a stream can be sent of the text so far. Behind a text that is recorded another one
// begins a paragraph.
func (f *Flow) markdown() string {
	whole := mrkdwn.Markdown(f.text)
	switch {
	case !f.Open:
		return whole
	case f.text == "" || f.drafts:
		return ""
	case !f.drafting:
		return whole + "\n\n"
	}
	settled := mrkdwn.Markdown(mrkdwn.Settled(f.text, card.MaxReply))
	for settled != "" && strings.HasPrefix(whole, settled) && blank(whole[len(settled):]) {
		// Slack drops the space with which what is appended begins.
		settled = settled[:strings.LastIndexAny(strings.TrimRight(settled, " \n"), " \n")+1]
	}
	return settled
}

func blank(text string) bool { return text != "" && (text[0] == ' ' || text[0] == '\n') }

// missing returns what a stream that was sent the beginning of the text is sent next. ok is false if the
// text does not begin with that: it cannot be taken back.
func (f *Flow) missing(sent string) (next string, ok bool) {
	whole, begun := mrkdwn.Markdown(f.text), strings.TrimRight(sent, " \n")
	if !strings.HasPrefix(whole, begun) || len(whole) > len(begun) && !strings.HasPrefix(whole, sent) {
		return "", false
	}
	next, more := strings.CutPrefix(f.markdown(), sent)
	if !more || strings.TrimSpace(next) == "" {
		return "", true
	}
	return next, true
}

// task is a call. Its card has the name of the tool, and nothing of its arguments and its result.
type task struct {
	seq    int // of the call
	name   string
	status slack.TaskCardStatus
}

// over reports whether the call has its result.
func (t task) over() bool {
	return t.status == slack.TaskCardStatusComplete || t.status == slack.TaskCardStatusError
}

// chunk returns the update of the card.
func (t task) chunk() slack.TaskUpdateChunk {
	name := mrkdwn.Cut(mrkdwn.Escape(strings.Join(strings.Fields(t.name), " ")), 200)
	if name == "" {
		name = "a tool"
	}
	out := slack.NewTaskUpdateChunk(strconv.Itoa(t.seq), name)
	out.Status = t.status
	return out
}

// callOf is the task of a call that runs.
func callOf(e record.Entry) task {
	return task{e.Seq, e.ToolCall.Name, slack.TaskCardStatusInProgress}
}

// answer ends the task of a call. It may be of an earlier part than the result.
func answer(all []part, e record.Entry) {
	status := slack.TaskCardStatusComplete
	if e.ToolCall.IsError || e.Missing {
		status = slack.TaskCardStatusError
	}
	for p := range all {
		for t := range all[p].tasks {
			if all[p].tasks[t].seq == e.Answers {
				all[p].tasks[t].status = status
			}
		}
	}
}

// split takes the calls without a result from a part. They go on in the next one, behind a decision.
func (p *part) split() (open []task) {
	var over []task
	for _, t := range p.tasks {
		if t.over() {
			over = append(over, t)
		} else {
			open = append(open, t)
		}
	}
	p.tasks = over
	return open
}

// calls are the names of the tools that are being called.
func (p part) calls() (names []string) {
	for _, t := range p.tasks {
		if !t.over() {
			names = append(names, t.name)
		}
	}
	return names
}

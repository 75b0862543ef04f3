package projection

import (
	"cmp"
	"slices"
	"strings"

	"github.com/slack-go/slack"
)

// maxTasks bounds the cards of a message: Slack takes 50 blocks.
const maxTasks = 30

// Sent is what a stream was sent. The zero value is nothing.
type Sent struct {
	text  string // in Markdown
	tasks map[int]task
}

// Told are the calls whose end a stream of the thread has shown, by the Seq of the call.
type Told map[int]bool

// Recall returns the calls that an earlier message of the part has shown, which another gateway has sent.
func Recall(w Wanted) Told {
	told := Told{}
	for _, t := range w.Flow.tasks {
		told[t.seq] = !w.First() && t.over()
	}
	return told
}

// Next returns what a stream is sent next, and notes it. ok is false if the message does not go on as it has
// begun: what was sent cannot be taken back.
//
// A call is between the text before it, which is recorded, and the text behind it, which is being written.
func (s *Sent) Next(f *Flow, told Told) (chunks []slack.StreamChunk, ok bool) {
	text, ok := f.missing(s.text)
	if !ok {
		return nil, false
	}
	if s.tasks == nil {
		s.tasks = map[int]task{}
	}
	for _, t := range s.changed(f, told) {
		s.tasks[t.seq], told[t.seq] = t, t.over()
		chunks = append(chunks, t.chunk())
	}
	if text == "" {
		return chunks, true
	}
	s.text += text
	said := slack.NewMarkdownTextChunk(text)
	if f.Open && !f.drafting {
		return slices.Insert(chunks, 0, slack.StreamChunk(said)), true
	}
	return append(chunks, said), true
}

// Forget has another stream show the calls again.
func (s *Sent) Forget(told Told) {
	for seq := range s.tasks {
		delete(told, seq)
	}
}

// changed returns the calls whose cards are new or change. Where a stream ends, those without a result are
// not carried out by it any more: they wait for a decision, or the next message has them.
func (s *Sent) changed(f *Flow, told Told) (out []task) {
	over := map[int]bool{}
	for _, t := range f.tasks {
		shown, begun := s.tasks[t.seq]
		over[t.seq] = t.over()
		switch {
		case !f.Open && !t.over(), begun && shown.status == t.status:
		case !begun && (told[t.seq] || f.closed || len(s.tasks)+len(out) >= maxTasks):
		default:
			out = append(out, t)
		}
	}
	for _, t := range s.tasks {
		if !f.Open && !t.over() && !over[t.seq] {
			t.status = slack.TaskCardStatusPending
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b task) int { return cmp.Compare(a.seq, b.seq) })
	return out
}

// First reports whether a message is the first of its part.
func (w Wanted) First() bool { return strings.HasSuffix(w.Key, ".0") }

package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/gateway/client"
	"agent-stop-and-go/workflows/answer"
)

// input reads lines while something else may happen.
type input struct {
	lines chan string
}

// newInput reads lines from now on. Its goroutine ends with the input.
func newInput(r io.Reader) *input {
	in := &input{lines: make(chan string)}
	go func() {
		defer close(in.lines)
		for scanner := bufio.NewScanner(r); scanner.Scan(); {
			in.lines <- strings.TrimSpace(scanner.Text())
		}
	}()
	return in
}

// prompt prints a question and returns the line that answers it. ok is false at the end of the
// input.
func (q *questions) prompt(ctx context.Context, question string) (answer string, ok bool, err error) {
	if q.input == nil {
		q.input = newInput(q.in)
	}
	fmt.Fprint(q.err, q.styled(bold, question)+" ")
	select {
	case answer, ok = <-q.input.lines:
		return answer, ok, nil
	case <-ctx.Done():
		return "", false, ctx.Err()
	}
}

// read asks until there is an answer. It fails with errWaits if the person does not decide now.
func (q *questions) read(ctx context.Context, a client.Approval) (client.Answer, error) {
	for {
		text, ok, err := q.prompt(ctx, screen.Question(a))
		if err != nil {
			return client.Answer{}, err
		}
		word := strings.ToLower(text)
		fields := answer.Fields(a.Schema)
		switch {
		case !ok:
			return client.Answer{}, errWaits
		case word == "later" || word == "l":
			return client.Answer{}, q.putOff(ctx, a)
		case a.NeedsContent() && word != "decline" && text != "":
			return screen.Content(text), nil
		case a.NeedsContent() && text == "" && len(fields) > 0:
			return q.fill(ctx, a, fields)
		}
		switch word {
		case "y", "yes":
			yes := true
			return client.Answer{Approved: &yes}, nil
		case "n", "no", "decline":
			return q.no(ctx)
		case "ran":
			if a.IsDoubtful() {
				return client.Answer{Answer: "ran"}, nil
			}
		}
	}
}

// laterTime is for how long the word later puts an approval off.
const laterTime = 2 * time.Hour

// putOff puts an approval off, at the agent, and returns errWaits.
func (q *questions) putOff(ctx context.Context, a client.Approval) error {
	d, err := q.Later(ctx, a.UUID, laterTime)
	if err != nil {
		return err
	}
	fmt.Fprintf(q.err, "It is put off %s. It still waits, for everybody.\n", putOff(d.DeferredUntil))
	return errWaits
}

// fill asks for the fields of a form, one after the other. At the end of the input it fails with
// errWaits.
func (q *questions) fill(ctx context.Context, a client.Approval, fields []answer.Field) (client.Answer, error) {
	values := map[string]json.RawMessage{}
	for _, f := range fields {
		for {
			text, ok, err := q.prompt(ctx, fieldQuestion(f))
			if err != nil {
				return client.Answer{}, err
			}
			if !ok {
				return client.Answer{}, errWaits
			}
			if values[f.Name], err = f.Read(entriesOf(f, text)...); err == nil {
				break
			}
			fmt.Fprintln(q.err, screen.Safe(err.Error()))
		}
	}
	content, err := answer.Filled(a.Schema, values)
	if err != nil {
		fmt.Fprintln(q.err, screen.Safe(err.Error()))
		return q.fill(ctx, a, fields)
	}
	return client.Answer{Content: content}, nil
}

// entriesOf returns what was typed for a field. An empty line takes the default, and commas part
// the entries of a list.
func entriesOf(f answer.Field, text string) []string {
	if text == "" && screen.Exact(f.Default) == f.Default { // what cannot be seen is not sent
		text = f.Default
	}
	if !f.Many {
		return []string{text}
	}
	var out []string
	for entry := range strings.SplitSeq(text, ",") {
		if entry = strings.TrimSpace(entry); entry != "" {
			out = append(out, entry)
		}
	}
	return out
}

// fieldQuestion returns the question for a field, with what it accepts.
func fieldQuestion(f answer.Field) string {
	var notes []string
	for _, c := range f.Choices {
		note := screen.Exact(c.Text)
		if c.Label != c.Text && !strings.EqualFold(c.Label, c.Text) {
			note += " = " + screen.Exact(c.Label)
		}
		notes = append(notes, note)
	}
	question := screen.Exact(cmp.Or(f.Title, f.Name))
	if len(notes) > 0 {
		question += " [" + strings.Join(notes, " / ") + "]"
	}
	if f.Many {
		question += ", several with commas"
	}
	switch {
	case f.Default != "" && screen.Exact(f.Default) == f.Default:
		question += " (Enter for " + f.Default + ")"
	case !f.Required:
		question += " (Enter for no answer)"
	}
	if f.Description != "" {
		question += "\n  " + screen.Line(screen.Exact(f.Description), 200) + "\n "
	}
	return question
}

// no asks for the reason of a rejection.
func (q *questions) no(ctx context.Context) (client.Answer, error) {
	reason, _, err := q.prompt(ctx, "Why? (Enter for no reason)")
	no := false
	return client.Answer{Approved: &no, Reason: reason}, err
}

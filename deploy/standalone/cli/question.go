package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/gateway/client"
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
		if !ok || word == "later" || word == "l" {
			return client.Answer{}, errWaits
		}
		if a.NeedsContent() && word != "decline" && text != "" {
			return screen.Content(text), nil
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

// no asks for the reason of a rejection.
func (q *questions) no(ctx context.Context) (client.Answer, error) {
	reason, _, err := q.prompt(ctx, "Why? (Enter for no reason)")
	no := false
	return client.Answer{Approved: &no, Reason: reason}, err
}

package cli

import (
	"fmt"
	"io"
	"iter"
	"strings"

	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/gateway/client"
)

// printer prints a turn while it runs. It compares what it has printed with the transcript, so
// what is repeated or corrected by the agent is printed once.
type printer struct {
	*session
	client.Transcript
	printed map[string]string // by the kind and the ID of entries
	inLine  bool              // the last line on the output has not ended
}

// print prints events until they end, and returns the last one.
func (p *printer) print(events iter.Seq2[client.Event, error]) (last client.Event, err error) {
	for e, err := range events {
		if err != nil {
			p.endLine()
			return last, err
		}
		last = e
		if err := p.event(e); err != nil {
			return last, err
		}
	}
	return last, p.endLine()
}

func (p *printer) event(e client.Event) error {
	changed := p.Add(e)
	if p.json {
		return printLine(p.out, e.Raw)
	}
	if !changed {
		return nil
	}
	for _, entry := range p.LastTurn() {
		if err := p.entry(entry); err != nil {
			return err
		}
	}
	return nil
}

func (p *printer) entry(e client.Entry) error {
	switch e.Kind {
	case client.KindText:
		return p.text(e)
	case client.KindCall:
		if e.Result == nil {
			return nil // its arguments may not be complete
		}
		return p.once(e, fmt.Sprintf("%s %s", e.Tool, screen.Line(e.Text, 100)))
	case client.KindNotice:
		return p.once(e, screen.Line(e.Text, 200))
	}
	return nil
}

// text prints what is new of a text.
func (p *printer) text(e client.Entry) error {
	key := string(e.Kind) + e.ID
	done, seen := p.printed[key]
	if e.Text == done {
		return nil
	}
	rest, ok := strings.CutPrefix(e.Text, done)
	if !seen || !ok { // another text, or one that replaces what was printed
		if err := p.endLine(); err != nil {
			return err
		}
		rest = e.Text
	}
	p.remember(key, e.Text)
	p.inLine = !strings.HasSuffix(rest, "\n")
	_, err := io.WriteString(p.out, screen.Safe(rest))
	return err
}

// once prints a line about an entry for people.
func (p *printer) once(e client.Entry, text string) error {
	key := string(e.Kind) + e.ID
	if _, done := p.printed[key]; done || !p.talks {
		return nil
	}
	p.remember(key, "")
	if err := p.endLine(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(p.err, p.styled(dim, "· "+screen.Safe(text)))
	return err
}

func (p *printer) remember(key, text string) {
	if p.printed == nil {
		p.printed = map[string]string{}
	}
	p.printed[key] = text
}

func (p *printer) endLine() error {
	if !p.inLine || p.json {
		return nil
	}
	p.inLine = false
	_, err := fmt.Fprintln(p.out)
	return err
}

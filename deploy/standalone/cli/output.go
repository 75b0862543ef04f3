package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/gateway/client"
)

// show prints a value as JSON, or as text.
func (s *session) show(v any, text func(io.Writer)) error {
	if s.json {
		return PrintJSON(s.out, v)
	}
	var b bytes.Buffer
	text(&b)
	_, err := s.out.Write(b.Bytes())
	return err
}

// PrintJSON prints a value as indented JSON. Characters that control a terminal are escaped,
// which does not change the value.
func PrintJSON(w io.Writer, v any) error {
	text, err := indented(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, text)
	return err
}

// printLine prints a value as JSON in one line.
func printLine(w io.Writer, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, screen.Exact(string(data)))
	return err
}

func indented(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return screen.Exact(strings.TrimSuffix(b.String(), "\n")), nil
}

// table prints rows in columns. Cells are lines of text from outside.
func table(w io.Writer, rows ...[]string) { tableOf(w, 80, rows) }

// tableOf is table with another width at which a cell is cut.
func tableOf(w io.Writer, width int, rows [][]string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, cells := range rows {
		for i, c := range cells {
			cells[i] = screen.Line(c, width)
		}
		fmt.Fprintln(t, strings.TrimRight(strings.Join(cells, "\t"), "\t "))
	}
	_ = t.Flush() // to a buffer
}

// age returns how long ago something was.
func age(t time.Time) string {
	switch d := time.Since(t); {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	default:
		return fmt.Sprintf("%d days ago", int(d.Hours()/24))
	}
}

const (
	bold  = "\x1b[1m"
	dim   = "\x1b[2m"
	plain = "\x1b[0m"
)

// styled returns a text in a style, if the output has colours.
func (s *session) styled(style, text string) string {
	if !s.color {
		return text
	}
	return style + text + plain
}

// printAnswers prints how to answer an approval from a shell.
func (s *session) printAnswers(w io.Writer, a client.Approval) {
	fmt.Fprintf(w, "Answer it with one of:\n")
	for _, command := range screen.Answers(a) {
		fmt.Fprintf(w, "  %s\n", command+s.flags.again())
	}
}

// again returns the flags that a later command needs to reach the same agent.
func (f *Flags) again() string {
	if f.url == "" {
		return ""
	}
	return " --url " + f.url
}

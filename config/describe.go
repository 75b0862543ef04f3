package config

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Describe writes the settings, with defaults marked, the agent tree and the
// Warnings. It shows names of variables, never their values.
func (c *Config) Describe(w io.Writer, getenv func(string) string) error {
	var buf bytes.Buffer
	c.describeSettings(&buf)
	c.describeServers(&buf)
	describeA2A(&buf, "\nAgents to delegate to\n", c.A2A)
	c.describeTree(&buf, getenv)
	if err := c.Runnable(); err != nil {
		fmt.Fprintf(&buf, "\nNote: %v\n", err)
	}
	describeWarnings(&buf, c.Warnings())
	if _, err := w.Write(buf.Bytes()); err != nil {
		return fmt.Errorf("describe the configuration: %w", err)
	}
	return nil
}

func (c *Config) describeSettings(w io.Writer) {
	var text bytes.Buffer
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	defaults := map[string]any{}
	eachField(reflect.ValueOf(Default()).Elem(), "", func(path string, _ reflect.StructField, v reflect.Value) {
		defaults[path] = v.Interface()
	})
	settings := *c
	settings.MCPServers, settings.A2A, settings.Root = nil, nil, nil // shown below
	eachField(reflect.ValueOf(settings), "", func(path string, _ reflect.StructField, v reflect.Value) {
		if k := v.Kind(); k == reflect.Struct || k == reflect.Slice || k == reflect.Pointer {
			return
		}
		mark := ""
		if _, set := c.lines[path]; !set && v.Interface() == defaults[path] {
			mark = "(default)"
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\n", path, c.shown(path, v), mark)
	})
	table.Flush()
	fmt.Fprintln(w, "Settings")
	for line := range strings.Lines(text.String()) {
		fmt.Fprintln(w, strings.TrimRight(line, " \n"))
	}
}

// shown is a setting in one line.
func (c *Config) shown(path string, v reflect.Value) string {
	if d, ok := v.Interface().(time.Duration); ok {
		return short(d)
	}
	text := fmt.Sprint(v.Interface())
	switch {
	case path == "blobs.url" && text == "":
		return shownURL(c.BlobURL())
	case strings.HasSuffix(path, "url"):
		text = shownURL(text)
	}
	if text == "" {
		return "-"
	}
	first, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(first); len(r) > 60 {
		first, more = string(r[:60]), true
	}
	if more {
		return first + "…"
	}
	return first
}

// shownURL leaves out the query and user info, where people put keys.
func shownURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "?"
	}
	u.RawQuery, u.User = "", nil
	return u.String()
}

func (c *Config) describeServers(w io.Writer) {
	if len(c.MCPServers) == 0 {
		return
	}
	fmt.Fprintln(w, "\nMCP servers")
	for _, s := range c.MCPServers {
		where := shownURL(s.URL)
		if s.Command != "" {
			where = "starts " + strings.Join(append([]string{s.Command}, s.Args...), " ")
		}
		if len(s.Env) > 0 {
			where += " with " + strings.Join(slices.Sorted(maps.Keys(s.Env)), ", ") + " set"
		}
		fmt.Fprintf(w, "  %s: %s; tools without hints: %s\n", s.Name, where, s.Unannotated)
	}
}

func describeA2A(w io.Writer, title string, agents []A2AAgent) {
	if len(agents) == 0 {
		return
	}
	fmt.Fprint(w, title)
	for _, a := range agents {
		fmt.Fprintf(w, "  %s: %s%s\n", a.Name, shownURL(a.URL), asks(a.DestructiveHint, false))
	}
}

// asks says whether a delegation waits for a person.
func asks(destructive, atOnce bool) string {
	switch {
	case destructive && atOnce:
		return ", destructive, runs at once"
	case destructive:
		return ", asks first"
	}
	return ""
}

func describeWarnings(w io.Writer, warnings []string) {
	if len(warnings) > 0 {
		fmt.Fprintln(w)
	}
	for _, text := range warnings {
		fmt.Fprintf(w, "Warning: %s\n", text)
	}
}

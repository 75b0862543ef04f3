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

// Describe writes the settings with defaults marked, the agent tree, the Warnings and the
// ChangedDefaults. It shows the names of variables, never their values.
func (c *Config) Describe(w io.Writer, getenv func(string) string) error {
	var buf bytes.Buffer
	c.describeSettings(&buf)
	describeAuth(&buf, c.Auth)
	c.describeModels(&buf, getenv)
	c.Limits.Describe(&buf, decimal, short)
	c.describeServers(&buf)
	describeA2A(&buf, "\nAgents to delegate to\n", c.A2A)
	c.describeTree(&buf, getenv)
	describeNotes(&buf, "", "Warning: ", c.Warnings())
	describeNotes(&buf, "Changed defaults (see deploy/CHANGELOG.md)\n", "  ", c.ChangedDefaults())
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
	settings.MCPServers, settings.A2A, settings.Root, settings.Models, settings.Limits, settings.Auth = nil, nil, nil, nil, nil, nil // shown below
	eachField(reflect.ValueOf(settings), "", func(path string, _ reflect.StructField, v reflect.Value) {
		if list, ok := v.Interface().([]string); ok && len(list) > 0 {
			fmt.Fprintf(table, "  %s\t%s\t\n", path, strings.Join(list, ", "))
		}
		if k := v.Kind(); k == reflect.Struct || k == reflect.Slice || k == reflect.Map || k == reflect.Pointer {
			return
		}
		mark := ""
		if _, set := c.lines[path]; !set && v.Interface() == defaults[path] {
			mark = "(default)"
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\n", path, c.settingText(path, v), mark)
	})
	table.Flush()
	fmt.Fprintln(w, "Settings")
	for line := range strings.Lines(text.String()) {
		fmt.Fprintln(w, strings.TrimRight(line, " \n"))
	}
}

// settingText returns a setting in one line.
func (c *Config) settingText(path string, v reflect.Value) string {
	if d, ok := v.Interface().(time.Duration); ok {
		return short(d)
	}
	text := fmt.Sprint(v.Interface())
	switch {
	case path == "blobs.url" && text == "":
		return shownURL(c.BlobURL())
	case strings.HasSuffix(path, "url"):
		text = shownURL(text)
	case path == "events.redis":
		text = shownRedis(text)
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

// shownURL removes the query and the user info, which may contain keys.
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
		fmt.Fprintf(w, "  %s: %s\n", s.Name, strings.Join(s.facts(), "; "))
	}
}

// facts returns the settings of a server. Of variables and headers it shows only the names.
func (s MCPServer) facts() []string {
	where := shownURL(s.URL)
	if s.Command != "" {
		where = "starts " + strings.Join(append([]string{s.Command}, s.Args...), " ")
	}
	if s.Transport == TransportSSE {
		where += " over SSE"
	}
	if set := slices.Sorted(maps.Keys(s.Env)); len(set) > 0 {
		where += " with " + strings.Join(set, ", ") + " set"
	}
	if set := slices.Sorted(maps.Keys(s.Headers)); len(set) > 0 {
		where += " with the headers " + strings.Join(set, ", ")
	}
	out := []string{where, "tools without hints: " + s.Unannotated}
	if text := token(s.Credential, s.Exchange); text != "" {
		out = append(out, text)
	}
	add := func(what string, list []string) {
		if len(list) > 0 {
			out = append(out, what+strings.Join(list, ", "))
		}
	}
	if s.Tools.Allow != nil && len(s.Tools.Allow) == 0 {
		out = append(out, "no tools")
	}
	add("only ", s.Tools.Allow)
	add("without ", s.Tools.Deny)
	add("asks for ", s.Destructive)
	add("runs at once ", s.Safe)
	if s.Timeout > 0 {
		out = append(out, "at most "+short(s.Timeout)+" a call")
	}
	if s.Prefix {
		out = append(out, "tools are called "+s.Name+"__…")
	}
	if s.Optional {
		out = append(out, "optional")
	}
	add("roots ", s.Roots)
	if s.Sampling != nil {
		out = append(out, fmt.Sprintf("may ask the model for %d tokens", s.Sampling.MaxTokens))
	}
	if s.Elicitation {
		out = append(out, "may ask people questions")
	}
	add("shows the model its ", s.Expose)
	add("tells rules the facts ", s.Facts)
	return out
}

func describeA2A(w io.Writer, title string, agents []A2AAgent) {
	if len(agents) == 0 {
		return
	}
	fmt.Fprint(w, title)
	for _, a := range agents {
		fmt.Fprintf(w, "  %s: %s%s\n", a.Name, a.where(), asks(a.DestructiveHint, false))
	}
}

// where returns how an agent is reached. Of headers it shows only the names.
func (a A2AAgent) where() string {
	out := shownURL(a.URL)
	if set := slices.Sorted(maps.Keys(a.Headers)); len(set) > 0 {
		out += " with the headers " + strings.Join(set, ", ")
	}
	if text := token(a.Credential, a.Exchange); text != "" {
		out += "; " + text
	}
	if a.AllowPrivateRedirects {
		out += "; may redirect to private addresses"
	}
	if a.Timeout > 0 {
		out += "; works " + short(a.Timeout) + " at most"
	}
	return out
}

// asks returns whether a delegation waits for a person.
func asks(destructive, atOnce bool) string {
	switch {
	case destructive && atOnce:
		return ", destructive, runs at once"
	case destructive:
		return ", asks first"
	}
	return ""
}

// describeNotes writes a title and notes below it, if there are any.
func describeNotes(w io.Writer, title, mark string, notes []string) {
	if len(notes) > 0 {
		fmt.Fprint(w, "\n", title)
	}
	for _, text := range notes {
		fmt.Fprintf(w, "%s%s\n", mark, text)
	}
}

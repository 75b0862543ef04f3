package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/config"
	"agent-stop-and-go/config/platform"
	"agent-stop-and-go/deploy/standalone/backtest"
	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/deploy/standalone/intake"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/service/backend"
	"agent-stop-and-go/worker"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/document"
)

// documents are recorded conversations, or what kept one from being read.
type documents = iter.Seq2[document.Conversation, error]

// files returns the conversations of files and folders; without any, of the agent's folder. A
// file that was last written before from has no later calls.
func files(c *config.Config, paths []string, from time.Time) (documents, error) {
	if len(paths) == 0 {
		paths = []string{c.DataDir}
	}
	names, err := intake.Expand(paths)
	if err != nil {
		return nil, err
	}
	return func(yield func(document.Conversation, error) bool) {
		for _, name := range names {
			if info, err := os.Stat(name); err == nil && info.ModTime().Before(from) {
				continue
			}
			f, err := intake.Read(name)
			if errors.Is(err, os.ErrNotExist) && len(paths) == 1 && paths[0] == c.DataDir {
				continue // deleted since it was listed
			}
			if err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
			if !yield(f.Conversation, err) {
				return
			}
		}
	}, nil
}

// conversationsAtOnce is how many conversations are listed at once.
const conversationsAtOnce = 100

// ofAgent returns the conversations that a running agent has.
func ofAgent(ctx context.Context, c *config.Config, getenv func(string) string, from time.Time) (documents, error) {
	p, err := platform.Open(ctx, c, platformOptions(c, getenv))
	if err != nil {
		return nil, fmt.Errorf("%w; is the agent running?", err)
	}
	store := backend.New(backend.Options{Client: p.Client, TaskQueue: c.Temporal.TaskQueue, Namespace: p.Namespace, Address: p.Address, Blobs: p.Blobs})
	return func(yield func(document.Conversation, error) bool) {
		defer p.Close()
		for q := (service.ListQuery{Limit: conversationsAtOnce}); ; {
			page, err := store.List(ctx, q)
			if err != nil {
				yield(document.Conversation{}, fmt.Errorf("list conversations: %w", err))
				return
			}
			for _, item := range page.Items {
				if item.AgentName != c.AgentName() || item.UpdatedAt.Add(time.Minute).Before(from) {
					continue
				}
				view, err := store.Conversation(ctx, item.ID, "")
				var d document.Conversation
				if err == nil {
					d, err = document.Render(ctx, p.Blobs, view)
				}
				if err != nil {
					err = fmt.Errorf("conversation %s: %w", item.ID, err)
				}
				if !yield(d, err) {
					return
				}
			}
			if q.Token = page.Next; len(q.Token) == 0 {
				return
			}
		}
	}, nil
}

// knownTools returns what is known of the tools of an agent, by name. Delegations are in the file.
func (r *recordings) knownTools(ctx context.Context, c *config.Config, stderr io.Writer) (map[string]backtest.Tool, error) {
	out := map[string]backtest.Tool{}
	for _, a := range c.Delegates() {
		t := contract.Delegation(contract.Peer{Name: a.Name, Destructive: a.DestructiveHint})
		out[t.Name] = backtest.ToolOf(toolbox.Tool{Tool: t})
	}
	switch {
	case r.connect:
		tools, silent, err := worker.Offered(ctx, c, r.getenv)
		if err != nil {
			return nil, err
		}
		for _, text := range silent {
			fmt.Fprintf(stderr, "its tools are not known: %s\n", screen.Line(text, 500))
		}
		for _, t := range tools {
			out[t.Name] = backtest.ToolOf(t)
		}
	case r.tools != "":
		data, err := os.ReadFile(r.tools)
		if err != nil {
			return nil, err
		}
		var list struct {
			Tools []contract.Tool `json:"tools"`
		}
		if err := json.Unmarshal(data, &list); err != nil || list.Tools == nil {
			return nil, fmt.Errorf("%s is no output of agent tools --json", r.tools)
		}
		for _, t := range list.Tools {
			one := backtest.ToolOf(toolbox.Tool{Tool: t})
			one.Partial = true
			out[t.Name] = one
		}
	}
	return out, nil
}

// numbers prints the report as text.
func (p *changePrinter) numbers() {
	r := p.report
	if more := p.shown - shownChanges; more > 0 {
		p.printf("and %d more, which --json lists\n", more)
	}
	of := "cases"
	if !p.from.IsZero() {
		of = fmt.Sprintf("calls of %d conversations since %s", r.Conversations, p.from.Format(time.DateOnly))
	}
	var counts []string
	for _, k := range append(backtest.Kinds(), backtest.Same) {
		if n := r.Changes[k]; n > 0 || k == backtest.Same {
			counts = append(counts, fmt.Sprintf("%d %s", n, k))
		}
	}
	p.printf("%d %s: %s\n", r.Calls, of, strings.Join(counts, ", "))
	if r.MayLoosen > 0 {
		p.printf("Of the unclear ones %d may be loosened.\n", r.MayLoosen)
	}
	if len(r.Missing) > 0 {
		var missing []string
		for _, name := range slices.Sorted(maps.Keys(r.Missing)) {
			missing = append(missing, fmt.Sprintf("%s (%d)", name, r.Missing[name]))
		}
		p.printf("Not known of them: %s\n", screen.Safe(strings.Join(missing, ", ")))
		if !p.tools && (r.Missing["server"] > 0 || r.Missing["annotations"] > 0) {
			p.printf("--connect asks the tool servers for the servers and hints of their tools.\n")
		}
	}
	if r.Calls == 0 {
		return
	}
	table := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "\nRULE\t%s\t%s\n", strings.ToUpper(p.sides.beforeName), strings.ToUpper(p.sides.afterName))
	for _, name := range slices.Sorted(maps.Keys(r.Rules)) {
		fmt.Fprintf(table, "%s\t%d\t%d\n", screen.Line(cmp.Or(name, "(the hints of tools)"), 100), r.Rules[name].Before, r.Rules[name].After)
	}
	if err := table.Flush(); p.err == nil {
		p.err = err
	}
}

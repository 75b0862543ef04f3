package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/gateway/client"
	"agent-stop-and-go/workflows/contract/duration"
)

func newApprovals(getenv func(string) string) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "approvals",
		Aliases: []string{"approval"},
		Short:   "See what waits for a person, and decide",
	}
	f := AddFlags(cmd, getenv)
	return family(cmd, newApprovalsList(f), newApprovalsShow(f), newApprove(f), newReject(f), newAnswer(f), newLater(f), newWatch(f))
}

// pages are the flags of a command that lists something.
type pages struct{ query client.Query }

func (p *pages) add(cmd *cobra.Command) {
	cmd.Flags().IntVar(&p.query.Limit, "limit", 50, "the `number` of lines at most, up to 200")
	cmd.Flags().StringVar(&p.query.Cursor, "cursor", "", "begin behind the page that ended with this `cursor`")
}

// more says how to get the next page.
func more(w io.Writer, cursor string) {
	if cursor != "" {
		fmt.Fprintf(w, "\nThere are more: --cursor %s\n", screen.Safe(cursor))
	}
}

func newApprovalsList(f *Flags) *cobra.Command {
	var p pages
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the approvals that wait",
		Args:  arguments(),
		RunE: f.session(func(s *session, cmd *cobra.Command, _ []string) error {
			page, err := s.Approvals(cmd.Context(), p.query)
			if err != nil {
				return err
			}
			return s.show(page, func(w io.Writer) {
				rows := [][]string{{"UUID", "WAITS SINCE", "FOR", "TOOL", "REASON", "PUT OFF", "ARGUMENTS"}}
				for _, a := range page.Approvals {
					args := cmp.Or(screen.Exact(string(a.ToolArgs)), screen.Exact(a.ToolArgsPreview))
					rows = append(rows, []string{a.UUID, age(a.CreatedAt), subjectOf(a.Requester), a.ToolName, string(a.Reason), putOff(a.DeferredUntil), args})
				}
				if len(page.Approvals) == 0 {
					fmt.Fprintln(w, "Nothing waits.")
					return
				}
				table(w, rows...)
				more(w, page.NextCursor)
			})
		}),
	}
	p.add(cmd)
	return cmd
}

// lastReminder returns when people were reminded last of an approval, in words, or "".
func lastReminder(times []time.Time) string {
	if len(times) == 0 {
		return ""
	}
	return times[len(times)-1].Local().Format("2006-01-02 15:04")
}

// subjectOf returns the name of somebody, "" if none is proven.
func subjectOf(i *client.Identity) string {
	if i == nil {
		return ""
	}
	return i.Subject
}

func newApprovalsShow(f *Flags) *cobra.Command {
	return &cobra.Command{
		Use:               "show UUID",
		Short:             "Show all of an approval: the arguments, where the call goes, who decided",
		Args:              arguments("UUID"),
		ValidArgsFunction: completeFrom(f, approvalIDs),
		RunE: f.session(func(s *session, cmd *cobra.Command, args []string) error {
			state, err := s.Approval(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return s.show(state, func(w io.Writer) {
				fmt.Fprint(w, screen.Approval(state.Approval))
				fmt.Fprint(w, screen.Field("conversation", state.Approval.ConversationID))
				fmt.Fprint(w, screen.Field("status", state.Status))
				fmt.Fprint(w, screen.Field("problem", state.Problem))
				if d := state.Decision; d != nil {
					fmt.Fprint(w, screen.Field("decided by", d.By))
					if d.For != nil {
						fmt.Fprint(w, screen.Field("in the place of", d.For.From.Subject))
					}
					fmt.Fprint(w, screen.Field("typed by (not proven)", state.TemporalIdentity))
					fmt.Fprint(w, screen.Field("because", d.Reason))
					if d.Revision != nil {
						fmt.Fprint(w, screen.Changes(*d.Revision))
					}
					return
				}
				fmt.Fprint(w, screen.Field("put off", putOff(state.DeferredUntil)))
				fmt.Fprint(w, screen.Field("reminded", lastReminder(state.Reminded)))
				fmt.Fprint(w, screen.Field("judged again", lastJudgement(state.Judgements)))
				s.printAnswers(w, state.Approval)
			})
		}),
	}
}

// decision has the flags of a decision.
type decision struct {
	by, reason string
	set        []string
}

func (d *decision) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&d.by, "by", "", "who decides; a `name` for the record (default $USER, unless there is a key)")
	cmd.Flags().StringVar(&d.reason, "reason", "", "why; a `text` for the record, which the agent reads as well")
}

func newApprove(f *Flags) *cobra.Command {
	return newDecision(f, "approve UUID…", "Approve a call, and show what comes of it; or several calls", `  agent approvals list
  agent approvals approve 7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f --reason "looks right"
  agent approvals approve 7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f --set amount=400
  agent approvals approve 7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f --always conversation --for 2h`, func([]string) client.Answer {
		yes := true
		return client.Answer{Approved: &yes}
	})
}

func newReject(f *Flags) *cobra.Command {
	return newDecision(f, "reject UUID…", "Reject a call; the agent continues without it; or several calls", `  agent approvals reject 7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f --reason "not on a Friday"`, func([]string) client.Answer {
		no := false
		return client.Answer{Approved: &no}
	})
}

func newAnswer(f *Flags) *cobra.Command {
	cmd := newDecision(f, "answer UUID ANSWER", "Answer what takes more than yes or no", `  agent approvals answer 7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f '{"branch":"main"}'
  agent approvals answer 7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f ran`, func(args []string) client.Answer { return screen.Content(args[1]) }, "UUID", "ANSWER")
	cmd.Long = `Answer an approval that takes more than yes or no:
  a question of a tool server   the fields of its form as a JSON object, or the value of the
                                only field
  a call of the front end       {"content":"RESULT"}
  a call of unknown outcome     ran (it did run), yes (run it again), no (go on without it)
`
	return cmd
}

// newDecision returns a command that decides an approval; without names, one or several.
func newDecision(f *Flags, use, short, example string, answer func(args []string) client.Answer, names ...string) *cobra.Command {
	var d decision
	var later always
	accepts := arguments(names...)
	if len(names) == 0 {
		accepts = several
	}
	cmd := &cobra.Command{
		Use: use, Short: short, Example: example,
		Args:              accepts,
		ValidArgsFunction: completeFrom(f, approvalIDs),
		RunE: f.session(func(s *session, cmd *cobra.Command, args []string) error {
			var err error
			a := answer(args)
			a.By, a.Reason = f.decider(d.by), d.reason
			if a.Edit, err = changes(d.set); err != nil || len(d.set) > 0 && len(args) > 1 {
				return &UsageError{cmp.Or(err, errors.New("--set changes one call: name one UUID"))}
			}
			if err := later.complete(len(args) > 1 || len(d.set) > 0); err != nil {
				return &UsageError{err}
			}
			if later.Scope != "" {
				if a.Always, err = s.confirmed(cmd, args[0], later); err != nil || a.Always == nil {
					return err
				}
			}
			if len(names) == 0 && len(args) > 1 {
				return s.decideAll(cmd.Context(), args, a)
			}
			turn, ended, err := s.Decide(cmd.Context(), args[0], a)
			if err != nil {
				return err
			}
			return s.showTurn(cmd.Context(), turn, ended)
		}),
	}
	d.add(cmd)
	if strings.HasPrefix(use, "approve") {
		later.add(cmd)
		cmd.Flags().StringArrayVar(&d.set, "set", nil, "approve with another value of an argument, as `NAME=VALUE`; may be repeated. VALUE is JSON, or else a text")
	}
	return cmd
}

// changes reads changes of arguments.
func changes(set []string) (map[string]json.RawMessage, error) {
	var out map[string]json.RawMessage
	for _, one := range set {
		name, value, ok := strings.Cut(one, "=")
		if _, twice := out[name]; !ok || name == "" || twice {
			return nil, fmt.Errorf("--set %s: expected NAME=VALUE, each name once", one)
		}
		raw := json.RawMessage(value)
		if !json.Valid(raw) {
			raw, _ = json.Marshal(value) // a text
		}
		if out == nil {
			out = map[string]json.RawMessage{}
		}
		out[name] = raw
	}
	return out, nil
}

// showTurn prints what became of a turn.
func (s *session) showTurn(ctx context.Context, t client.Turn, ended bool) error {
	if !ended {
		return s.show(map[string]string{"status": "running"}, func(w io.Writer) {
			fmt.Fprintln(w, "It is recorded, and the turn goes on.")
		})
	}
	err := s.show(t, func(w io.Writer) {
		if t.Result != nil && !t.Result.WaitingApproval {
			fmt.Fprintln(w, screen.Safe(t.Result.Response))
		}
	})
	if err != nil || t.Result == nil || !t.Result.WaitingApproval {
		return err
	}
	for _, a := range t.Conversation.PendingApprovals {
		if err := s.announce(ctx, a.UUID); err != nil {
			return err
		}
	}
	return errWaits
}

// announce prints an approval and how to answer it, for a person.
func (s *session) announce(ctx context.Context, uuid string) error {
	state, err := s.Approval(ctx, uuid)
	if err != nil {
		return err
	}
	fmt.Fprint(s.err, screen.Approval(state.Approval))
	s.printAnswers(s.err, state.Approval)
	return nil
}

func newWatch(f *Flags) *cobra.Command {
	every := 2 * time.Second
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Show approvals as they come, until Ctrl-C",
		Args:  arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if every <= 0 {
				return &UsageError{fmt.Errorf("--every %s: expected a time longer than 0", every)}
			}
			s, err := f.open(cmd)
			if err != nil {
				return err
			}
			return s.watch(cmd.Context(), every)
		},
	}
	cmd.Flags().Var((*duration.Value)(&every), "every", "how often to look")
	return cmd
}

// watch prints every approval once, until ctx ends. An agent that answered before may be away for
// a while.
func (s *session) watch(ctx context.Context, every time.Duration) error {
	var seen []string
	for began, lost := false, false; ; began = true {
		err := s.printNew(ctx, &seen)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && !(began && mayPass(err)):
			return err
		case err != nil && !lost:
			fmt.Fprintf(s.err, "%s\nIt is asked again and again.\n", screen.Safe(err.Error()))
		}
		lost = err != nil
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(every):
		}
	}
}

// mayPass reports whether the agent may answer later.
func mayPass(err error) bool {
	var gone *client.Unreachable
	status := client.StatusOf(err)
	return errors.As(err, &gone) || errors.Is(err, io.ErrUnexpectedEOF) || status >= 500 || status == http.StatusTooManyRequests
}

// printNew prints the approvals that have not been seen since they came or reminded, and updates
// which have.
func (s *session) printNew(ctx context.Context, seen *[]string) error {
	page, err := s.Approvals(ctx, client.Query{Limit: 200})
	if err != nil {
		return err
	}
	waits := func(one string) bool {
		return slices.ContainsFunc(page.Approvals, func(a client.WaitingApproval) bool { return seenAs(a) == one })
	}
	*seen = slices.DeleteFunc(*seen, func(uuid string) bool { return !waits(uuid) })
	for _, a := range slices.Backward(page.Approvals) {
		if slices.Contains(*seen, seenAs(a)) {
			continue
		}
		if err := s.printWaiting(ctx, a); err != nil {
			return err
		}
		*seen = append(*seen, seenAs(a))
	}
	return nil
}

// seenAs names an approval with its last reminder, after which it is printed again.
func seenAs(a client.WaitingApproval) string { return a.UUID + " " + lastReminder(a.Reminded) }

func (s *session) printWaiting(ctx context.Context, a client.WaitingApproval) error {
	if s.json {
		return printLine(s.out, a)
	}
	state, err := s.Approval(ctx, a.UUID)
	if client.StatusOf(err) == http.StatusNotFound {
		return nil // it has ended since
	}
	if err != nil || state.Decision != nil {
		return err
	}
	if at := lastReminder(a.Reminded); at != "" {
		fmt.Fprintf(s.out, "A reminder of %s: this still waits.\n", at)
	}
	fmt.Fprint(s.out, screen.Approval(state.Approval))
	s.printAnswers(s.out, state.Approval)
	_, err = fmt.Fprintln(s.out)
	return err
}

package appender_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/appender"
	"agent-stop-and-go/workflows/contract/audit"
)

// session is an Audit in a test, with a log that can fail.
type session struct {
	t       *testing.T
	env     *testsuite.TestWorkflowEnvironment
	log     []audit.Leaf
	batches []int
	after   audit.Head
	fails   error

	// unsigned is what each head says, and witness what is answered when witnesses are asked to sign.
	unsigned int
	signed   string
	witness  func(h audit.Head) ([]audit.Witnessed, error)
	asked    []int64 // sizes
}

// run runs an Audit while body runs, and returns the input of the run that follows.
func run(t *testing.T, in audit.Input, body func(s *session)) audit.Input {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	s := &session{t: t, env: suite.NewTestWorkflowEnvironment()}
	s.env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: audit.WorkflowID, TaskQueue: audit.TaskQueue})
	appender.Register(s.env)
	s.env.RegisterActivityWithOptions(s.append, activity.RegisterOptions{Name: audit.ActivityAppend.Name})
	s.env.RegisterActivityWithOptions(s.cosign, activity.RegisterOptions{Name: audit.ActivityCosign.Name})
	s.env.RegisterDelayedCallback(func() {
		body(s)
		s.env.RegisterDelayedCallback(func() { s.env.SetCurrentHistoryLength(10_000); s.signal() }, time.Hour)
	}, time.Second)
	s.env.ExecuteWorkflow(audit.Workflow, in)
	var next *workflow.ContinueAsNewError
	if err := s.env.GetWorkflowError(); !errors.As(err, &next) {
		t.Fatalf("the Audit has ended: %v", err)
	}
	var out audit.Input
	if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func (s *session) append(_ context.Context, b audit.Batch) (audit.Head, error) {
	if s.fails != nil {
		return audit.Head{}, s.fails
	}
	s.log, s.batches, s.after = append(s.log, b.Leaves...), append(s.batches, len(b.Leaves)), b.After
	return audit.Head{Origin: "log", Size: int64(len(s.log)), Root: fmt.Sprint("root-", len(s.log)), Unsigned: s.unsigned, Signed: s.signed}, nil
}

func (s *session) cosign(_ context.Context, h audit.Head) ([]audit.Witnessed, error) {
	s.asked = append(s.asked, h.Size)
	return s.witness(h)
}

func (s *session) ids() (out []string) {
	for _, l := range s.log {
		out = append(out, l.ID)
	}
	return out
}

func leaf(id string) audit.Leaf { return audit.Leaf{ID: id, Kind: audit.KindCall} }

func leaves(ids ...string) (out []audit.Leaf) {
	for _, id := range ids {
		out = append(out, leaf(id))
	}
	return out
}

func (s *session) signal(ids ...string) { s.env.SignalWorkflow(audit.SignalAppend, leaves(ids...)) }

// answer is that of an update.
type answer struct {
	done bool
	head audit.Head
	err  error
}

func (a *answer) Accept()          {}
func (a *answer) Reject(err error) { a.done, a.err = true, err }
func (a *answer) Complete(v any, err error) {
	a.done, a.err = true, err
	a.head, _ = v.(audit.Head)
}

func (a *answer) kind() string {
	var app *temporal.ApplicationError
	if !errors.As(a.err, &app) {
		return ""
	}
	return app.Type()
}

func (s *session) update(e audit.Entries) *answer {
	a := &answer{}
	s.env.UpdateWorkflow(audit.UpdateAppend, fmt.Sprint(time.Now().UnixNano()), a, e)
	return a
}

func (s *session) view() (v audit.View) {
	got, err := s.env.QueryWorkflow(audit.QueryAudit)
	if err == nil {
		err = got.Get(&v)
	}
	if err != nil {
		s.t.Error(err)
	}
	return v
}

func (s *session) later(after time.Duration, f func()) { s.env.RegisterDelayedCallback(f, after) }

func TestAnUpdateEndsWhenItsLeafIsDurable(t *testing.T) {
	var s *session
	next := run(t, audit.Input{}, func(running *session) {
		s = running
		s.env.CancelWorkflow() // changes nothing
		s.signal("decision")
		a := s.update(audit.Entries{Await: leaves("proposal"), Then: leaves("call")})
		s.later(time.Second, func() {
			if !a.done || a.err != nil || a.head.Size == 0 {
				t.Errorf("%+v", a)
			}
			s.signal("decision", "outcome")
			again := s.update(audit.Entries{Await: leaves("proposal"), Then: leaves("call")})
			s.later(time.Second, func() {
				if !again.done || again.err != nil {
					t.Errorf("%+v", again)
				}
			})
		})
	})
	if want := []string{"decision", "proposal", "call", "outcome"}; !slices.Equal(s.ids(), want) {
		t.Errorf("the log has %v, expected %v", s.ids(), want)
	}
	if next.Head.Size != 4 || len(next.Queue) != 0 || !slices.Equal(next.Recent, s.ids()) {
		t.Errorf("the next run has %+v", next)
	}
}

// While the log cannot be written, updates fail with the reason, at once after the first attempt. What
// they await is written when it can be, and what was to follow is not.
func TestWhileTheLogCannotBeWrittenUpdatesFail(t *testing.T) {
	var s *session
	run(t, audit.Input{}, func(running *session) {
		s = running
		s.fails = errors.New("no space left on device")
		first := s.update(audit.Entries{Await: leaves("p1"), Then: leaves("c1")})
		s.later(3*time.Second, func() {
			second := s.update(audit.Entries{Await: leaves("p2"), Then: leaves("c2")})
			s.signal("outcome")
			s.later(time.Second, func() {
				for i, a := range []*answer{first, second} {
					if a.kind() != string(audit.KindUnwritten) || !strings.Contains(a.err.Error(), "no space left on device") {
						t.Errorf("update %d: %+v", i+1, a)
					}
				}
			})
			if v := s.view(); v.Problem != "no space left on device" || v.Since.IsZero() || v.Queued < 1 {
				t.Errorf("%+v", v)
			}
		})
		s.later(10*time.Minute, func() { s.fails = nil })
		s.later(11*time.Minute, func() {
			if v := s.view(); v.Problem != "" || v.Queued != 0 || !v.Since.IsZero() {
				t.Errorf("%+v", v)
			}
			a := s.update(audit.Entries{Await: leaves("p1"), Then: leaves("c1-again")})
			s.later(time.Second, func() {
				if !a.done || a.err != nil {
					t.Errorf("%+v", a)
				}
			})
		})
	})
	if want := []string{"p1", "p2", "outcome", "c1-again"}; !slices.Equal(s.ids(), want) {
		t.Errorf("the log has %v, expected %v", s.ids(), want)
	}
}

func TestAFloodIsWrittenInFewBatchesAndRefusedWhenTooMuchWaits(t *testing.T) {
	var s *session
	run(t, audit.Input{}, func(running *session) {
		s = running
		var many []string
		for n := range 1000 {
			many = append(many, fmt.Sprint(n))
		}
		s.signal(many...)
		s.later(time.Minute, func() {
			if len(s.log) != 1000 || len(s.batches) != 4 {
				t.Errorf("%d leaves in batches of %v", len(s.log), s.batches)
			}
			s.fails = errors.New("away")
			for n := range audit.MaxQueue / 1000 {
				var more []string
				for m := range 1000 {
					more = append(more, fmt.Sprint("more-", n, "-", m))
				}
				s.signal(more...)
			}
			s.later(time.Second, func() {
				a := s.update(audit.Entries{Await: leaves("x")})
				s.later(time.Second, func() {
					if a.kind() != string(audit.KindBusy) {
						t.Errorf("%+v", a)
					}
					s.fails = nil
				})
			})
		})
	})
}

// What a process uses is recorded when it changes.
func TestAPolicyIsRecordedWhenItChanges(t *testing.T) {
	var s *session
	n := 0
	policy := func(version string) {
		n++
		s.env.SignalWorkflow(audit.SignalAppend, []audit.Leaf{{ID: fmt.Sprint("policy/", n), Kind: audit.KindPolicy, What: "helper", Policy: version}})
	}
	next := run(t, audit.Input{States: map[string]string{"policy helper": "a"}}, func(running *session) {
		s = running
		for _, version := range []string{"a", "b", "b", "a"} {
			policy(version)
		}
	})
	if want := []string{"policy/2", "policy/4"}; !slices.Equal(s.ids(), want) || next.States["policy helper"] != "a" {
		t.Errorf("the log has %v, expected %v; %+v", s.ids(), want, next.States)
	}
}

// The log must contain what the runs before have seen of it, and what waited is written.
func TestTheNextRunGoesOn(t *testing.T) {
	var s *session
	head := audit.Head{Origin: "log", Size: 7, Root: "r"}
	run(t, audit.Input{Head: head, Queue: leaves("waited"), Recent: []string{"known"}}, func(running *session) {
		s = running
		if s.after != head {
			t.Errorf("after %+v", s.after)
		}
		s.signal("known", "waited", "new")
	})
	if want := []string{"waited", "new"}; !slices.Equal(s.ids(), want) {
		t.Errorf("the log has %v, expected %v", s.ids(), want)
	}
}

// What waits says for the first time what the states already have.
func TestTheNextRunWritesAStateThatWaited(t *testing.T) {
	next := run(t, audit.Input{}, func(s *session) {
		s.fails = errors.New("away")
		s.env.SignalWorkflow(audit.SignalAppend, []audit.Leaf{{ID: "policy/1", Kind: audit.KindPolicy, What: "helper", Policy: "a"}})
	})
	var s *session
	run(t, next, func(running *session) { s = running })
	if want := []string{"policy/1"}; !slices.Equal(s.ids(), want) {
		t.Errorf("the log has %v, expected %v", s.ids(), want)
	}
}

// A run that is very long ends although more waits than it would take, with as much of that as an input
// may have.
func TestALongRunEndsWithAFullQueue(t *testing.T) {
	for name, tc := range map[string]struct {
		leaves int
		tool   string
		least  int // that are carried over
	}{
		"all of it":     {leaves: audit.MaxQueue + 1000, tool: "t", least: audit.MaxQueue + 1000},
		"the beginning": {leaves: 5500, tool: strings.Repeat("t", 200), least: 3000},
	} {
		t.Run(name, func(t *testing.T) {
			next := run(t, audit.Input{}, func(s *session) {
				s.fails = errors.New("away")
				var all []audit.Leaf
				for n := range tc.leaves {
					all = append(all, audit.Leaf{ID: fmt.Sprint(n), Kind: audit.KindDecision, Tool: tc.tool})
				}
				s.env.SignalWorkflow(audit.SignalAppend, all)
				s.later(time.Second, func() { s.env.SetCurrentHistoryLength(25_000) })
			})
			size, err := json.Marshal(next)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(next.Queue); n < tc.least || n > tc.leaves || next.Queue[n-1].ID != fmt.Sprint(n-1) || len(size) > 5<<18 {
				t.Errorf("%d of %d leaves are carried over, in %d bytes", n, tc.leaves, len(size))
			}
		})
	}
}

// Witnesses are asked until they have signed all, first for events that come together, and then at increasing
// intervals; no event waits for that.
func TestWitnessesSignLater(t *testing.T) {
	var s *session
	next := run(t, audit.Input{}, func(running *session) {
		s = running
		s.unsigned = 1
		away := true
		s.witness = func(h audit.Head) ([]audit.Witnessed, error) {
			switch {
			case h.Size == 2:
				return nil, errors.New("the store fails")
			case away:
				return []audit.Witnessed{{Name: "w", Problem: "away"}}, nil
			}
			return []audit.Witnessed{{Name: "w", Size: h.Size}}, nil
		}
		s.signal("proposal")
		s.later(300*time.Millisecond, func() { s.signal("decision") })
		s.later(10*time.Second, func() {
			s.signal("call")
			s.later(time.Millisecond, func() {
				if len(s.log) != 3 {
					t.Errorf("the log waits for the witnesses: %v", s.ids())
				}
			})
		})
		s.later(time.Minute, func() {
			if v := s.view(); len(v.Witnesses) != 1 || v.Witnesses[0].Problem != "away" {
				t.Errorf("%+v", v)
			}
			if l := s.view().Lag("w"); l.Signed != 0 || l.Leaves != 3 || s.env.Now().Sub(l.Since) < 40*time.Second { // of the first failure
				t.Errorf("%+v at %v", l, s.env.Now())
			}
			away = false
		})
		s.later(10*time.Minute, func() {
			if v := s.view(); len(v.Witnesses) != 1 || v.Witnesses[0] != (audit.Witnessed{Name: "w", Size: 3}) || v.Head.Unsigned != 0 {
				t.Errorf("%+v", v)
			}
		})
	})
	n := len(s.asked)
	if n < 5 || n > 12 || s.asked[0] != 2 || s.asked[n-1] != 3 {
		t.Errorf("the witnesses were asked for %v", s.asked)
	}
	if len(next.Witnesses) != 1 || next.Head.Unsigned != 0 {
		t.Errorf("the next run has %+v", next)
	}
}

// What witnesses have not signed when a run ends, they sign in the next.
func TestTheNextRunAsksWitnesses(t *testing.T) {
	var s *session
	run(t, audit.Input{Head: audit.Head{Origin: "log", Size: 7, Root: "r", Unsigned: 2}}, func(running *session) {
		s = running
		s.witness = func(h audit.Head) ([]audit.Witnessed, error) {
			return []audit.Witnessed{{Name: "w", Size: h.Size}}, nil
		}
	})
	if !slices.Equal(s.asked, []int64{7}) {
		t.Errorf("asked for %v", s.asked)
	}
}

// A log without such witnesses asks none.
func TestWithoutWitnessesNobodyIsAsked(t *testing.T) {
	var s *session
	run(t, audit.Input{}, func(running *session) {
		s = running
		s.signal("a", "b")
	})
	if len(s.asked) != 0 || len(s.log) != 2 {
		t.Errorf("asked for %v", s.asked)
	}
}

// While too few of the witnesses that must sign do, the log cannot be written, and the view says which and
// since when. When they have, nothing is left of it.
func TestTheViewHasTheWitnessesThatAreAwaited(t *testing.T) {
	run(t, audit.Input{Head: audit.Head{Origin: "log", Size: 7}}, func(s *session) {
		awaited := audit.Unsigned{Witnesses: []audit.Witnessed{{Name: "w", Size: 7, Problem: "away"}}}
		s.fails = temporal.NewNonRetryableApplicationError("0 of 1 witnesses", string(audit.KindUnwritten), nil, awaited)
		s.signal("a", "b")
		s.later(time.Minute, func() {
			if l := s.view().Lag("w"); l.Signed != 7 || l.Leaves != 2 || l.Problem != "away" || s.env.Now().Sub(l.Since) < 50*time.Second {
				t.Errorf("%+v at %v", l, s.env.Now())
			}
			s.fails, s.signed = nil, "w"
		})
		s.later(10*time.Minute, func() {
			if v := s.view(); v.Head.Size != 2 || len(v.Witnesses) != 1 || v.Witnesses[0].Problem != "" || v.Lag("w") != (audit.Lag{Name: "w", Signed: v.Head.Size}) {
				t.Errorf("%+v", v)
			}
		})
	})
}

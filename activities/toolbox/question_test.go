package toolbox_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

const (
	accepted  = `{"action":"accept","content":{"n":5}}`
	cancelled = `{"action":"cancel"}`
)

// questions has the questions that arrive, each with a channel for its answer.
type questions chan openQuestion

type openQuestion struct {
	ctx    context.Context
	answer chan error // nil accepts
}

func (a questions) Elicit(ctx context.Context, _ toolbox.Question) (toolbox.Answer, error) {
	q := openQuestion{ctx, make(chan error)}
	a <- q
	select {
	case err := <-q.answer:
		return toolbox.Answer{Action: toolbox.Accept, Content: map[string]any{"n": 5}}, err
	case <-ctx.Done():
		return toolbox.Answer{}, ctx.Err()
	}
}

// openAsking returns a box with a server that may ask.
func openAsking(t *testing.T, s toolbox.Server, o toolbox.Options) (*toolbox.Toolbox, questions) {
	t.Helper()
	s.MayAsk = true
	questions := make(questions, 10)
	o.Servers, o.Elicitor = []toolbox.Server{s}, questions
	return open(t, o), questions
}

func askAside(ctx context.Context, box *toolbox.Toolbox, destructive bool) <-chan outcome {
	return callAside(ctx, box, toolbox.Call{Server: "web", Tool: "ask", Arguments: []byte(`{"what":"person"}`), Destructive: destructive})
}

func TestTheTimeOfACallStandsStillWhileAPersonIsAsked(t *testing.T) {
	eachAskingKind(t, func(t *testing.T, s toolbox.Server) {
		t.Parallel()
		s.Timeout = 5 * time.Second
		box, questions := openAsking(t, s, toolbox.Options{})
		box.Tools(t.Context())
		call := askAside(t.Context(), box, true)
		q := within(t, "the question", questions)
		time.Sleep(s.Timeout + time.Second) // the server's own clock matters, too
		q.answer <- nil
		if got := within(t, "the answer", call); got.err != nil || got.result.Text != accepted {
			t.Errorf("got %+v", got)
		}
	})
}

// mcp-go sets a deadline of 30 seconds for a server's request.
func TestAnAnswerOverHTTPMayTakeLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		life, endLife := context.WithCancel(t.Context())
		late, endLate := context.WithTimeout(t.Context(), 30*time.Second)
		defer endLate()
		gone, leave := context.WithTimeout(t.Context(), 30*time.Second)
		patient, done := toolbox.Patient(late, life)
		defer done()
		ended, doneEnded := toolbox.Patient(gone, life)
		defer doneEnded()
		time.Sleep(29 * time.Second)
		leave()
		synctest.Wait()
		if ended.Err() == nil {
			t.Error("it goes on when the server has gone away")
		}
		time.Sleep(time.Hour)
		if late.Err() == nil || patient.Err() != nil {
			t.Errorf("after the deadline: %v, %v", late.Err(), patient.Err())
		}
		endLife()
		synctest.Wait()
		if patient.Err() == nil {
			t.Error("it outlives the connection")
		}
	})
}

func TestOfSeveralCallsOverStdioNobodyKnowsWhoAsks(t *testing.T) {
	var log logBuffer
	box, questions := openAsking(t, kinds["stdio"](t), toolbox.Options{Logger: log.logger()})
	box.Tools(t.Context())
	began := make(chan struct{}, 1)
	ctx, stop := context.WithCancel(t.Context())
	other := callAside(ctx, box, toolbox.Call{Server: "web", Tool: "wait", Progress: func(toolbox.Progress) { began <- struct{}{} }})
	within(t, "the other call", began)
	if got := within(t, "the answer", askAside(t.Context(), box, false)); got.err != nil || !strings.HasPrefix(got.result.Text, cancelled+"\n[") ||
		!strings.Contains(got.result.Text, "nobody was shown it: 2 calls are under way") {
		t.Errorf("got %+v", got)
	}
	if !strings.Contains(log.String(), "2 calls are under way") {
		t.Errorf("logged %s", log.String())
	}
	stop()
	within(t, "the end of the other call", other)
	call := askAside(t.Context(), box, false)
	within(t, "the question", questions).answer <- nil
	if got := within(t, "the answer", call); got.result.Text != accepted {
		t.Errorf("alone: %+v", got)
	}
}

func TestOfSeveralCallsOverHTTPEachHasItsQuestion(t *testing.T) {
	box, questions := openAsking(t, kinds["http, sessions"](t), toolbox.Options{})
	box.Tools(t.Context())
	first, second := askAside(t.Context(), box, false), askAside(t.Context(), box, false)
	within(t, "a question", questions).answer <- nil
	within(t, "another question", questions).answer <- nil
	for _, call := range []<-chan outcome{first, second} {
		if got := within(t, "the answer", call); got.err != nil || got.result.Text != accepted {
			t.Errorf("got %+v", got)
		}
	}
}

func TestAQuestionThatWaitsForTooLongIsCancelled(t *testing.T) {
	eachAskingKind(t, func(t *testing.T, s toolbox.Server) {
		box, _ := openAsking(t, s, toolbox.Options{QuestionTime: 30 * time.Millisecond})
		if got, err := askFor(t, box, "person"); err != nil || !strings.HasPrefix(got.Text, cancelled+"\n[") || !strings.Contains(got.Text, "waited for too long") {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

func TestAQuestionEndsWithItsCall(t *testing.T) {
	eachAskingKind(t, func(t *testing.T, s toolbox.Server) {
		box, questions := openAsking(t, s, toolbox.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		call := askAside(ctx, box, false)
		q := within(t, "the question", questions)
		cancel()
		within(t, "the end of the question", q.ctx.Done())
		if got := within(t, "the end of the call", call); !errors.Is(got.err, context.Canceled) {
			t.Errorf("got %+v", got)
		}
	})
}

func TestWhenNobodyWaitsForTheAnswerTheCallIsLost(t *testing.T) {
	eachAskingKind(t, func(t *testing.T, s toolbox.Server) {
		box, questions := openAsking(t, s, toolbox.Options{})
		for destructive, kind := range map[bool]contract.Kind{true: contract.KindOutcomeUnknown, false: contract.KindToolUnavailable} {
			call := askAside(t.Context(), box, destructive)
			within(t, "the question", questions).answer <- toolbox.ErrStopping
			wantKind(t, within(t, "the end of the call", call).err, kind)
		}
	})
}

func TestALimitGoesOnWithWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("time is up")
		ctx, end := toolbox.WithLimit(t.Context(), 10*time.Second, time.Minute, cause)
		defer end()
		time.Sleep(4 * time.Second)
		first, resumeFirst := toolbox.Pause(ctx)
		time.Sleep(20 * time.Second)
		second, resumeSecond := toolbox.Pause(ctx) // at the same time
		time.Sleep(20 * time.Second)
		resumeFirst()
		if first.Err() == nil || second.Err() != nil || ctx.Err() != nil {
			t.Errorf("after one of two: %v, %v, %v", first.Err(), second.Err(), ctx.Err())
		}
		resumeSecond()
		time.Sleep(5 * time.Second)
		third, resumeThird := toolbox.Pause(ctx)
		time.Sleep(19 * time.Second)
		if third.Err() != nil {
			t.Error("the questions have not waited for a minute yet")
		}
		time.Sleep(2 * time.Second)
		if third.Err() == nil || ctx.Err() != nil {
			t.Errorf("after a minute of waiting: %v, %v", third.Err(), ctx.Err())
		}
		resumeThird()
		time.Sleep(900 * time.Millisecond)
		if ctx.Err() != nil {
			t.Error("it ended too early")
		}
		time.Sleep(200 * time.Millisecond)
		if !errors.Is(context.Cause(ctx), cause) {
			t.Errorf("ended by %v", context.Cause(ctx))
		}
	})
}

package switchboard_test

import (
	"context"
	"errors"
	"testing"

	"agent-stop-and-go/activities/switchboard"
	"agent-stop-and-go/workflows/contract/switches"
)

func TestASwitchIsReadOnceASecondUnlessItPauses(t *testing.T) {
	reads, state := 0, switches.State{}
	b := &switchboard.Board{Read: func(context.Context) (switches.State, error) {
		reads++
		return state, nil
	}}
	asks := func(tool string) bool {
		t.Helper()
		_, held, err := b.Holding(t.Context(), switches.Call{Tool: tool})
		if err != nil {
			t.Fatal(err)
		}
		return held
	}
	if asks("a") || asks("b") || reads != 1 {
		t.Errorf("%d reads while nothing is paused", reads)
	}
	b = &switchboard.Board{Read: b.Read}
	state = switches.State{Switches: []switches.Switch{{What: "tool:a"}}}
	if !asks("a") || asks("b") || reads != 2 {
		t.Errorf("%d reads", reads)
	}
	state = switches.State{}
	if asks("a") {
		t.Error("a call waits after the resume")
	}
}

func TestWithoutAnAnswerNothingIsKnown(t *testing.T) {
	away := errors.New("the server is away")
	b := &switchboard.Board{Read: func(context.Context) (switches.State, error) { return switches.State{}, away }}
	if _, held, err := b.Holding(t.Context(), switches.Call{}); !errors.Is(err, away) || held {
		t.Errorf("held %v, %v", held, err)
	}
}

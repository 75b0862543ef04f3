package task_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/gateway/a2a/task"
	"agent-stop-and-go/workflows/record/recordtest"
)

// sources returns the states of a random task after each change.
func sources(seed uint64) []task.Source {
	var out []task.Source
	for _, s := range recordtest.NewTask(seed).Lasting() {
		out = append(out, task.Source{Agent: "helper", State: s, Media: media})
	}
	return out
}

func allEvents(history []task.Source) []task.Event {
	var events []task.Event
	s := task.NewStream(task.Shape{})
	for _, src := range history {
		events = append(events, s.Update(src)...)
	}
	return events
}

func lines(events []task.Event) []string {
	var out []string
	for _, e := range events {
		out = append(out, line(e))
	}
	return out
}

// Readers lose their stream at random events and resume after the last event they got.
// Together they must get what an uninterrupted reader gets.
func TestResumedReadersMissNothingAndGetNothingTwice(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 7))
		history := sources(seed)
		want := lines(allEvents(history))
		for range 3 {
			if diff := cmp.Diff(want, lines(follow(t, r, history))); diff != "" {
				t.Fatalf("seed %d (-always +came back):\n%s", seed, diff)
			}
		}
	}
}

// follow reads every state; when the stream is lost, it resumes at the state at which it was
// lost.
func follow(t *testing.T, r *rand.Rand, history []task.Source) []task.Event {
	var got []task.Event
	s := task.NewStream(task.Shape{})
	for i := 0; i < len(history); i++ {
		for _, e := range s.Update(history[i]) {
			got = append(got, e)
			if r.IntN(4) == 0 { // the following events are lost
				s = resume(t, e.ID)
				i--
				break
			}
		}
	}
	return got
}

func resume(t *testing.T, after string) *task.Stream {
	t.Helper()
	s, err := task.ResumeStream(task.Shape{}, after)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A reader that resumes only after the end of the task gets events at positions that also
// existed while it ran.
func TestLateEventsKeepTheirPositions(t *testing.T) {
	for seed := range uint64(100) {
		history := sources(seed)
		events := allEvents(history)
		positions := map[string]bool{}
		for _, e := range events {
			positions[place(e)] = true
		}
		for _, after := range events {
			for _, e := range resume(t, after.ID).Update(history[len(history)-1]) {
				if !positions[place(e)] {
					t.Fatalf("seed %d, behind %s: no event had this position while the task ran: %s", seed, after.ID, line(e))
				}
			}
		}
	}
}

// place returns the position of an event in the record: the checksum in its cursor, which is
// the same whether nodes or, once the turn has ended, entries are counted.
func place(e task.Event) string {
	_, sum, _ := strings.Cut(e.ID, ".")
	sum, _, _ = strings.Cut(sum, ";")
	return sum
}

// Readers that resume late may find requests already decided. They still get each message
// once, and the end.
func TestReadersThatResumeLateGetEveryMessage(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 9))
		history := sources(seed)
		times := map[string]int{}
		s, last, over := task.NewStream(task.Shape{}), "", false
		for i := 0; i < len(history); i++ {
			for _, e := range s.Update(history[i]) {
				times[e.ID+fmt.Sprintf("%T", e.Event)]++
				last, over = e.ID, s.Over()
			}
			if last != "" && r.IntN(3) == 0 {
				s = resume(t, last)
				i = min(i+r.IntN(5), len(history)-2)
			}
		}
		if !over {
			t.Fatalf("seed %d: the end was not sent", seed)
		}
		for id, n := range times {
			if n > 1 {
				t.Fatalf("seed %d: %s was sent %d times", seed, id, n)
			}
		}
	}
}

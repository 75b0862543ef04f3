package story

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/workflows/contract"
)

// Event is an event of a task with its ID.
type Event struct {
	ID    string
	Event a2a.Event
}

// Story tells a task as a stream of events: states of the conversation go in, what is
// new in them comes out. It is for one reader, and pure: all readers of a task are told
// the same events under the same IDs.
type Story struct {
	shape Shape
	after *position // where the reader has been, until the first state
	told  map[string]bool
	at    position
	begun bool
	last  contract.TaskState
	over  bool
}

// New makes a story that begins with the task as it is.
func New(o Shape) *Story { return &Story{shape: o, told: map[string]bool{}} }

// Resume makes a story that goes on behind the event with an ID. Where that is not possible any more,
// it begins with the task as it is.
func Resume(o Shape, after string) (*Story, error) {
	p, err := parsePosition(after)
	if err != nil {
		return nil, err
	}
	s := New(o)
	s.after = &p
	return s, nil
}

// Over reports whether the task has ended, and has been told so.
func (s *Story) Over() bool { return s.over }

// Update tells what is new.
func (s *Story) Update(src Source) []Event {
	if s.over {
		return nil
	}
	scenes := src.scenes()
	var out []Event
	if !s.begun {
		out = s.begin(src, scenes)
	}
	for i, sc := range scenes {
		if s.told[sc.id] || sc.held(src, i == len(scenes)-1) {
			continue
		}
		s.tell(sc)
		if e := sc.event(src, s.shape, i == len(scenes)-1); e != nil {
			out = append(out, Event{s.at.String(), e})
			s.last = stateIn(e, s.last)
		}
	}
	return append(out, s.end(src)...)
}

// begin tells the whole task, unless the reader can go on where it was.
func (s *Story) begin(src Source, scenes []scene) []Event {
	s.begun = true
	if s.after != nil && s.resume(src, scenes) {
		return nil
	}
	for _, sc := range scenes {
		s.tell(sc)
	}
	if s.last = src.View.TaskState(); settled(s.last) {
		s.at.end = endState
	}
	s.over = s.last.Over()
	return []Event{{s.at.String(), src.Task(s.shape)}}
}

// resume takes what was told up to the position as told.
func (s *Story) resume(src Source, scenes []scene) bool {
	if s.after.count > len(scenes) {
		return false
	}
	s.last = contract.TaskSubmitted
	for _, sc := range scenes[:s.after.count] {
		s.tell(sc)
		s.last = sc.state()
	}
	if s.at.sum != s.after.sum {
		s.told, s.at = map[string]bool{}, position{}
		return false
	}
	s.at.end = s.after.end
	if now := src.View.TaskState(); s.at.end == endState && settled(now) {
		s.last = now
	}
	if beside := s.at.end - endBeside; beside >= 0 {
		s.last = besides[beside]
	}
	return true
}

func (s *Story) tell(sc scene) {
	s.told[sc.id] = true
	s.at.add(sc.id)
	if sc.Role == contract.RoleUser && !sc.Notice || s.at.end >= endBeside { // work goes on
		s.at.end = endNone
	}
}

// settled reports whether nothing more comes unless the client does something.
func settled(s contract.TaskState) bool { return s.Over() || s == contract.TaskAuthRequired }

// end tells the result and the final state, or a state that no message tells.
func (s *Story) end(src Source) []Event {
	now := src.View.TaskState()
	defer func() { s.last, s.over = now, now.Over() }()
	if !settled(now) {
		if now == s.last {
			return nil
		}
		s.at.end = endBeside + slices.Index(besides, now)
		return []Event{{s.at.String(), src.update(src.status(s.shape))}}
	}
	if s.at.end >= endBeside {
		s.at.end = endNone
	}
	var out []Event
	if a := src.artifact(); a != nil && s.at.end < endArtifact {
		s.at.end = endArtifact
		out = append(out, Event{s.at.String(), &a2a.TaskArtifactUpdateEvent{
			TaskID: src.id(), ContextID: src.context(), Artifact: a, LastChunk: true,
		}})
	}
	if s.at.end < endState {
		s.at.end = endState
		out = append(out, Event{s.at.String(), src.update(src.status(s.shape))})
	}
	return out
}

func stateIn(e a2a.Event, last contract.TaskState) contract.TaskState {
	if u, ok := e.(*a2a.TaskStatusUpdateEvent); ok {
		last, _ = StateNamed(u.Status.State)
	}
	return last
}

func (s Source) update(status a2a.TaskStatus) *a2a.TaskStatusUpdateEvent {
	return &a2a.TaskStatusUpdateEvent{TaskID: s.id(), ContextID: s.context(), Status: status}
}

// scene is a message of the transcript and what it tells.
type scene struct {
	contract.Message
	id   string
	open int // approvals that wait behind it
}

// scenes are the messages in the order of time. In the transcript those of nodes side by
// side stand node by node, so that new ones come in between.
func (s Source) scenes() []scene {
	messages := slices.SortedStableFunc(slices.Values(s.Messages), func(a, b contract.Message) int {
		return a.CreatedAt.Compare(b.CreatedAt)
	})
	open := 0
	var out []scene
	for _, m := range messages {
		switch {
		case m.Notice && m.Approval != nil:
			open = max(open-1, 0)
		case m.Notice && m.Role == contract.RoleAssistant:
			open++
		case !m.Notice && m.Role == contract.RoleUser:
			open = 0
		}
		out = append(out, scene{m, m.ID, open})
	}
	return out
}

// state is that of the task when the message has been written.
func (sc scene) state() contract.TaskState {
	if sc.open > 0 {
		return contract.TaskInputRequired
	}
	return contract.TaskWorking
}

func (sc scene) reply() bool {
	return sc.Role == contract.RoleAssistant && !sc.Notice && sc.ToolCall == nil
}

// held reports whether the message may be the reply: then the artifact tells it.
func (sc scene) held(src Source, last bool) bool {
	return last && sc.reply() && !settled(src.View.TaskState())
}

// event is nil for what tells nothing.
func (sc scene) event(src Source, o Shape, last bool) a2a.Event {
	switch {
	case sc.Notice && sc.Role == contract.RoleAssistant && last && len(src.Pending) > 0:
		return src.update(src.status(o))
	case sc.Notice && sc.open > 0 && len(src.Pending) == sc.open && sc.Approval != nil: // others wait still
		return src.update(src.status(o))
	case sc.Notice, sc.reply() && !last:
		status := a2a.TaskStatus{State: states[sc.state()], Timestamp: stamp(sc.CreatedAt), Message: src.message(sc.Message)}
		return src.update(status)
	}
	return nil
}

// What has been told besides messages: of the end, or, while work goes on, a state that
// no message tells.
const (
	endNone = iota
	endArtifact
	endState
	endBeside // + the index in besides
)

// besides are the states in which work goes on.
var besides = []contract.TaskState{contract.TaskSubmitted, contract.TaskWorking, contract.TaskInputRequired}

// position is what a reader has been told: how many messages, and which.
type position struct {
	count int
	sum   uint64
	end   int
}

func (p *position) add(id string) {
	digest := sha256.Sum256([]byte(id))
	p.count++
	p.sum ^= binary.BigEndian.Uint64(digest[:])
}

// String is the position as the ID of an event.
func (p position) String() string { return fmt.Sprintf("%d.%x.%d", p.count, p.sum, p.end) }

var errPosition = errors.New("this is not the ID of an event")

func parsePosition(s string) (position, error) {
	parts := strings.Split(s, ".")
	if len(parts) != 3 {
		return position{}, errPosition
	}
	count, err := strconv.Atoi(parts[0])
	sum, err2 := strconv.ParseUint(parts[1], 16, 64)
	end, err3 := strconv.Atoi(parts[2])
	if err := errors.Join(err, err2, err3); err != nil || count < 0 || end < endNone || end >= endBeside+len(besides) {
		return position{}, errPosition
	}
	return position{count, sum, end}, nil
}

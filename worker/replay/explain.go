package replay

import (
	"fmt"
	"regexp"
	"strings"

	historypb "go.temporal.io/api/history/v1"
)

// explain says in words why a history does not fit, and where.
func explain(err error, h *historypb.History) Break {
	text := err.Error()
	b := Break{Problem: problem(text), SDK: withoutValues(text)}
	if e := eventIn(text, h); e != nil {
		b.Event = e.GetEventId()
	}
	if last := h.Events[len(h.Events)-1]; strings.Contains(text, "the same result as the last event") {
		b.Event = last.GetEventId()
	}
	return b
}

// sentences turn messages of the SDK into words. The groups of a pattern fill the sentence.
var sentences = []struct {
	pattern  *regexp.Regexp
	sentence string
}{
	{regexp.MustCompile(`(?s)history event is (\w+: .*), replay command is (\w+: .*)`), "the history has %s; this version does %s instead"},
	{regexp.MustCompile(`(?s)missing replay command for (\w+: .*)`), "the history has %s; this version does nothing there"},
	{regexp.MustCompile(`(?s)extra replay command for (\w+: .*)`), "this version does %s, which is not in the history"},
	{regexp.MustCompile(`unable to find workflow type: (\S+)\. Supported`), "this version has no workflow of type %s"},
	{regexp.MustCompile(`(?s)the same result as the last event.*, last: .*?event_type:\s*(\w+)`), "the history ends with %s; this version does not end there"},
	{regexp.MustCompile(`a matching (\w+) command was expected in history event position (\d+)`), "the history has the command %s %s; this version did not give it"},
	{regexp.MustCompile(`removed support of version (\S+)\. for "(\S+)" changeID`), "this version no longer knows version %s of the change %q: upgrade by way of a release in between"},
	{regexp.MustCompile(`too old to support version (\S+) for "(\S+)" changeID`), "a newer version wrote the history (version %s of the change %q): this one is older"},
	{regexp.MustCompile(`executed local activity (\S+), but history event found ([^,]+)`), "this version runs the local activity %s where the history has %s"},
	{regexp.MustCompile(`(unable to decode [^"\n]*)`), "this version cannot read a value of the history: %s"},
}

func problem(text string) string {
	for _, s := range sentences {
		m := s.pattern.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		var words []any
		for _, group := range m[1:] {
			words = append(words, step(group))
		}
		return fmt.Sprintf(s.sentence, words...)
	}
	if m := failureMessage.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	return "this version cannot replay the history: " + withoutValues(text)
}

var (
	failureMessage = regexp.MustCompile(`failed with failure: message:\s*"((?:[^"\\]|\\.)*)"`)
	stepKind       = regexp.MustCompile(`^(\w+): \(`)
	stepName       = regexp.MustCompile(`(?:ActivityType|WorkflowType):\(Name:([^)]*)\)|(?:MarkerName|SignalName|TimerId|ActivityId):([^,)]+)`)
)

// step returns the kind of an event or a command, and the name in it.
func step(text string) string {
	kind := stepKind.FindStringSubmatch(text)
	if kind == nil {
		return text
	}
	name := ""
	for _, m := range stepName.FindAllStringSubmatch(text, -1) {
		if m[1] != "" {
			name = " " + m[1] // of a type says more than an ID
			break
		}
		if name == "" {
			name = " " + m[2]
		}
	}
	return kind[1] + name
}

var (
	historyEvent  = regexp.MustCompile(`(?s)(?:history event is|missing replay command for) (\w+): (.*?)(?:, replay command is|$)`)
	completedTask = regexp.MustCompile(`WorkflowTaskCompletedEventId:(\d+)`)
	position      = regexp.MustCompile(`history event position (\d+)`)
	eventName     = regexp.MustCompile(`(?:ActivityId|TimerId|WorkflowId|MarkerName|ScheduledEventId|StartedEventId):([^,)]+)`)
)

// eventIn finds the event that a message is about. The SDK writes its attributes, but not its ID;
// they have the ID of the workflow task, which several events of a type may share.
func eventIn(text string, h *historypb.History) *historypb.HistoryEvent {
	if m := position.FindStringSubmatch(text); m != nil { // the ID of a command
		return find(h, func(e *historypb.HistoryEvent) bool { return strings.Contains(e.String(), `_id:"`+m[1]+`"`) })
	}
	m := historyEvent.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	task, name := completedTask.FindStringSubmatch(m[2]), eventName.FindStringSubmatch(m[2])
	alike := func(e *historypb.HistoryEvent) bool {
		return e.GetEventType().String() == m[1] && (task == nil || strings.Contains(e.String()+" ", "workflow_task_completed_event_id:"+task[1]+" ") ||
			strings.Contains(e.String(), "workflow_task_completed_event_id:"+task[1]+"}"))
	}
	named := func(e *historypb.HistoryEvent) bool {
		return alike(e) && name != nil && strings.Contains(e.String(), `"`+name[1]+`"`)
	}
	if e := find(h, named); e != nil {
		return e
	}
	return find(h, alike)
}

func find(h *historypb.History, fits func(*historypb.HistoryEvent) bool) *historypb.HistoryEvent {
	for _, e := range h.Events {
		if fits(e) {
			return e
		}
	}
	return nil
}

// maxWords bounds a message of the SDK.
const maxWords = 400

// withoutValues removes what is in brackets, which may be content of a conversation, and cuts.
func withoutValues(text string) string {
	var b strings.Builder
	depth := 0
	for _, c := range text {
		switch c {
		case '(', '{':
			depth++
		case ')', '}':
			depth = max(depth-1, 0)
		case '\n':
			c = ' '
			fallthrough
		default:
			if depth == 0 {
				b.WriteRune(c)
			}
		}
	}
	if words := []rune(b.String()); len(words) > maxWords {
		return string(words[:maxWords]) + "…"
	}
	return b.String()
}

func advice(running bool) string {
	if running {
		return "keep workers of the version before until it is over, or reset, cancel or terminate it"
	}
	return "it is closed and needs no worker, except for queries; running ones of its kind would break as well"
}

package agentapi

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"agent-stop-and-go/gateway/exchange"
	"agent-stop-and-go/workflows/record"
)

// position is how much of a session a stream has sent. Its text is the ID of events, with which a stream of
// any gateway goes on:
//
//	0/5~/12.8c1f…/1a2b3c4d.0.120.77aa/9f3c.7/%20/0b6c1f52
//
// means of the first conversation of the session the turn 5, which goes on, with the entries of a
// record.Cursor; 120 bytes of a draft, and others that were given up; the answer 7 of the commands of a process; a space that is sent with
// what follows; and a gate that was sent before its entry. Whatever is last and empty is left out.
type position struct {
	slot int
	// turn is the one that is being sent, or the first to be sent; phase says which.
	turn  int
	phase phase
	// cursor has the entries that were told, and all of the turns before.
	cursor record.Cursor
	part   *exchange.Part
	heard  answered
	// held is what a form has not sent yet.
	held string
	// gates are the approvals that wait and were sent, though not the entries that ask for them: the beginnings
	// of their UUIDs.
	gates []string
}

// gateLength is how much of a UUID is in a position. A conversation has few approvals at a time.
const gateLength = 8

// phase is how far a turn was told.
type phase byte

const (
	before phase = '-'
	inside phase = '~'
	after  phase = '.'
)

// answered is the last answer of commands that was sent: its number in the process of an epoch.
type answered struct {
	epoch string
	n     int
	// owed: the end of the turn of its own is still to be sent.
	owed bool
}

func (p position) String() string {
	fields := []string{strconv.Itoa(p.slot), strconv.Itoa(p.turn) + string(rune(p.phase)), p.cursor.String(), "", "", url.QueryEscape(p.held), strings.Join(p.gates, ".")}
	if p.part != nil {
		fields[3] = fmt.Sprintf("%x.%x.%d.%x", p.part.Draft, p.part.Node, p.part.Len, p.part.Sum)
		for _, past := range p.part.Past {
			fields[3] += fmt.Sprintf(".%x", past)
		}
	}
	if p.heard.epoch != "" {
		fields[4] = fmt.Sprintf("%s.%d", p.heard.epoch, p.heard.n)
		if p.heard.owed {
			fields[4] += "!"
		}
	}
	return strings.TrimRight(strings.Join(fields, "/"), "/")
}

var errPosition = errors.New("this is no position in a session")

// parsePosition parses the result of String.
func parsePosition(s string) (p position, err error) {
	fields := strings.Split(s, "/")
	if len(fields) < 2 || len(fields) > 7 || fields[1] == "" {
		return p, errPosition
	}
	fields = append(fields, make([]string, 7-len(fields))...)
	turn, end := fields[1][:len(fields[1])-1], len(fields[1])-1
	var errs [5]error
	p.slot, errs[0] = strconv.Atoi(fields[0])
	p.turn, errs[1] = strconv.Atoi(turn)
	p.phase = phase(fields[1][end])
	p.cursor, errs[2] = record.ParseCursor(fields[2])
	p.held, errs[3] = url.QueryUnescape(fields[5])
	if p.part, errs[4] = parsePart(fields[3]); errors.Join(errs[:]...) != nil {
		return p, errPosition
	}
	if !strings.ContainsRune("-~.", rune(p.phase)) || p.slot < 0 || p.slot >= maxSlots || p.turn < 0 {
		return p, errPosition
	}
	if fields[6] != "" {
		p.gates = strings.Split(fields[6], ".")
	}
	if slices.ContainsFunc(p.gates, func(g string) bool { return g == "" || len(g) > gateLength }) {
		return p, errPosition
	}
	p.heard, err = parseAnswered(fields[4])
	return p, err
}

func parsePart(s string) (*exchange.Part, error) {
	if s == "" {
		return nil, nil
	}
	var p exchange.Part
	var sums []uint32
	for n, field := range strings.Split(s, ".") {
		if n == 2 {
			length, err := strconv.ParseUint(field, 10, 31)
			if err != nil {
				return nil, err
			}
			p.Len = int(length)
			continue
		}
		sum, err := strconv.ParseUint(field, 16, 32)
		if err != nil {
			return nil, err
		}
		sums = append(sums, uint32(sum))
	}
	if len(sums) < 3 {
		return nil, errPosition
	}
	p.Draft, p.Node, p.Sum, p.Past = sums[0], sums[1], sums[2], sums[3:]
	return &p, nil
}

func parseAnswered(s string) (a answered, err error) {
	if s == "" {
		return a, nil
	}
	s, a.owed = strings.CutSuffix(s, "!")
	epoch, n, ok := strings.Cut(s, ".")
	if a.epoch, a.n, err = epoch, 0, errPosition; !ok || epoch == "" {
		return a, err
	}
	a.n, err = strconv.Atoi(n)
	return a, err
}

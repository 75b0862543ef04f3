// Package number has the wire types of the numbers that conversations have for a caller: small
// integers, from First on, which people type instead of an ID.
//
// There is one workflow of type Numbers for each caller that has asked for numbers. It gives each
// conversation a number of its own, and gives none twice.
package number

// Registered names. UpdateGive takes a Give and returns a Given; QueryAll returns a State.
const (
	Workflow   = "Numbers"
	UpdateGive = "give"
	QueryAll   = "numbers"
)

const (
	// First is the first number.
	First = 101
	// Max is how many conversations keep their numbers. With more, those with the lowest lose
	// theirs, and get a new one when they are asked for again.
	Max = 1000
	// MaxGive is how many conversations may be asked for at once.
	MaxGive = 200
)

// WorkflowID returns the ID of the workflow of a caller, by the hash of its key, at the agent with a
// task queue.
func WorkflowID(taskQueue, caller string) string { return "numbers-" + taskQueue + "-" + caller }

// Number is the number of a conversation.
type Number struct {
	ID string `json:"id"`
	N  int    `json:"n"`
}

// Give asks for the numbers of conversations. Those that have none get one, in this order.
type Give struct {
	IDs []string `json:"ids"`
}

// Given has the numbers that were asked for.
type Given struct {
	Numbers []Number `json:"numbers"`
}

// State has all numbers, the lowest first. Last is the highest that was ever given.
type State struct {
	Numbers []Number `json:"numbers,omitempty"`
	Last    int      `json:"last,omitempty"`
}

// Input starts the workflow. It is empty except for a run that continues another.
type Input struct{ State }

// Of returns the number of a conversation, or 0.
func (s State) Of(id string) int {
	for _, n := range s.Numbers {
		if n.ID == id {
			return n.N
		}
	}
	return 0
}

// ID returns the conversation that has a number, or "".
func (s State) ID(n int) string {
	for _, known := range s.Numbers {
		if known.N == n {
			return known.ID
		}
	}
	return ""
}

// Give gives numbers to the conversations that have none.
func (s *State) Give(ids []string) (out Given) {
	for _, id := range ids {
		n := s.Of(id)
		if n == 0 {
			s.Last = max(s.Last+1, First)
			n = s.Last
			s.Numbers = append(s.Numbers, Number{id, n})
		}
		out.Numbers = append(out.Numbers, Number{id, n})
	}
	if over := len(s.Numbers) - Max; over > 0 {
		s.Numbers = append([]Number(nil), s.Numbers[over:]...)
	}
	return out
}

package decide_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
)

func read(name string) contract.Call  { return contract.Call{Name: name} }
func write(name string) contract.Call { return contract.Call{Name: name, Destructive: true} }

func failed(text string) contract.CallToolResult {
	return contract.CallToolResult{Text: contract.Inline(text), IsError: true}
}

type answers = map[int]contract.CallToolResult

func TestNext(t *testing.T) {
	unknown := contract.Call{Name: "nope", Unknown: true}
	bad := contract.Call{Name: "list", Problem: "pattern must be a string"}
	tests := map[string]struct {
		calls []contract.Call
		want  decide.Plan
	}{
		"a reply without calls ends the turn": {
			nil, decide.Plan{Answered: answers{}},
		},
		"a read-only call runs at once": {
			[]contract.Call{read("a")}, decide.Plan{Answered: answers{}, Batches: [][]int{{0}}},
		},
		"read-only calls of one reply run side by side": {
			[]contract.Call{read("a"), read("b"), read("a")}, decide.Plan{Answered: answers{}, Batches: [][]int{{0, 1, 2}}},
		},
		"a destructive call waits for a human": {
			[]contract.Call{write("a")}, decide.Plan{Answered: answers{}, Ask: []int{0}, Batches: [][]int{{0}}},
		},
		"every destructive call is asked for, in order": {
			[]contract.Call{write("a"), write("b"), write("a")},
			decide.Plan{Answered: answers{}, Ask: []int{0, 1, 2}, Batches: [][]int{{0}, {1}, {2}}},
		},
		"a destructive call is a barrier": {
			[]contract.Call{read("a"), read("b"), write("c"), read("d"), read("e")},
			decide.Plan{Answered: answers{}, Ask: []int{2}, Batches: [][]int{{0, 1}, {2}, {3, 4}}},
		},
		"a tool that does not exist is answered and not run": {
			[]contract.Call{unknown}, decide.Plan{Answered: answers{0: failed("Tool not found: nope")}},
		},
		"arguments that do not fit are answered and not run": {
			[]contract.Call{bad}, decide.Plan{Answered: answers{0: failed("pattern must be a string")}},
		},
		"a tool that does not exist is not asked for": {
			[]contract.Call{{Name: "nope", Unknown: true, Destructive: true, Problem: "x"}},
			decide.Plan{Answered: answers{0: failed("Tool not found: nope")}},
		},
		"a destructive call with bad arguments is not asked for": {
			[]contract.Call{{Name: "rm", Destructive: true, Problem: "id is missing"}},
			decide.Plan{Answered: answers{0: failed("id is missing")}},
		},
		"an answered call does not part those beside it": {
			[]contract.Call{read("a"), unknown, read("b"), bad, read("c")},
			decide.Plan{
				Answered: answers{1: failed("Tool not found: nope"), 3: failed("pattern must be a string")},
				Batches:  [][]int{{0, 2, 4}},
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, decide.Next(tt.calls, false)); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEveryPlanIsSound(t *testing.T) {
	for seed := range uint64(500) {
		calls := randomCalls(rand.New(rand.NewPCG(seed, 1)))
		t.Run(fmt.Sprint(seed), func(t *testing.T) { checkPlan(t, calls, decide.Next(calls, false)) })
	}
}

func randomCalls(random *rand.Rand) []contract.Call {
	calls := make([]contract.Call, random.IntN(12))
	for i := range calls {
		calls[i] = contract.Call{Name: "t", Destructive: random.IntN(3) == 0, Unknown: random.IntN(6) == 0}
		if random.IntN(6) == 0 {
			calls[i].Problem = "wrong"
		}
	}
	return calls
}

// checkPlan checks that every call is run or answered once and in order, and that a destructive
// call runs alone and only after an approval.
func checkPlan(t *testing.T, calls []contract.Call, p decide.Plan) {
	t.Helper()
	run := slices.Concat(p.Batches...)
	if !slices.IsSorted(run) || len(run)+len(p.Answered) != len(calls) {
		t.Errorf("%d calls: %v run and %d are answered", len(calls), run, len(p.Answered))
	}
	for _, batch := range p.Batches {
		for _, i := range batch {
			if _, answered := p.Answered[i]; answered {
				t.Errorf("call %d is answered and runs", i)
			}
			if calls[i].Destructive && (len(batch) != 1 || !slices.Contains(p.Ask, i)) {
				t.Errorf("destructive call %d runs in batch %v; asked for: %v", i, batch, p.Ask)
			}
			if !calls[i].Destructive && slices.Contains(p.Ask, i) {
				t.Errorf("harmless call %d is asked for", i)
			}
		}
	}
	for _, i := range p.Ask {
		if !slices.Contains(run, i) {
			t.Errorf("call %d is asked for and never runs", i)
		}
	}
}

func TestPlansOfNodes(t *testing.T) {
	exit := contract.Call{Name: contract.ToolExitLoop, Exit: true}
	left := contract.CallToolResult{Text: contract.Inline("The loop ends here.")}
	tests := map[string]struct {
		calls        []contract.Call
		skipApproval bool
		want         decide.Plan
	}{
		"at once no call waits": {
			[]contract.Call{write("a"), read("b"), write("c")}, true,
			decide.Plan{Answered: answers{}, Batches: [][]int{{0}, {1}, {2}}},
		},
		"exit_loop is answered and not run": {
			[]contract.Call{exit}, false, decide.Plan{Answered: answers{0: left}, Exit: true},
		},
		"what is asked for with exit_loop runs": {
			[]contract.Call{read("a"), exit, read("b"), write("c")}, false,
			decide.Plan{Answered: answers{1: left}, Ask: []int{3}, Batches: [][]int{{0, 2}, {3}}, Exit: true},
		},
		"an exit_loop that is not on offer does not leave": {
			[]contract.Call{{Name: contract.ToolExitLoop, Unknown: true}}, false,
			decide.Plan{Answered: answers{0: failed("Tool not found: exit_loop")}},
		},
		"an exit_loop that cannot be understood does not leave": {
			[]contract.Call{{Name: contract.ToolExitLoop, Exit: true, Problem: "no arguments are allowed"}}, false,
			decide.Plan{Answered: answers{0: failed("no arguments are allowed")}},
		},
		"a delegation to an agent that may destroy waits": {
			[]contract.Call{{Name: "a2a_x", Peer: &contract.Peer{Name: "x"}, Destructive: true}}, false,
			decide.Plan{Answered: answers{}, Ask: []int{0}, Batches: [][]int{{0}}},
		},
		"delegations run side by side": {
			[]contract.Call{{Name: "a2a_x", Peer: &contract.Peer{Name: "x"}}, {Name: "a2a_y", Peer: &contract.Peer{Name: "y"}}}, false,
			decide.Plan{Answered: answers{}, Batches: [][]int{{0, 1}}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			equal(t, "plan", decide.Next(tt.calls, tt.skipApproval), tt.want)
		})
	}
}

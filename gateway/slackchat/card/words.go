package card

import (
	"fmt"
	"strings"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/verdict"
)

// tool is the name of the tool that runs, here or at another agent.
func tool(p contract.PendingApproval) string {
	if p.Origin != nil && p.Origin.Tool != "" {
		return p.Origin.Tool
	}
	return p.ToolName
}

// agentOf names who wants to make the call.
func agentOf(p contract.PendingApproval) string {
	chain := p.Chain
	if len(chain) == 0 {
		chain = []string{p.AgentName}
		if p.AgentName == "" {
			chain = []string{"the agent"}
		}
	}
	text := strings.Join(chain, " › ")
	if p.Node != "" {
		text += ", node " + p.Node
	}
	return text
}

// title asks the question, in one line.
func title(p contract.PendingApproval) string {
	name := strings.Join(strings.Fields(tool(p)), " ")
	switch {
	case p.Paused():
		return name + " is paused"
	case p.NeedsLogin():
		return name + " needs a login"
	case p.Question():
		return "A question from " + name
	}
	switch p.Reason {
	case contract.ReasonUnknownOutcome:
		return "Did " + name + " run?"
	case contract.ReasonClientTool:
		return "Carry out " + name
	case contract.ReasonLimit:
		return "Go on beyond the limit?"
	case contract.ReasonNotReached:
		return "Send " + name + " again?"
	case contract.ReasonChanged:
		return name + " has changed. Run it all the same?"
	case contract.ReasonRemote:
		return "Let " + p.RemoteAgentName + " run " + name + "?"
	}
	return "Run " + name + "?"
}

// answers are the labels of a yes and a no.
func answers(p contract.PendingApproval) (yes, no string) {
	if p.Reason == contract.ReasonLimit {
		return "Go on", "Stop here"
	}
	return "Approve", "Reject"
}

// why says why a person is asked.
func why(p contract.PendingApproval) string {
	switch {
	case p.Rule != "":
		return fmt.Sprintf("the rule %q of this agent asks.", p.Rule)
	case p.Paused():
		return "destructive calls are paused. The call goes on by itself after the resume."
	case p.NeedsLogin():
		return "the call needs a login that only who sent the message can give."
	case p.Question():
		return "the tool server needs this answer to carry out the call."
	}
	switch p.Reason {
	case contract.ReasonUnknownOutcome:
		return "the call was sent and its answer was lost. Nobody here knows whether it ran."
	case contract.ReasonLimit:
		return "the agent has used up what its configuration allows."
	case contract.ReasonNotReached:
		return "the call was approved before. It did not reach its server, so it has not run."
	case contract.ReasonChanged:
		return "this call was approved before, but the tool or its address is not the same any more."
	case contract.ReasonRemote:
		return "this agent delegated work to another agent, which asks before it goes on."
	}
	switch p.Because {
	case contract.GroundAnnotation:
		return "the tool server says that calls of this tool may destroy something."
	case contract.GroundSetting:
		return "the agent's configuration says that a person is asked before calls of this tool."
	case contract.GroundNoHint:
		return "the tool server does not say that this tool is harmless."
	}
	return "calls of this tool may destroy something."
}

// Outcome says how an approval ended.
func Outcome(r contract.ApprovalResult) string {
	by := r.ShownBy()
	switch {
	case r.Via == verdict.Via:
		by = "the rules of this agent"
	case by == "":
		by = "somebody who gave no name"
	}
	switch r.Decision {
	case contract.Approved:
		if r.Revision != nil && len(r.Revision.Changes) > 0 {
			return "Approved with changes by " + by
		}
		return "Approved by " + by
	case contract.Rejected:
		return "Rejected by " + by
	case contract.Expired:
		return "Expired: nobody decided in time"
	case contract.Cancelled:
		return "Withdrawn: the turn was stopped before anybody decided"
	}
	return "Ended by an operator"
}

// WhoMay says who may decide, for somebody who may not.
func WhoMay(p contract.PendingApproval) string {
	requester := p.Requester.Subject
	if requester == "" {
		requester = "who sent the message"
	}
	const everybody = "whoever may decide for everybody"
	var who []string
	not := ""
	for _, rule := range p.Approvers {
		kind, name, _ := strings.Cut(rule, ":")
		switch {
		case rule == "requester":
			who = append(who, requester)
		case rule == "not_requester":
			not = "; but not " + requester
		case rule == "scope:"+contract.ScopeApproveAll:
			who = append(who, everybody)
		case kind == "group":
			who = append(who, "members of "+name)
		case kind == "scope":
			who = append(who, "whoever has the scope "+name)
		default:
			who = append(who, name)
		}
	}
	switch {
	case len(who) == 0 && not == "":
		who = []string{requester, everybody}
	case len(who) == 0:
		who = []string{everybody}
	}
	return strings.Join(who, ", or ") + not
}

// Package window estimates what a model's window holds, and selects the messages that a summary
// replaces.
package window

import (
	"slices"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/modality"
)

// Estimates of sizes in a model's window, in tokens. They are a little high; the provider
// rejects requests that do not fit despite them.
const (
	perMessage = 8
	perImage   = 1200
	perPDF     = 6000 // of a few pages; providers bill their texts and their pictures
	MinRoom    = 64
	maxReply   = 4096 // kept free if the limit of a reply is unknown
)

// tokens estimates the tokens of a text: about four letters for one token, fewer in code and in
// most scripts other than Latin.
func tokens(text string) int {
	ascii, other := 0, 0
	for _, r := range text {
		if r < 0x80 {
			ascii++
		} else {
			other++
		}
	}
	return (ascii+2)/3 + other
}

func messageTokens(m contract.Message) int {
	if m.Notice || m.Role == contract.RoleSystem {
		return 0
	}
	n := perMessage + tokens(m.Content.Inline) + files(m.Media)
	if c := m.ToolCall; c != nil {
		n += tokens(c.Name) + tokens(string(c.Arguments.Raw)) + tokens(c.Result.Inline) + perImage*len(c.Media)
	}
	return n
}

// files estimates the tokens of files.
func files(media []contract.Media) (n int) {
	for _, m := range media {
		if m.MIMEType == modality.PDF {
			n += perPDF
		} else {
			n += perImage
		}
	}
	return n
}

// Tokens estimates the tokens of messages.
func Tokens(messages []contract.Message) int {
	n := 0
	for _, m := range messages {
		n += messageTokens(m)
	}
	return n
}

// Room returns the number of tokens that a request has for messages; 0 if no limit is known.
func Room(f llm.Facts, r llm.Request) int {
	if f.Window <= 0 {
		return 0
	}
	reply := f.Reply
	if reply <= 0 {
		reply = maxReply
	}
	left := f.Window - min(reply, f.Window/4) - tokens(r.System)
	for _, t := range r.Tools {
		left -= perMessage + tokens(t.Name) + tokens(t.Description) + tokens(string(t.InputSchema))
	}
	return max(left, MinRoom)
}

// Needed returns the messages to summarize so that the others fit, or nil if all fit or
// none can be omitted. With force some are replaced even if all seem to fit.
//
// Whole turns are replaced, oldest first: from a user's message to the next. If only the last
// turn is left, its oldest replies are replaced, each with all its results; the user's message
// stays.
func Needed(messages []contract.Message, room int, force bool) *contract.Summary {
	if !force && room == 0 {
		return nil
	}
	total := Tokens(messages)
	if !force && total <= room {
		return nil
	}
	if room == 0 || total <= room {
		room = total - 1
	}
	// Half of the room, so that the next summary is not needed at once.
	at := firstThat(messages, func(rest int) bool { return rest <= room/2 })
	if at == 0 {
		return nil
	}
	return &contract.Summary{Through: messages[at-1].ID, Messages: at}
}

// firstThat returns the first cut after which the rest fits, else the last cut. 0 means no cut.
func firstThat(messages []contract.Message, fits func(rest int) bool) int {
	last, rest := 0, Tokens(messages)
	for _, at := range cuts(messages) {
		rest -= Tokens(messages[last:at])
		if last = at; fits(rest) {
			break
		}
	}
	return last
}

// cuts returns the positions where messages may be cut, in order: before users' messages, then
// between the replies of the last turn.
func cuts(messages []contract.Message) []int {
	var out []int
	question := -1     // after a summary of replies there may be none
	something := false // messages before the question that could be omitted
	for i, m := range messages {
		if isQuestion(m) {
			if question = i; something {
				out = append(out, i)
			}
		}
		something = something || messageTokens(m) > 0
	}
	reply := ""
	for i, m := range messages[question+1:] {
		if m.Reply == "" || m.Role != contract.RoleAssistant {
			continue
		}
		if reply != "" && m.Reply != reply {
			out = append(out, question+1+i)
		}
		reply = m.Reply
	}
	return out
}

// isQuestion reports whether a message starts a turn.
func isQuestion(m contract.Message) bool {
	return m.Role == contract.RoleUser && !m.Notice && m.Approval == nil
}

// Replace returns the summary and the messages that it does not replace. A user's message
// stays even if the first replies to it are replaced.
func Replace(messages []contract.Message, d *contract.Summary, summary string) []contract.Message {
	if d == nil {
		return messages
	}
	at := slices.IndexFunc(messages, func(m contract.Message) bool { return m.ID == d.Through })
	if at < 0 {
		return messages
	}
	gone, rest := messages[:at+1], messages[at+1:]
	var out []contract.Message
	if summary != "" {
		out = append(out, contract.Message{
			Role: contract.RoleUser, Content: contract.Inline("[Summary of the conversation before this]\n" + summary),
		})
	}
	if i := slices.IndexFunc(rest, func(m contract.Message) bool { return !m.Notice }); i >= 0 && !isQuestion(rest[i]) {
		for _, m := range slices.Backward(gone) {
			if isQuestion(m) {
				out = append(out, m)
				break
			}
		}
	}
	return append(out, rest...)
}

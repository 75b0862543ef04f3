package talk

import (
	"agent-stop-and-go/gateway/exchange"
	"agent-stop-and-go/gateway/openai"
)

// Stream sends the text of a reply to w, piece by piece while the agent writes it, or at the end where the
// client has asked for JSON. It returns the reply, and notes the chat that the client then has. If the model failed it
// returns the error for that, behind what the agent has said before.
func (r *Run) Stream(x *exchange.Exchange, w exchange.Listener) (exchange.Reply, error) {
	json := r.in.Schema != nil
	to := w
	if json {
		to = quiet{w}
	}
	reply, err := x.FollowHeld(r.Done, to)
	if err != nil {
		return reply, err
	}
	if reply.Failure != "" {
		return reply, openai.ModelFailed(reply.Failure)
	}
	text, err := r.Shown(reply)
	if err != nil {
		return reply, err
	}
	rest := text
	if !json {
		rest = text[len(reply.Text):]
	}
	if rest != "" {
		if err := w.Tell(rest); err != nil {
			return reply, err
		}
	}
	r.Remember(reply, text)
	return reply, nil
}

// quiet leaves out the pieces of a text.
type quiet struct{ exchange.Listener }

func (quiet) Tell(string) error { return nil }

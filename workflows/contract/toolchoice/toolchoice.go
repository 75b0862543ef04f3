// Package toolchoice has the wire type of what the sender of a message demands of the calls of a
// model. A demand is about the tools that the sender executes: it makes a model call one of them,
// and gives no right to anything that the agent may not do or has to ask for.
package toolchoice

// Choice is a demand. The zero value leaves the calls to the model.
type Choice struct {
	// Call has the names of tools of the sender. The first reply of the model in the turn calls one
	// of them; the replies after it are free. Names of tools that are not offered as the sender's
	// have no effect.
	Call []string `json:"call,omitempty"`
	// Single is set if no reply of the turn may have more than one call.
	Single bool `json:"single,omitempty"`
}

// IsZero reports whether nothing is demanded.
func (c Choice) IsZero() bool { return len(c.Call) == 0 && !c.Single }

// Later is the demand on the replies after the first.
func (c Choice) Later() Choice { return Choice{Single: c.Single} }

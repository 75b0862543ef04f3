package agentapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/sse"
	"agent-stop-and-go/workflows/contract"
)

// apiBody is a message to the API's port.
type apiBody struct {
	Text     *string  `json:"text"`
	ClientID string   `json:"client_id"`
	Wait     bool     `json:"wait"`
	Timeout  *float64 `json:"timeout"` // in seconds
}

// apiReply is the reply to a message. Text is there if the client has waited, or has sent commands only.
type apiReply struct {
	ClientID string  `json:"client_id"`
	Status   string  `json:"status"`
	Text     *string `json:"text,omitempty"`
}

// The states of a reply.
const (
	statusAccepted  = "accepted"
	statusComplete  = "complete"
	statusError     = "error"
	statusTimeout   = "timeout"
	statusCancelled = "cancelled"
)

// apiSubmit sends a message and, if the client wants that, waits for the answer.
func (e *Endpoint) apiSubmit(c echo.Context) error {
	var in apiBody
	if err := read(c.Request(), &in); err != nil {
		return err
	}
	if in.Text == nil || strings.TrimSpace(*in.Text) == "" {
		return invalid("Missing 'text' field")
	}
	timeout, err := timeoutOf(in.Timeout)
	if err != nil {
		return err
	}
	if in.ClientID == "" {
		in.ClientID = newClient()
	}
	out, err := e.submit(c, submission{client: in.ClientID, text: *in.Text})
	if err != nil {
		return err
	}
	reply := apiReply{ClientID: in.ClientID, Status: statusAccepted}
	switch {
	case !in.Wait && out.notice != "":
		reply.Text = &out.notice
	case in.Wait && out.request.ID == "":
		reply.Status, reply.Text = statusComplete, &out.notice
	case in.Wait:
		if reply, err = e.wait(c, in.ClientID, out, timeout); err != nil {
			return err
		}
	}
	return c.JSON(http.StatusOK, reply)
}

// apiStream streams a session.
func (e *Endpoint) apiStream(c echo.Context) error {
	return e.follow(c, c.Param("client_id"), func(w *sse.Writer, id func(held string) string) form { return apiForm{w, id} }, lastSent)
}

// apiForm writes the events of the API.
type apiForm struct {
	*sse.Writer
	id func(held string) string
}

// Token implements Listener.
func (f apiForm) Token(text string) error { return f.event("tok", map[string]string{"text": text}) }

// Gate implements Listener.
func (f apiForm) Gate(p contract.PendingApproval, link string) error {
	return f.event("gate", gateOf(p, link))
}

// Done implements Listener.
func (f apiForm) Done() error { return f.event("done", struct{}{}) }

// Failed implements Listener.
func (f apiForm) Failed(text string) error {
	return f.event("error", map[string]string{"message": text})
}

// Broken implements form.
func (f apiForm) Broken(text string) error {
	return f.write("", "error", map[string]string{"message": text})
}

// Resume implements form: nothing is held.
func (f apiForm) Resume(string) {}

// Anew implements form.
func (f apiForm) Anew() error { return f.write("", eventAnew, struct{}{}) }

func (f apiForm) event(name string, v any) error { return f.write(f.id(""), name, v) }

func (f apiForm) write(id, name string, v any) error { return writeEvent(f.Writer, id, name, v) }

// writeEvent writes an event with its ID, unless that is empty.
func writeEvent(w *sse.Writer, id, name string, v any) error {
	data, err := encode(v)
	if err != nil {
		return err
	}
	return w.Write([]byte(idLine(id) + "event: " + name + "\ndata: " + data + "\n\n"))
}

// idLine returns the line with the ID of an event.
func idLine(id string) string {
	if id == "" {
		return ""
	}
	return "id: " + id + "\n"
}

// nextLine is a character at which clients end a line, and which JSON does not escape by itself.
const nextLine = "\u0085"

// encode returns a value as JSON in one line.
func encode(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return strings.ReplaceAll(strings.TrimSpace(b.String()), nextLine, `\u0085`), nil
}

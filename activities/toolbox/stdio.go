package toolbox

import (
	"context"
	"errors"
	"log/slog"

	"github.com/mark3labs/mcp-go/client/transport"
)

// stdioWire is mcp-go's stdio transport over the pipes of our own child.
type stdioWire struct {
	*transport.Stdio
	child *process
	lines *childLines
}

func newStdioWire(child *process, logger *slog.Logger) *stdioWire {
	lines := newChildLines(child, logger)
	io := transport.NewIO(lines, child.input(), nil)
	transport.WithCommandLogger(discardLogger())(io)
	return &stdioWire{Stdio: io, child: child, lines: lines}
}

func (w *stdioWire) SendRequest(ctx context.Context, req transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	defer w.lines.begin(req.ID)()
	x := traceOf(ctx)
	if x == nil {
		return w.Stdio.SendRequest(ctx, req)
	}
	if err := w.child.endReason(); err != nil {
		return nil, err
	}
	x.begin()
	req.Params = writeMarker{value: req.Params, x: x}
	resp, err := w.Stdio.SendRequest(ctx, req)
	if errors.Is(err, errNotWritten) {
		x.sent.Store(false)
	}
	if errors.Is(err, transport.ErrTransportClosed) {
		err = w.child.awaitEnd()
	}
	if problem := w.lines.problem(resp); problem != nil {
		resp, err = nil, problem
	}
	return x.recordAnswer(req, resp), err
}

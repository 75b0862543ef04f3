package toolbox

import "context"

// WithLimit is a limit of time that can be paused.
var WithLimit = withLimit

// Pause stops the time of the limit in a context.
func Pause(ctx context.Context) (asking context.Context, resume func()) {
	return limitOf(ctx).pause(ctx)
}

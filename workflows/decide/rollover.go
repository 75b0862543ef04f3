package decide

// History measures a run: events, bytes, updates handled, and whether the
// server itself suggests to continue as new.
type History struct {
	Events    int
	Bytes     int
	Updates   int
	Suggested bool
}

// Limits of a run, far below the server's own (51,200 events, 50 MiB, 2,000
// updates), because every event is read again when a worker picks the run up.
const (
	maxEvents  = 8_000
	maxBytes   = 2 << 20
	maxUpdates = 1_000

	maxNodeEvents = 1_000

	// A turn, and messages that arrive during it, may double the size.
	maxTurnEvents = 4_000
	maxTurnBytes  = 1 << 20
)

// RollOver reports whether a run is long enough to continue as new, which the caller does only
// between turns.
func RollOver(h History) bool {
	return h.Suggested || h.Events >= maxEvents || h.Bytes >= maxBytes || h.Updates >= maxUpdates
}

// RollOverTurn reports whether a run is long enough that its next turn is left to a new run.
func RollOverTurn(h History) bool {
	return RollOver(h) || h.Events >= maxTurnEvents || h.Bytes >= maxTurnBytes
}

// RollOverNode reports whether the run of a composite node is long enough. Nodes continue as
// new sooner than conversations: they have no updates with waiting callers, so it costs little.
func RollOverNode(h History) bool { return RollOver(h) || h.Events >= maxNodeEvents }

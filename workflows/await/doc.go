// Package await bounds the updates with which callers wait for a conversation. A caller that
// disconnects leaves its update behind, so the oldest is released if there are too many; a
// released caller that is still there sends another.
package await

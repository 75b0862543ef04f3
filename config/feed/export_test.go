package feed

// Late reports whether somebody watches a conversation who did not wait for a place:
// what is told meanwhile does not reach them.
func (f *Feed) Late(conversationID string) bool {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	if r := f.hub.rooms[conversationID]; r != nil {
		for w := range r.watchers {
			if w.late {
				return true
			}
		}
	}
	return false
}

// WritingFails reports whether Redis was away when something was to be written.
func (f *Feed) WritingFails() bool {
	f.link.health.mu.Lock()
	defer f.link.health.mu.Unlock()
	return f.link.health.causes[writing] != ""
}

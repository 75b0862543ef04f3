package feed

// Late reports whether a conversation has a subscriber that does not wait until it is ready:
// events published until then do not reach it.
func (f *Feed) Late(conversationID string) bool {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	if r := f.hub.topics[conversationID]; r != nil {
		for w := range r.subscribers {
			if w.late {
				return true
			}
		}
	}
	return false
}

// WritingFails reports whether the last write failed.
func (f *Feed) WritingFails() bool {
	f.link.health.mu.Lock()
	defer f.link.health.mu.Unlock()
	return f.link.health.causes[writing] != ""
}

package toolbox

import "errors"

// hold keeps a connection open until release. It returns false if the connection is lost
// already.
func (c *conn) hold() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost != nil {
		return false
	}
	c.users++
	return true
}

// retain is hold for a present holder: the connection may be lost.
func (c *conn) retain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.users++
}

func (c *conn) release() {
	c.mu.Lock()
	c.users--
	last := c.users == 0 && c.lost != nil
	c.mu.Unlock()
	if last {
		c.closeSoon()
	}
}

var errRetired = errors.New("the connection was given up")

// retire gives the connection up: it accepts no new users and is closed when the last one has
// released it. Only the first reason is kept. It may contain the server's text, and all callers
// read it.
func (c *conn) retire(err error) {
	if err == nil {
		err = errRetired
	}
	err = hideSecrets(err, c.server.mask(""))
	c.mu.Lock()
	if c.lost != nil {
		c.mu.Unlock()
		return
	}
	c.lost = err
	idle := c.users == 0
	c.mu.Unlock()
	close(c.done)
	if idle {
		c.closeSoon()
	}
}

// reason returns why the connection was lost, or nil.
func (c *conn) reason() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost
}

// closeSoon closes in the background: it may run on a goroutine that close
// waits for.
func (c *conn) closeSoon() { c.box.spawn(c.close) } // else Toolbox.Close does it

// close ends the connection and its child, and waits for that: some seconds at most, since
// mcp-go's DELETE to an HTTP server and the end of a child are bounded.
func (c *conn) close() {
	c.once.Do(func() {
		_ = c.wire.Close()
		c.cancel()
		switch w := c.wire.(type) {
		case webWire:
			w.closeIdle()
		case *stdioWire:
			w.child.stop()
		}
		c.box.forget(c)
	})
}

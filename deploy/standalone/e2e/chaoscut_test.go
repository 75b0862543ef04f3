package e2e_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"
)

// dice draws the failures of far ends, from the seed of the chaos. There are no failures before
// the chaos begins and after it has ended.
type dice struct {
	mu         sync.Mutex
	r          *rand.Rand
	from, till time.Time
}

// roll draws a number below n.
func (d *dice) roll(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.r.IntN(n)
}

func (d *dice) last(from, till time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.from, d.till = from, till
}

// trouble reports whether to fail, one time in n.
func (d *dice) trouble(n int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	return d.r.IntN(n) == 0 && now.After(d.from) && now.Before(d.till)
}

// moment draws a duration up to a limit.
func (d *dice) moment(most time.Duration) time.Duration {
	return time.Duration(d.roll(int(most/time.Millisecond)+1)) * time.Millisecond
}

// line is a TCP proxy in front of a far end. It delays connections, cuts them, and sometimes
// refuses them.
type line struct {
	t    *testing.T
	dice *dice
	at   string // its address
	to   string
	one  int // one in so many connections fails

	mu     sync.Mutex
	l      net.Listener
	closed bool
	conns  map[net.Conn]bool
}

// lineTo starts a line in front of a server and returns the URL with its address.
func lineTo(t *testing.T, d *dice, one int, to string) string {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	l := &line{t: t, dice: d, at: fmt.Sprintf("127.0.0.1:%d", freePort(t)), to: u.Host, one: one, conns: map[net.Conn]bool{}}
	if err := l.listen(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	u.Host = l.at
	return u.String()
}

func (l *line) listen() error {
	listener, err := net.Listen("tcp", l.at)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return listener.Close()
	}
	l.l = listener
	go l.serve(listener)
	return nil
}

func (l *line) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	_ = l.l.Close()
	for c := range l.conns {
		_ = c.Close()
	}
}

func (l *line) serve(listener net.Listener) {
	for {
		c, err := listener.Accept()
		if err != nil {
			return
		}
		if l.dice.trouble(4 * l.one) {
			_ = listener.Close()
			_ = c.Close()
			l.comeBack()
			return
		}
		go l.carry(c)
	}
}

// comeBack listens again after a period in which connections are refused.
func (l *line) comeBack() {
	time.Sleep(l.dice.moment(1500 * time.Millisecond))
	for l.listen() != nil && !l.over() {
		time.Sleep(20 * time.Millisecond)
	}
}

func (l *line) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// carry forwards a connection until one side closes it or it is cut.
func (l *line) carry(near net.Conn) {
	if l.dice.trouble(2 * l.one) {
		time.Sleep(l.dice.moment(700 * time.Millisecond))
	}
	far, err := net.Dial("tcp", l.to)
	if err != nil {
		_ = near.Close()
		return
	}
	defer l.keep(near, far)()
	limit := func() int64 {
		if l.dice.trouble(l.one) {
			return int64(l.dice.roll(3000))
		}
		return 1 << 40
	}
	ended := make(chan struct{}, 2)
	pass := func(to, from net.Conn, most int64) {
		_, _ = io.CopyN(to, from, most) // any end is fine
		ended <- struct{}{}
	}
	go pass(far, near, limit())
	go pass(near, far, limit())
	<-ended
}

// keep registers connections. The returned function closes them.
func (l *line) keep(conns ...net.Conn) (end func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range conns {
		l.conns[c] = true
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, c := range conns {
			_ = c.Close()
			delete(l.conns, c)
		}
	}
}

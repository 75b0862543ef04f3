// Package feedtest stands in for a Redis server in tests of the feed and of
// processes that share one:
//
//	s := feedtest.NewServer(t, "password")
//	f, err := feed.Open(feed.Options{Redis: s.URL()})
//	s.Kill()  // breaks every connection and forgets everything
//	s.Start() // at the same address
//
// The server is miniredis, inside the test, so that tests need nothing installed.
// With FEED_REDIS=/path/to/redis-server in the environment it is that program, a
// process that Kill ends with SIGKILL: make conformance runs the tests so.
package feedtest

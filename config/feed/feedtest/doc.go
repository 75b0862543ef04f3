// Package feedtest provides a Redis server for tests of the feed, and of processes that share
// one:
//
//	s := feedtest.NewServer(t, "password")
//	f, err := feed.Open(feed.Options{Redis: s.URL()})
//	s.Kill()  // breaks every connection and forgets everything
//	s.Start() // at the same address
//
// The server is miniredis within the test, so that tests need nothing installed. If the
// environment variable FEED_REDIS is the path of a redis-server, that program is used, and Kill
// ends it with SIGKILL. make conformance runs the tests in this way.
package feedtest

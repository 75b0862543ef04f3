// Package builtin has tools that need no file: echo, and fetch, which reads a page of the web.
//
//	tools, err := builtin.Tools([]string{"echo", "fetch"})
//
// fetch follows at most five redirects and reaches only addresses of the Internet: not this machine, not
// its network, not the metadata of a cloud. Each address is checked when the connection is made, so a
// name that changes its address does not help. It uses no proxy.
package builtin

// Package builtin has tools that need no file: echo, and fetch, which reads a page of the web.
//
//	tools, err := builtin.Tools([]string{"echo", "fetch"})
//
// fetch follows at most five redirects and reaches only addresses of the Internet, as package reach has it: not
// this machine, not its network, not the metadata of a cloud. It uses no proxy.
package builtin

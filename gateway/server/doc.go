// Package server builds a gateway from a configuration and serves it. The gateway itself reads no
// configuration; every process that contains one starts it in this order:
//
//	Listen      take the port first, so that a conflict is found at once
//	Serve       answer probes while Temporal is still being connected
//	Clients     take the ports for clients of other protocols
//	New, Open   build the gateway and let it answer
//	AwaitReady  report what keeps it from being ready, until nothing does
//	Stop        finish open requests
package server

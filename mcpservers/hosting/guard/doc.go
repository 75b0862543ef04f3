// Package guard keeps web pages from using a server that their visitor reaches
// and they do not: one on the visitor's machine or in the visitor's network.
//
// A page can send such a server requests in two ways. It sends them under its own
// origin, which a browser allows without asking as long as the request is simple.
// Or the name of the page is made to resolve to the server's address (DNS
// rebinding); then the browser takes both for one site. [Rules.Check] refuses both:
//
//	Host             is a name of loopback, one of Rules.Hosts, or the very
//	                 address that the connection came to                        421
//	Origin           is absent, one of Rules.Origins, or its host is one that
//	                 Host may have                                              403
//	Sec-Fetch-Site   is not cross-site, unless the Origin is one of
//	                 Rules.Origins or a person follows a link                   403
//
// The names of loopback are localhost, the names below it, 127.0.0.0/8 and ::1.
// RFC 6761 §6.3 reserves *.localhost: browsers resolve these names to loopback
// without asking a name server, so nobody else can own one. An Origin with a name
// of loopback and another port is another program on the client's machine. It is
// accepted only on connections that come over loopback.
//
// An address cannot be rebound, but only the one that the connection came to is
// known to be this server's.
//
// Only Host counts. X-Forwarded-Host and the like are what a client may write
// itself; a proxy in front of the server passes Host on, or its name is listed.
// A request without a Host is refused.
//
// # Links
//
// A GET that opens a page in a window of its own (Sec-Fetch-Mode navigate,
// Sec-Fetch-Dest document) is served wherever the link was: the page with the
// link cannot read the answer. Frames are refused.
//
// # Bodies
//
// [IsJSON] tells the types that a page can send only after the browser has asked
// the server. A server that reads JSON and accepts no other type is safe from
// forms, beacons and simple requests also where a browser sends no Sec-Fetch-Site.
package guard

// Package reach connects tool servers to addresses that others have chosen, such as a model or the author
// of a page, and keeps them from what is inside: this machine, its network, the metadata of a cloud.
//
//	rules, err := reach.New([]string{"wiki.corp.example", "10.1.0.0/16"}) // what is private, and allowed
//	client := rules.Client(30 * time.Second)
//
// The client checks every request, and so every redirect:
//
//	scheme    http or https
//	user      none in the URL
//	port      80, 443 or 1024 and more; any for hosts that are allowed
//	address   of the public Internet, or allowed
//
// The address is the one that a connection is about to be made to, after names were resolved. A name that
// resolves to another address later (DNS rebinding), and other notations of an address (2130706433,
// 0x7f.1, ::ffff:7f00:1), are no way around. For that reason there is no proxy.
//
// # Allowed hosts
//
// A name (wiki.corp.example, *.corp.example) allows what it resolves to. An address or a network allows
// connections to it, under any name. Addresses of metadata services and all link-local addresses have to
// be written one by one: no name and no network allows them.
package reach

// Package profile reads the file that names the definitions of a server, and applies what it says of
// their arguments. The format is that of go-go-mcp:
//
//	version: "1"
//	defaultProfile: work
//	profiles:
//	  work:
//	    description: What the team uses
//	    tools:
//	      directories:
//	        - path: ./tools
//	          defaults: {default: {limit: 10}}
//	      files:
//	        - path: ./deploy.yaml
//	          overrides: {default: {region: eu-1}}
//	          blacklist: {default: [verbose]}
//
// Paths are relative to the folder that the server was started in. Folders are read with all folders
// below them; hidden files are left out. Files of all three kinds may stand anywhere: the lists prompts and
// resources of a profile only help readers.
//
// defaults, overrides, whitelist and blacklist are by layer; the layer of flags and arguments is
// called default. They hold for the tools of their source, and of several for one tool each one
// holds:
//
//	defaults    another default
//	overrides   a fixed value, which callers do not see
//	whitelist   the only arguments that callers see
//	blacklist   arguments that callers do not see
//
// An argument that callers do not see has its default. If it is required and has none, that is an error.
package profile

// Command gateway is the program gateway with the drivers of object stores.
package main

import (
	_ "agent-stop-and-go/deploy/stores" // s3://, gs:// and azblob://
	"agent-stop-and-go/gateway/program"
)

// version is set by the build.
var version = "dev"

func main() { program.Main(version) }

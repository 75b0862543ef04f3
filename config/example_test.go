package config_test

import (
	"fmt"

	"agent-stop-and-go/config"
)

func ExampleLoad() {
	c, err := config.Load("agent.yaml")
	if err != nil {
		fmt.Println(err) // every mistake, one per line
		return
	}
	fmt.Println(c.Name, "uses", c.Model())
	// Output: agent uses google:gemini-2.5-flash
}

func ExampleParse_mistakes() {
	_, err := config.Parse("agent.yaml", []byte("port: 99999\nmax_tool_rounds: many\n"))
	fmt.Println(err)
	// Output:
	// agent.yaml:1: port: 99999: must be between 1 and 65535
	// agent.yaml:2: max_tool_rounds: "many": must be a whole number between 1 and 1000
}

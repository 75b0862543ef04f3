package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"agent-stop-and-go/mcpservers/commands/convert"

	"github.com/google/renameio/v2"
)

// convert writes the safe form of a file to stdout, or to -o, which may be the file itself.
func (p process) convert() error {
	set := flag.NewFlagSet("convert", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	to := set.String("o", "", "")
	if err := set.Parse(p.args); err != nil {
		return fmt.Errorf("%w (see --help)", err)
	}
	if set.NArg() != 1 {
		return errors.New("convert needs one file (see --help)")
	}
	data, err := os.ReadFile(set.Arg(0))
	if err != nil {
		return err
	}
	text, err := convert.File(set.Arg(0), data)
	if err != nil {
		return err
	}
	if *to != "" {
		return renameio.WriteFile(*to, text, 0o644)
	}
	_, err = p.stdout.Write(text)
	return err
}

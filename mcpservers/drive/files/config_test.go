package files_test

import (
	"testing"

	"agent-stop-and-go/mcpservers/drive/files"
)

func TestTheFileOfTheComposeFileIsAccepted(t *testing.T) {
	c, err := files.LoadConfig("../../../deploy/compose/tools/mcp-drive.yaml")
	if err != nil || c.Path != "/data" || c.Host != "0.0.0.0" {
		t.Errorf("%+v, %v", c, err)
	}
}

package deletion

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/workflowservice/v1"

	"agent-stop-and-go/activities/heartbeat"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
)

// Values has the stored values.
type Values interface {
	// Mark replaces the marks of a holder.
	Mark(ctx context.Context, m deletion.Marks) error
	// Collect puts values aside that no holder has marked and that were stored longer than grace
	// before the marks, and removes those that were put aside so long before. With dry it only
	// counts.
	Collect(ctx context.Context, grace time.Duration, dry bool) (deletion.Collected, error)
}

// Mark marks the values to which the histories of the namespace and the files of conversations
// refer.
func (d *Deletions) Mark(ctx context.Context, _ deletion.UpkeepInput) (out deletion.Marked, err error) {
	defer heartbeat.Send(ctx)()
	s, found := serverOf(ctx), sums{}
	m := deletion.Marks{AgentName: d.AgentName, Began: d.Now().UTC()}
	if m.Holder, err = d.holder(ctx, s); err != nil {
		return out, err
	}
	if err := found.addFiles(d.Dir); err != nil {
		return out, err
	}
	if err := found.addHistories(ctx, s); err != nil {
		return out, err
	}
	m.Sums = slices.Sorted(maps.Keys(found))
	return deletion.Marked{Sums: len(m.Sums)}, d.Values.Mark(ctx, m)
}

// Collect collects the values that no holder has marked.
func (d *Deletions) Collect(ctx context.Context, in deletion.UpkeepInput) (deletion.Collected, error) {
	defer heartbeat.Send(ctx)()
	return d.Values.Collect(ctx, deletion.Grace, in.DryRun)
}

// holderFile has the random name of a folder of conversation files.
const holderFile = "holder.id"

// holder returns the name of what Mark looks at: the files in the folder and the histories of the
// namespace. Another server or folder is another holder, whose values are kept.
func (d *Deletions) holder(ctx context.Context, s server) (string, error) {
	cluster, err := s.client.WorkflowService().GetClusterInfo(ctx, &workflowservice.GetClusterInfoRequest{})
	if err != nil {
		return "", fmt.Errorf("ask the server for its name: %w", err)
	}
	folder, err := folderName(d.Dir)
	if err != nil {
		return "", fmt.Errorf("name the folder of conversation files: %w", err)
	}
	return contract.Hash([]byte(strings.Join([]string{cluster.GetClusterId(), s.namespace, folder}, "\n"))), nil
}

func folderName(dir string) (string, error) {
	path := filepath.Join(dir, holderFile)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	temporary, err := os.CreateTemp(dir, "."+holderFile+"-*")
	if err != nil {
		return "", err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.WriteString(rand.Text())
	if err = errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return "", err
	}
	if err := os.Link(temporary.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	name, err := os.ReadFile(path)
	return string(name), err
}

// sums are all texts that look like the sum of a value.
type sums map[string]bool

var sumPattern = regexp.MustCompile(`[0-9a-f]{64}`)

func (s sums) add(data []byte) {
	for _, sum := range sumPattern.FindAll(data, -1) {
		s[string(sum)] = true
	}
}

func (s sums) addFiles(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list the files of conversations: %w", err)
	}
	for _, file := range files {
		if _, ok := conversationOf(file.Name()); !ok {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read the file of a conversation: %w", err)
		}
		s.add(data)
	}
	return nil
}

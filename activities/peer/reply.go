package peer

import (
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// reply converts a task to a Reply.
func (a *agent) reply(t *task) Reply {
	out := Reply{State: t.state(), TaskID: t.ID, ContextID: t.ContextID, Anew: t.anew}
	said, made := t.statusMessage(), t.artifacts()
	switch out.State {
	case contract.TaskInputRequired, contract.TaskAuthRequired:
		out.Asked = t.approvalRequest(a.Name)
		out.Text = firstOf(description(out.Asked), texts(said), texts(made))
		return out
	case contract.TaskWorking:
		out.Text = texts(said)
		return out
	}
	out.Text, out.Files = contents(made)
	if out.Text == "" {
		text, files := contents(said)
		out.Text, out.Files = text, append(out.Files, files...)
	}
	if out.Text == "" && out.State == contract.TaskCompleted {
		out.Text = texts(t.last())
	}
	out.Files, out.Text = limitFiles(out.Files, out.Text)
	return out
}

func description(r *contract.ApprovalRequest) string {
	if r == nil {
		return ""
	}
	return r.Description
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// group is the parts of one artifact or message.
type group []part

func (t *task) artifacts() []group {
	var out []group
	if t.Artifact != nil {
		out = append(out, t.Artifact.Parts)
	}
	for _, a := range t.Artifacts {
		out = append(out, a.Parts)
	}
	return out
}

// statusMessage returns the agent's message about the task's state.
func (t *task) statusMessage() []group {
	if t.Status.Message == nil {
		return nil
	}
	return []group{t.Status.Message.Parts}
}

// last returns the agent's last message.
func (t *task) last() []group {
	for i := len(t.History) - 1; i >= 0; i-- {
		if role := strings.ToLower(t.History[i].Role); role == "agent" || role == "role_agent" {
			return []group{t.History[i].Parts}
		}
	}
	return nil
}

// texts joins the text parts, one per line, with an empty line between groups.
func texts(groups []group) string {
	return join(groups, func(p part) string { return p.Text })
}

func join(groups []group, text func(part) string) string {
	var out []string
	for _, g := range groups {
		if lines := g.lines(text); lines != "" {
			out = append(out, lines)
		}
	}
	return strings.Join(out, "\n\n")
}

func (g group) lines(text func(part) string) string {
	var out strings.Builder
	for _, p := range g {
		line := text(p)
		if line != "" && out.Len() > 0 && !p.joined {
			out.WriteByte('\n')
		}
		out.WriteString(line)
	}
	return out.String()
}

// contents returns the texts, followed by data as JSON, and the files.
func contents(groups []group) (string, []File) {
	data := join(groups, func(p part) string {
		if p.isText() || p.isNull() || p.approvalType() != "" {
			return ""
		}
		return strings.ToValidUTF8(string(p.Data), "�")
	})
	text := texts(groups)
	if text != "" && data != "" {
		text += "\n\n"
	}
	var files []File
	for _, g := range groups {
		for _, p := range g {
			if f, ok := p.file(); ok {
				files = append(files, f)
			}
		}
	}
	return text + data, files
}

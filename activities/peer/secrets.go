package peer

import (
	"agent-stop-and-go/activities/mask"
)

// mask hides what must not be shown in a conversation: the caller's token and configured
// credentials.
func (a *agent) mask(bearer string) *mask.Mask {
	secrets := append(mask.Headers(a.Headers), mask.URL(a.URL)...)
	for _, value := range a.Secrets {
		secrets = append(secrets, mask.Header(value)...)
	}
	return mask.New(append(secrets, mask.Bearer(bearer))...)
}

// maskFiles masks secrets in files.
func maskFiles(m *mask.Mask, files []File) {
	for i, f := range files {
		files[i].Data = m.Bytes(f.Data)
	}
}

// hide masks what people and models are shown of a card. Its URLs are unchanged, because
// requests may need their secrets.
func (c *card) hide(m *mask.Mask) {
	c.Name = m.Text(c.Name)
	for i, s := range c.Skills {
		c.Skills[i] = skill{Name: m.Text(s.Name), Description: m.Text(s.Description)}
	}
}

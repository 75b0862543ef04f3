package peer

import (
	"agent-stop-and-go/activities/mask"
)

// mask hides what an agent may know and a conversation must not show: the caller's
// token, and what the configuration has of credentials.
func (a *agent) mask(bearer string) *mask.Mask {
	secrets := append(mask.Headers(a.Headers), mask.URL(a.URL)...)
	for _, value := range a.Secrets {
		secrets = append(secrets, mask.Header(value)...)
	}
	return mask.New(append(secrets, mask.Bearer(bearer))...)
}

// maskFiles hides secrets in files that are passed on as they are.
func maskFiles(m *mask.Mask, files []File) {
	for i, f := range files {
		files[i].Data = m.Bytes(f.Data)
	}
}

// hide is for what people and models are shown of a card. Its URLs stay as they are: they
// may need what the configured one has.
func (c *card) hide(m *mask.Mask) {
	c.Name = m.Text(c.Name)
	for i, s := range c.Skills {
		c.Skills[i] = skill{Name: m.Text(s.Name), Description: m.Text(s.Description)}
	}
}

package config

// UseModel makes the agent use another model than the file says.
func (c *Config) UseModel(model string) {
	c.LLM.Model = model
	if c.Root != nil {
		c.Root.Model = model
	}
}

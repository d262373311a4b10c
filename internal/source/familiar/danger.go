package familiar
func (c *compiler) examine(f any) {}

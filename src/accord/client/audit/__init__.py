"""The audit log: decisions about an agent, and the operations done for it."""

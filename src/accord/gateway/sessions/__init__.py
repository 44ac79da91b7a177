"""The sessions of a gateway, which outlive the processes and the clients."""

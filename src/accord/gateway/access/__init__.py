"""Who may enter a gateway, what they may do, and how much of it they may use."""

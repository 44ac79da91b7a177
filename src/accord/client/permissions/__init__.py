"""Who may do what: requests, policies, rules, grants and approvals."""

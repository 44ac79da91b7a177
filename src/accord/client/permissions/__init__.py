"""Permissions of an agent: requests, rules, remembered answers and approvals."""

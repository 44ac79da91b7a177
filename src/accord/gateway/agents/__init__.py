"""The agents that a gateway hosts: their processes, and what is known of them."""

"""What the command line and the configuration set up before an agent is started."""

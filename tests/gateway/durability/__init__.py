"""What a gateway must not lose: connections that are cut, processes that are killed, bad disks."""

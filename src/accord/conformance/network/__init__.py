"""The kit's own HTTP and WebSocket, for servers and clients that are judged over a network.

It shares no code with the library's transports, so that a mistake there is not repeated here.
"""

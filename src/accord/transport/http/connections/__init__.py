"""HTTP/2 and HTTP/1.1 connections, as a client uses them: requests out, answers in callbacks."""

"""When something may be said: negotiation, capability gates, the turn, and how it ends.

Pure: values in, values out.  Nothing here sends, waits or logs.
"""

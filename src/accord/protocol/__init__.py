"""When something may be said: negotiation, capability gates, and the turn of each version.

Pure: values in, values out.  Nothing here sends, waits or logs.
"""

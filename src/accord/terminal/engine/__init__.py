"""The agents and sessions of the chats: started, used, lost and restarted."""
